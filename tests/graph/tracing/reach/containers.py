"""Numbers in containers, arrays and tables."""

import array
import collections
import ctypes
import types

import numpy as np
import pandas as pd
import scipy.interpolate

from tests.graph.tracing.reach.table import attribute, row, setter


@row
def nested_containers():
    inner = [1.0]
    whole = {"a": ({"b": [inner]},)}
    return lambda x: x * whole["a"][0]["b"][0][0], setter(inner, 0)


@row
def an_ordered_dictionary():
    table = collections.OrderedDict(a=1.0)
    return lambda x: x * table["a"], setter(table, "a")


@row
def a_chain_of_dictionaries():
    inner = {"a": 1.0}
    table = collections.ChainMap({}, inner)
    return lambda x: x * table["a"], setter(inner, "a")


@row
def a_view_of_a_dictionary():
    inner = {"a": 1.0}
    view, values = types.MappingProxyType(inner), inner.values()
    return lambda x: x * view["a"] * sum(values), setter(inner, "a")


@row
def a_deque():
    many = collections.deque([1.0])
    return lambda x: x * many[0], setter(many, 0)


@row
def a_counter():
    many = collections.Counter(a=1)
    return lambda x: x * many["a"], setter(many, "a")


@row
def a_frozen_set_in_a_set():
    many = {1.0}
    return lambda x: x * max(many), lambda v: (many.clear(), many.add(v))


@row
def an_array_of_python():
    many = array.array("d", [1.0])
    return lambda x: x * many[0], setter(many, 0)


@row
def a_memory():
    many = array.array("d", [1.0])
    memory = memoryview(many)
    return lambda x: x * memory[0], setter(many, 0)


@row
def a_number_of_c():
    number = ctypes.c_double(1.0)
    return lambda x: x * number.value, attribute(number, "value")


@row
def an_array_of_c():
    many = (ctypes.c_double * 2)(1.0, 2.0)
    return lambda x: x * many[0], setter(many, 0)


@row
def a_mutable_array():
    many = np.array([1.0, 2.0])
    return lambda x: x * many[0], setter(many, 0)


@row
def an_array_without_axes():
    many = np.array(1.0)
    return lambda x: x * many, setter(many, ())


@row
def a_number_of_numpy():
    many = [np.float64(1.0)]
    return lambda x: x * many[0], lambda v: setter(many, 0)(np.float64(v))


@row
def an_array_in_fortran_order():
    many = np.asfortranarray(np.ones((3, 4)))
    return lambda x: x * many[1, 2], setter(many, (1, 2))


@row
def a_view_of_a_large_array():
    many = np.ones((300, 300))
    view = many[::7, 3]
    return lambda x: x * view[-1], setter(many, (294, 3))


@row
def an_array_of_objects():
    many = np.array([[1.0], None], object)
    return lambda x: x * many[0][0], setter(many[0], 0)


@row
def a_masked_array():
    many = np.ma.array([1.0, 1.0, 1.0, 1.0, 1.0], mask=[1, 1, 1, 1, 1])
    return lambda x: x * many.count(), lambda v: setter(many, slice(None, int(v)))(1.0)


@row
def an_array_with_fields():
    many = np.array([(1.0, 2)], [("rate", float), ("k", int)])
    return lambda x: x * many["rate"][0], setter(many["rate"], 0)


@row
def a_polynomial_of_old():
    poly = np.poly1d([1.0, 0.0])
    return lambda x: x * poly(1.0), setter(poly.coeffs, 0)


@row
def a_polynomial():
    poly = np.polynomial.Polynomial([0.0, 1.0])
    return lambda x: x * poly(1.0), setter(poly.coef, 1)


@row
def a_spline_of_scipy():
    spline = scipy.interpolate.CubicSpline([0.0, 1.0, 2.0], [1.0, 1.0, 1.0])
    return lambda x: x * float(spline(0.0)), setter(spline.c, (3, 0))


@row
def a_series():
    many = pd.Series([1.0, 2.0])
    return lambda x: x * many.iloc[0], setter(many, 0)


@row
def a_table_with_words():
    table = pd.DataFrame({"a": [1.0, 2.0], "b": ["c", "d"]})
    return lambda x: x * table["a"].iloc[0], setter(table.loc, (0, "a"))


@row
def a_slice():
    many, part = np.arange(10.0), [slice(1, 2)]
    return lambda x: x * np.sum(many[part[0]]), lambda v: setter(part, 0)(slice(int(v), int(v) + 1))
