"""Every way that Python can hold a number: a change is followed, or the first trace says that it will not be."""

import abc
import array
import collections
import contextvars
import ctypes
import dataclasses
import enum
import functools
import itertools
import json
import operator
import os
import sys
import threading
import types
import warnings
import weakref
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.interpolate

import burlab as bl

ROWS: dict[str, Any] = {}  # name -> makes a function of a number, and what sets the number that the function reads


def row(make):
    ROWS[make.__name__.replace("_", " ")] = make
    return make


def setter(container, key):
    """What sets an item."""
    return lambda v: operator.setitem(container, key, v)


def attribute(holder, name="rate"):
    return lambda v: setattr(holder, name, v)


MADE: list[str] = []  # names of modules
KEPT: list[Any] = []  # what only weak references lead to


def module(name, text, **attributes):
    """A module made from source text, of this name."""
    MADE.append(name)
    made = types.ModuleType(name)
    vars(made).update(attributes)
    exec(text, vars(made))
    sys.modules[name] = made
    return made


# ------------------------------------------------------------------------------------------------ globals and closures
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


# ------------------------------------------------------------------------------------------------------- functions
@row
def a_default():
    def helper(x, c=1.0):
        return x * c

    return lambda x: 1.0 * helper(x), lambda v: setattr(helper, "__defaults__", (v,))


@row
def a_keyword_default():
    def helper(x, *, c=1.0):
        return x * c

    return lambda x: 1.0 * helper(x), setter(helper.__kwdefaults__, "c")


@row
def a_list_as_a_default():
    def helper(x, c=[1.0]):  # noqa: B006 - this is what is tested
        return x * c[0]

    return lambda x: 1.0 * helper(x), setter(helper.__defaults__[0], 0)


@row
def a_default_of_the_function_itself():
    def f(x, c=1.0):
        return x * c

    return f, lambda v: setattr(f, "__defaults__", (v,))


@row
def the_code_of_the_function():
    """As IPython's autoreload does it."""
    space = {}

    def change(v):
        exec(f"def g(x): return x * {v}", space)
        space.setdefault("f", space["g"]).__code__ = space["g"].__code__

    change(1.0)
    return space["f"], change


@row
def the_code_of_a_helper():
    f, change = the_code_of_the_function()
    return lambda x: 1.0 * f(x), change


@row
def an_attribute_of_the_function():
    def f(x):
        return x * f.rate

    f.rate = 1.0
    return f, attribute(f)


@row
def a_partial_that_is_called():
    def scaled(x, table):
        return x * table[0]

    table = [1.0]
    call = functools.partial(scaled, table=table)
    return lambda x: 1.0 * call(x), setter(table, 0)


@row
def a_partial_in_a_list_of_a_partial():
    c = [1.0]
    calls = [functools.partial(functools.partial(lambda table, x: x * table[0], c))]
    return lambda x: 1.0 * calls[0](x), setter(c, 0)


@row
def the_keywords_of_a_partial():
    call = functools.partial(lambda x, c: x * c, c=1.0)
    return lambda x: 1.0 * call(x), setter(call.keywords, "c")


@row
def a_partial_itself():
    c = [1.0]
    return functools.partial(lambda x, table: x * table[0], table=c), setter(c, 0)


@row
def a_partial_method():
    class Own:
        def scaled(self, c, x):
            return x * c[0]

        c: ClassVar = [1.0]
        once = functools.partialmethod(scaled, c)

    own = Own()
    return lambda x: 1.0 * own.once(x), setter(Own.c, 0)


@row
def wraps_of_a_function_of_numpy():
    c = [1.0]

    @functools.wraps(np.sin)
    def sine(x):
        return c[0] * np.sin(x)

    return lambda x: 1.0 * sine(x), setter(c, 0)


@row
def a_decorator_of_a_library():
    c = [1.0]

    @functools.singledispatch
    def scaled(x):
        return x * c[0]

    return lambda x: 1.0 * scaled(x), setter(c, 0)


@row
def a_registry_of_types():
    @functools.singledispatch
    def factor(k):
        return 1.0

    factor(0)
    return lambda x: x * factor(0), lambda v: factor.register(int, lambda k: v)


@row
def a_registry_of_types_in_a_class():
    c = [1.0]

    class Own:
        @functools.singledispatchmethod
        def scaled(self, x):
            return x * c[0]

    own = Own()
    return lambda x: 1.0 * own.scaled(x), setter(c, 0)


@row
def a_cache():
    c = [1.0]

    @functools.lru_cache
    def rate(k):
        return c[0] * k

    def change(v):
        c[0] = v
        rate.cache_clear()
        rate(1.0)

    return lambda x: x * rate(1.0), change


@row
def a_cache_without_an_end():
    c = [1.0]

    @functools.cache
    def rate():
        return np.array([c[0]])

    return lambda x: x * rate()[0], setter(rate(), 0)


@row
def a_cached_property():
    class Own:
        c = 1.0

        @functools.cached_property
        def rate(self):
            return self.c

    own = Own()

    def change(v):
        own.c = v
        vars(own).pop("rate", None)

    return lambda x: x * own.rate, change


@row
def a_vectorized_function():
    c = [1.0]
    scaled = np.vectorize(lambda k: k * c[0])
    return lambda x: x * scaled(1.0), setter(c, 0)


@row
def a_ufunc_of_a_function():
    c = [1.0]
    scaled = np.frompyfunc(lambda k: k * c[0], 1, 1)
    return lambda x: x * float(scaled(1.0)), setter(c, 0)


@row
def a_context_manager():
    import contextlib

    c = [1.0]

    @contextlib.contextmanager
    def scaled():
        yield c[0]

    def f(x):
        with scaled() as rate:
            return x * rate

    return f, setter(c, 0)


@row
def a_reduction():
    c = [1.0, 2.0]
    return lambda x: functools.reduce(lambda a, b: a * b, c, x), setter(c, 0)


# ------------------------------------------------------------------------------------------------- bound to something
@row
def a_bound_method():
    class Own:
        rate = 1.0

        def scaled(self, x):
            return x * self.rate

    own = Own()
    scaled = own.scaled
    return lambda x: 1.0 * scaled(x), attribute(own)


@row
def a_bound_method_of_a_dictionary():
    table = {"a": 1.0}
    get = table.get
    return lambda x: x * get("a"), setter(table, "a")


@row
def a_bound_method_of_an_array():
    table = np.array([1.0])
    item = table.item
    return lambda x: x * item(0), setter(table, 0)


@row
def an_item_getter():
    table = {"a": 1.0}
    get = functools.partial(operator.itemgetter("a"), table)
    return lambda x: x * get(), setter(table, "a")


@row
def an_attribute_getter():
    space = types.SimpleNamespace(rate=1.0)
    get = operator.attrgetter("rate")
    return lambda x: x * get(space), attribute(space)


# ------------------------------------------------------------------------------------------------ classes and objects
class Plain:
    rate = 1.0


class Slotted:
    __slots__ = ("rate",)


class Meta(type):
    rate = 1.0


class WithMeta(metaclass=Meta):
    pass


class Descriptor:
    def __init__(self):
        self.value = 1.0

    def __get__(self, instance, owner=None):
        return self.value


class Described:
    rate = Descriptor()


class Callable:
    def __init__(self):
        self.rate = 1.0

    def __call__(self, x):
        return x * self.rate


class Forwards:
    def __init__(self, table):
        self._table = table

    def __getattr__(self, name):
        return self._table[name]


@dataclasses.dataclass
class Data:
    rate: float = 1.0
    many: list[float] = dataclasses.field(default_factory=lambda: [1.0])


class Pair(NamedTuple):
    rates: Any


class Colour(enum.Enum):
    RED = 1.0


@row
def an_attribute_of_a_class():
    return lambda x: x * Plain.rate, attribute(Plain)


@row
def an_attribute_of_an_instance():
    own = Plain()
    return lambda x: x * own.rate, attribute(own)


@row
def an_attribute_of_a_subclass():
    class Child(Plain):
        pass

    Plain.rate = 1.0
    return lambda x: x * Child.rate, attribute(Plain)


@row
def an_attribute_in_a_dictionary():
    own = Plain()
    own.rate = 1.0
    return lambda x: x * vars(own)["rate"] * own.__dict__["rate"], attribute(own)


@row
def a_slot():
    own = Slotted()
    own.rate = 1.0
    return lambda x: x * own.rate, attribute(own)


class Private:
    __slots__ = ("__rate",)

    def __init__(self):
        self.__rate = 1.0

    def get(self):
        return self.__rate

    def put(self, v):
        self.__rate = v


@row
def a_private_slot():
    own = Private()
    return lambda x: x * own.get(), own.put


@row
def an_attribute_of_a_metaclass():
    return lambda x: x * WithMeta.rate, attribute(Meta)


@row
def a_descriptor():
    return lambda x: x * Described.rate, lambda v: setattr(vars(Described)["rate"], "value", v)


@row
def an_object_that_is_called():
    own = Callable()
    return lambda x: 1.0 * own(x), attribute(own)


@row
def an_object_itself():
    own = Callable()
    return own, attribute(own)


@row
def attributes_that_are_forwarded():
    table = {"rate": 1.0}
    own = Forwards(table)
    return lambda x: x * own.rate, setter(table, "rate")


@row
def a_dataclass():
    own = Data()
    return lambda x: x * own.rate, attribute(own)


@row
def a_list_in_a_dataclass():
    own = Data()
    return lambda x: x * own.many[0], setter(own.many, 0)


@row
def a_named_tuple():
    own = Pair([1.0])
    return lambda x: x * own.rates[0], setter(own.rates, 0)


@row
def an_enumeration():
    return lambda x: x * Colour.RED.value, attribute(Colour.RED, "_value_")


@row
def an_abstract_class():
    class Base(abc.ABC):
        rate = 1.0

        @abc.abstractmethod
        def scaled(self, x): ...

    class Child(Base):
        def scaled(self, x):
            return x * self.rate

    child = Child()
    return lambda x: 1.0 * child.scaled(x), attribute(Base)


@row
def a_dataclass_with_slots():
    @dataclasses.dataclass(slots=True)
    class Own:
        rate: float = 1.0

    own = Own()
    return lambda x: x * own.rate, attribute(own)


@row
def a_frozen_dataclass():
    @dataclasses.dataclass(frozen=True)
    class Own:
        rate: float = 1.0

    own = Own()
    return lambda x: x * own.rate, lambda v: object.__setattr__(own, "rate", v)


@row
def a_proxy():
    own = Plain()
    own.rate = 1.0
    KEPT.append(own)
    proxy = weakref.proxy(own)
    return lambda x: x * proxy.rate, attribute(own)


@row
def a_namespace():
    own = types.SimpleNamespace(rate=1.0)
    return lambda x: x * own.rate, attribute(own)


@row
def a_namespace_by_a_key():
    own = types.SimpleNamespace(rate=1.0)
    return lambda x: x * vars(own)["rate"], attribute(own)


@row
def an_attribute_of_this_thread():
    own = threading.local()
    own.rate = 1.0
    return lambda x: x * own.rate, attribute(own)


@row
def a_weak_reference():
    own = Plain()
    own.rate = 1.0
    ref = weakref.ref(own)
    KEPT.append(own)
    return lambda x: x * ref().rate, attribute(own)


@row
def a_weak_dictionary():
    own = Plain()
    own.rate = 1.0
    table = weakref.WeakValueDictionary(a=own)
    KEPT.append(own)
    return lambda x: x * table["a"].rate, attribute(own)


# ------------------------------------------------------------------------------------------------------- containers
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


# -------------------------------------------------------------------------------------------------------- modules
@row
def an_attribute_of_a_module():
    made = module("settings", "rate = 1.0")
    return lambda x: x * made.rate, attribute(made)


@row
def modules_that_begin_as_libraries_do():
    names = ("numpy_helpers", "mathtools", "scipyextra", "burlab_models", "builtins2", "mathx.inner")
    made = [module(name, "rate = 1.0\ndef scaled(x): return x * rate") for name in names]

    def change(v):
        for one in made:
            one.rate = v

    calls = [one.scaled for one in made]
    return lambda x: sum(call(x) for call in calls), change


@row
def an_object_of_such_a_module():
    made = module("numpy_helpers", "class Model:\n    rate = 1.0\n    def __call__(self, x): return x * self.rate\n")
    model = made.Model()
    return lambda x: 1.0 * model(x), attribute(made.Model)


@row
def a_module_that_makes_its_attributes():
    made = module("lazy_settings", "hidden = 1.0\ndef __getattr__(name): return hidden\n")
    return lambda x: x * made.rate, attribute(made, "hidden")


@row
def a_submodule():
    package = module("pack", "", __path__=[])
    package.sub = module("pack.sub", "rate = 1.0")
    return lambda x: x * package.sub.rate, attribute(package.sub)


@row
def an_import_inside():
    made = module("inner_settings", "rate = 1.0")

    def f(x):
        import inner_settings

        return x * inner_settings.rate

    return f, attribute(made)


@row
def a_name_that_is_imported_inside():
    made = module("inner_settings", "rate = 1.0")

    def f(x):
        from inner_settings import rate

        return x * rate

    return f, attribute(made)


@row
def a_module_by_its_name():
    import importlib

    made = module("inner_settings", "rate = 1.0")
    return lambda x: x * importlib.import_module("inner_settings").rate, attribute(made)


@row
def a_relative_import_inside():
    package = module("pack", "", __path__=[])
    package.near = module("pack.near", "rate = 1.0")
    text = "def f(x):\n    from .near import rate\n    return x * rate\n"
    return module("pack.user", text, __package__="pack").f, attribute(package.near)


# ------------------------------------------------------------------------------------- what lies outside of Python
@row
def the_environment():
    return lambda x: x * float(os.environ.get("BURLAB_TEST_RATE", "1")), lambda v: setter(
        os.environ, "BURLAB_TEST_RATE"
    )(str(v))


@row
def the_environment_by_a_bare_name():
    from os import getenv

    return lambda x: x * float(getenv("BURLAB_TEST_RATE", "1")), lambda v: setter(os.environ, "BURLAB_TEST_RATE")(
        str(v)
    )


@row
def a_context_variable():
    rate = contextvars.ContextVar("rate", default=1.0)
    return lambda x: x * rate.get(), rate.set


@row
def a_context_variable_that_holds_a_list():
    rate = contextvars.ContextVar("rate")
    rate.set([1.0])
    return lambda x: x * rate.get()[0], setter(rate.get(), 0)


@row
def a_number_that_the_function_changes():
    state = types.SimpleNamespace(count=0)

    def f(x):
        state.count += 1
        return x * state.count

    return f, lambda v: attribute(state, "count")(int(v))


# ----------------------------------------------------------------------------- what cannot be followed, and is said
@row
def a_file(folder):
    path = folder / "rate.txt"
    return lambda x: x * float(path.read_text()), lambda v: path.write_text(str(v))


@row
def a_file_that_is_opened(folder):
    path = folder / "rate.json"

    def f(x):
        with open(path) as file:  # noqa: PTH123 - this is what is tested
            return x * json.load(file)

    return f, lambda v: path.write_text(str(v))


@row
def a_file_of_arrays(folder):
    path = folder / "rate.npy"
    return lambda x: x * np.load(path), lambda v: np.save(path, v)


@row
def an_iterator():
    many = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0] * 9)
    return lambda x: x * next(many), lambda v: None


@row
def a_generator():
    many = (float(k) for k in range(1, 99))
    return lambda x: x * next(many), lambda v: None


@row
def a_count():
    many = itertools.count(1.0)
    return lambda x: x * next(many), lambda v: None


@row
def a_cycle():
    many = itertools.cycle([1.0, 2.0])
    return lambda x: x * next(many), lambda v: None


@row
def a_map():
    many = map(float, range(1, 99))
    return lambda x: x * next(many), lambda v: None


@row
def a_schedule_in_the_function():
    state = {"rate": 1.0}

    def f(x):
        state["rate"] *= 0.5
        return x * state["rate"]

    return f, lambda v: None


@row
def a_clock_that_is_imported_inside():
    def f(x):
        import time

        return x * time.time()

    return f, lambda v: None


@pytest.fixture(autouse=True)
def as_before():
    """Modules and the environment are left as they were."""
    environment = dict(os.environ)
    yield
    for name in MADE:
        sys.modules.pop(name, None)
    MADE.clear()
    os.environ.clear()
    os.environ.update(environment)


@pytest.mark.parametrize("name", ROWS)
def test_a_change_is_followed_or_the_first_trace_says_that_it_is_not(name, tmp_path):
    make = ROWS[name]
    f, change = make(tmp_path) if make.__code__.co_argcount else make()
    change(1.0)
    compiled = bl.jit(f)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        compiled(1.0)
    if any("while it is traced" in str(one.message) for one in said):
        return
    for value in (1.0, 5.0, 2.0, 1.0):
        change(value)
        expected = float(f(1.0))  # Python's own
        change(value)
        for _ in range(4):  # the first calls are Python's, the later ones the gate's
            assert float(compiled(1.0)) == pytest.approx(expected, rel=1e-6), name


@pytest.mark.parametrize("name", ["a file", "a generator", "an iterator", "a cycle", "a schedule in the function"])
def test_what_cannot_be_followed_is_said_once_and_with_advice(name, tmp_path):
    make = ROWS[name]
    f, change = make(tmp_path) if make.__code__.co_argcount else make()
    change(1.0)
    gradient = bl.grad(f)
    with pytest.warns(UserWarning, match="while it is traced: the numbers read now are frozen") as said:
        gradient(1.0)
    assert len(said) == 1


def test_another_thread_reads_its_own_number():
    own = threading.local()
    own.rate = 1.0
    compiled, found = bl.jit(lambda x: x * own.rate), []
    for _ in range(4):
        assert compiled(1.0) == 1.0

    def run():
        own.rate = 5.0
        found.extend(float(compiled(1.0)) for _ in range(4))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [5.0] * 4
    assert compiled(1.0) == 1.0


def test_a_counter_of_the_function_needs_no_other_trace():
    count = [0]

    def f(x):
        count[0] += 1
        return x * 2.0

    value, gradient = bl.jit(f), bl.grad(f)
    for _ in range(6):
        value(1.0)
        gradient(1.0)
    before = count[0]
    value(1.0), gradient(1.0)
    assert count[0] == before <= 6


def test_results_that_join_a_cache_need_no_other_trace():
    traces = []

    @functools.lru_cache
    def rate(k):
        return 1.0 * k

    def f(x):
        traces.append(1)
        return x * rate(2)

    compiled = bl.jit(f)
    for k in range(5):
        rate(k)
        compiled(1.0)
    assert len(traces) <= 3
