"""Numbers that lie outside of Python, and those that cannot be followed, which the first trace says."""

import contextvars
import itertools
import json
import os
import types

import numpy as np

from tests.graph.tracing.reach.table import attribute, row, setter


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
