"""Numbers that a function finds by name: globals, closures, what the language builds in."""

import types

import numpy as np

from tests.graph.tracing.reach.table import attribute, module, row, setter

RATE, HIDDEN = 1.0, [1.0]
ACTIVATION, SPAN, KIND, BACKEND = np.positive, range(1), np.float32, np


@row
def a_global():
    return lambda x: x * RATE, setter(globals(), "RATE")


@row
def a_ufunc_under_a_name():
    """What a name means may change, also from one function of NumPy's to another."""
    functions = {1.0: np.positive, 5.0: np.exp}
    return lambda x: ACTIVATION(x * 1.0), lambda v: setter(globals(), "ACTIVATION")(functions.get(v, np.negative))


@row
def a_range():
    return lambda x: x * sum(SPAN), lambda v: setter(globals(), "SPAN")(range(int(v) + 1))


@row
def a_dtype():
    pi = np.array([np.pi])
    kinds = {1.0: np.float32, 5.0: np.float64}
    return lambda x: x * pi.astype(KIND)[0], lambda v: setter(globals(), "KIND")(kinds.get(v, np.int64))


@row
def a_module_under_a_name():
    """One library in the place of another."""
    modules = {1.0: np, 5.0: types.SimpleNamespace(tanh=np.sinh)}
    return lambda x: 1.0 * BACKEND.tanh(x), lambda v: setter(globals(), "BACKEND")(modules.get(v, np))


@row
def a_cell():
    c = 1.0

    def change(v):
        nonlocal c
        c = v

    return lambda x: x * c, change


@row
def a_cell_of_a_helper_in_a_helper():
    c = 1.0

    def change(v):
        nonlocal c
        c = v

    def inner():
        return c

    def outer():
        return inner()

    return lambda x: x * outer(), change


@row
def a_comprehension():
    c = [1.0]
    return lambda x: sum([x * v for v in c]), setter(c, 0)


@row
def a_name_of_the_language_that_is_hidden():
    space = {}
    exec("f = lambda x: x * abs(-1.0)", space)
    return space["f"], lambda v: space.__setitem__("abs", lambda _: v)


@row
def a_number_from_globals_by_name():
    space = {"RATE": 1.0}
    exec("key = 'RA'\ndef f(x): return x * globals()[key + 'TE']", space)
    return space["f"], setter(space, "RATE")


@row
def source_text():
    space = {"RATE": 1.0, "text": "RATE + 0"}
    exec("def f(x): return x * eval(text)", space)
    return space["f"], setter(space, "RATE")


@row
def an_attribute_by_a_name_made_at_run_time():
    made = module("made_settings", "rate = 1.0")
    return lambda x: x * getattr(made, "ra" + chr(116) + "e"), attribute(made)


@row
def an_attribute_that_is_not_there():
    made = module("made_settings", "")
    return lambda x: x * getattr(made, "rate", 1.0), attribute(made)
