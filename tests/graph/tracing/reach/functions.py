"""Numbers in functions: defaults, partials, wrappers, caches; and in what is bound to something."""

import functools
import operator
import types
from typing import ClassVar

import numpy as np

from tests.graph.tracing.reach.table import attribute, row, setter


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
