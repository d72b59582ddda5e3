"""Warnings about values that a trace freezes: random numbers of any generator, and clocks."""

import datetime as dt
import os
import random
import secrets
import threading
import time
import uuid
import warnings
from random import gauss
from time import perf_counter

import numpy as np
import pytest

import burlab as bl

STATE, GENERATOR, OWN_GENERATORS = np.random.RandomState(0), np.random.default_rng(0), random.Random(0)
RANDN, NORMAL, DRAW = STATE.randn, GENERATOR.normal, OWN_GENERATORS.random
T = perf_counter
HELD = {"generator": np.random.default_rng(1)}


class Model:
    """Holds a generator of its own."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(2)

    def __call__(self, x):
        return x * self.generator.normal()


MODEL = Model()


def helper():
    return GENERATOR.normal()


FROZEN = {
    "np.random": lambda x: x * np.random.rand(),  # noqa: NPY002
    "RandomState": lambda x: x * STATE.randn(),
    "a method of RandomState": lambda x: x * RANDN(),
    "a new RandomState": lambda x: x * np.random.RandomState(0).randn(),
    "a new bit generator": lambda x: x * np.random.Generator(np.random.PCG64(0)).normal(),
    "a generator": lambda x: x * GENERATOR.normal(),
    "a method of a generator": lambda x: x * NORMAL(),
    "a new generator": lambda x: x * np.random.default_rng(0).normal(),
    "a generator in a dictionary": lambda x: x * HELD["generator"].normal(),
    "a generator in an object": MODEL,
    "a generator in a helper": lambda x: x * helper(),
    "random": lambda x: x * random.random(),
    "a function of random": lambda x: x * gauss(0.0, 1.0),
    "Random": lambda x: x * OWN_GENERATORS.random(),
    "a method of Random": lambda x: x * DRAW(),
    "SystemRandom": lambda x: x * random.SystemRandom().random(),
    "secrets": lambda x: x * secrets.randbelow(10),
    "time": lambda x: x * time.time(),
    "a function of time": lambda x: x * perf_counter(),
    "datetime": lambda x: x * dt.datetime.now().timestamp(),
    "urandom": lambda x: x * os.urandom(1)[0],
    "uuid": lambda x: x * float(uuid.uuid4().int),
}


@pytest.mark.parametrize("name", FROZEN)
@pytest.mark.parametrize(
    ("of", "x"),
    [(bl.grad, 1.0), (bl.jit, 1.0), (lambda f: bl.vmap(bl.grad(f)), np.ones(2))],
    ids=["grad", "jit", "vmap"],
)
def test_frozen_random_draws_warn_once(name, of, x):
    with pytest.warns(UserWarning, match=r"while it is traced.*frozen.*bl\.random") as said:
        of(FROZEN[name])(x)
    assert len(said) == 1


def test_draws_of_another_thread_do_not_warn():
    """A Dask client draws from Python's generator in its own thread, at any time."""
    over, entered = threading.Event(), threading.Event()

    def draw():
        while not over.is_set():
            random.random()

    def quiet(x):
        entered.wait(0.05)  # while the other one draws
        return x * x

    def drawing(x):
        return quiet(x) * random.random()

    other = threading.Thread(target=draw)
    other.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert bl.grad(quiet)(3.0) == 6.0
        with pytest.warns(UserWarning, match="drawing draws from random while it is traced"):
            bl.grad(drawing)(3.0)
    finally:
        over.set()
        other.join()


def test_seeds_of_keys_and_unused_generators_are_no_chance():
    key = bl.random.key(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bl.grad(lambda x: x * bl.random.normal(key))(1.0)
        bl.grad(lambda x: x * (1.0 if GENERATOR is not None else 2.0))(1.0)
        bl.grad(lambda x: np.sum(x.T))(np.ones((2, 3)))  # an attribute, though a clock has that name too


class Experiment:
    """Makes data by chance, of which its loss reads nothing; its settings are looked up by any name."""

    def __init__(self):
        self.settings = {"scale": 2.0, "default_rng": 1.0}

    def __getattr__(self, name):
        return getattr(type(self), f"_{name}")

    _half = 0.5

    def data(self):
        return np.random.default_rng(0).normal(size=3) * time.time()

    def loss(self, x):
        return np.sum(x**2) * self.half * self.settings["default_rng"]


def default_rng(x):
    return 2.0 * x


def test_uncalled_generator_names_do_not_warn():
    """Nor does a text, or a function of the user's that has the name of one of NumPy's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(bl.grad(Experiment().loss)(np.ones(2)), [1.0, 1.0])
        assert bl.grad(lambda x: default_rng(x) * {"RandomState": 3.0}["RandomState"])(1.0) == 6.0


@pytest.mark.parametrize("row", [[np.inf, 1.0], [np.inf, np.inf], [-np.inf, -np.inf], [-np.inf, 1.0], [np.nan, 1.0]])
def test_softmax_of_what_is_not_finite_is_that_of_scipy(row):
    from scipy.special import softmax

    x = np.array(row)
    with np.errstate(invalid="ignore"):
        wanted = softmax(x)
    np.testing.assert_array_equal(bl.softmax(x), wanted)
    np.testing.assert_array_equal(bl.compile(bl.softmax, x, gear="replay")(x), wanted)
