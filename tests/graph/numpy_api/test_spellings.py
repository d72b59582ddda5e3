"""Users' NumPy code, traced: values equal NumPy, gradients JAX, in both gears."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
import burlab.graph.rare
from burlab.graph.node import FUNCTIONS
from tests.engines import GEARS, assert_close, jax_or_skip
from tests.graph.spellings import Spelling
from tests.graph.spellings_of_arrays import ALL, BEYOND


def test_every_function_is_named_by_a_test_of_its_values() -> None:
    files = (path for path in Path(__file__).parents[1].rglob("*.py") if path.name != "dtype_words.py")
    named = set(re.findall(r"\w+", " ".join(path.read_text() for path in files)))
    missing = {f.__name__ for f in FUNCTIONS} - named
    assert missing == set(), "add a row with the function to tests/graph/spellings_of_arrays.py"


def by(spelling: Spelling) -> tuple[int, ...]:
    return tuple(k for k, a in enumerate(spelling.args) if np.asarray(a).dtype.kind == "f")


def weighed(module: Any, y: Any) -> Any:
    """A number whose derivative by every entry of y is another one."""
    return module.sum(y * np.cos(np.arange(np.prod(np.shape(y))).reshape(np.shape(y)) + 0.5))


def slopes(spelling: Spelling, module: Any, grad: Any) -> Any:
    """args -> gradients by the floating arguments, in the words of an engine."""
    return grad(lambda *a: weighed(module, spelling.f(module, *a)), by(spelling))


def all_slopes(spellings: Any, module: Any, grad: Any) -> Any:
    return lambda args: {s.name: slopes(s, module, grad)(*a) for s, a in zip(spellings, args, strict=True)}


def all_values(spellings: Any) -> Any:
    return lambda args: {s.name: s.f(np, *a) for s, a in zip(spellings, args, strict=True)}


@cache
def ours(gear: str) -> dict[str, Any]:
    """Every spelling's value and gradients, a hundred in a kernel."""
    found: dict[str, Any] = {}
    for start in range(0, len(ALL), 100):
        part = ALL[start : start + 100]
        args = [s.args for s in part]
        both = lambda args, part=part: (all_values(part)(args), all_slopes(part, np, bl.grad)(args))  # noqa: E731
        values, gradients = bl.compile(both, args, gear=gear)(args)
        found |= {name: (values[name], gradients[name]) for name in values}
    return found


@cache
def theirs() -> dict[str, Any]:
    """The gradients by JAX, twenty at a time: its compiler takes minutes for a hundred."""
    jax = jax_or_skip()
    known = [s for s in ALL if s.jax]
    found: dict[str, Any] = {}
    for start in range(0, len(known), 20):
        part = known[start : start + 20]
        found |= jax.jit(all_slopes(part, jax.numpy, jax.grad))([s.args for s in part])
    return found


def test_every_row_has_a_name_of_its_own() -> None:
    assert len({s.name for s in ALL}) == len(ALL)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("spelling", ALL, ids=lambda s: s.name)
def test_value_is_numpys(spelling: Spelling, gear: str) -> None:
    value = np.asarray(ours(gear)[spelling.name][0])
    wanted = np.asarray(spelling.f(np, *spelling.args))
    assert (value.shape, value.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(value, wanted, rtol=1e-13, atol=1e-14)


@pytest.mark.full
@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("spelling", [s for s in ALL if s.jax], ids=lambda s: s.name)
def test_gradient_is_jaxs(spelling: Spelling, gear: str) -> None:
    jax_or_skip()
    assert_close(ours(gear)[spelling.name][1], theirs()[spelling.name], 1e-11)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("spelling", BEYOND, ids=lambda s: s.name)
def test_gradients_that_jax_has_not_are_differences(spelling: Spelling, gear: str) -> None:
    for k, slope in zip(by(spelling), ours(gear)[spelling.name][1], strict=True):
        wanted = np.empty_like(slope)
        for place in np.ndindex(wanted.shape):
            ends = []
            for step in (1e-6, -1e-6):
                args = [np.array(a) for a in spelling.args]
                args[k][place] += step
                ends.append(weighed(np, spelling.f(np, *args)))
            with np.errstate(invalid="ignore"):  # of infinite values
                wanted[place] = (ends[0] - ends[1]) / 2e-6
        known = np.isfinite(wanted)
        assert_close(slope[known], wanted[known], 1e-6)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["hypot", "logaddexp"])
def test_the_largest_and_smallest_numbers_are_numpys(name: str, dtype: Any, gear: Any) -> None:
    limits = np.finfo(dtype)
    numbers = [0.0, 1.0, -3.0, limits.max / 2, -limits.max / 2, limits.tiny, limits.smallest_subnormal, np.inf, -np.inf]
    a, b = (x.reshape(-1) for x in np.meshgrid(*2 * [np.array(numbers, dtype)]))
    f = getattr(np, name)
    with np.errstate(over="ignore"):
        wanted = f(a, b)
    np.testing.assert_allclose(bl.compile(f, a, b, gear=gear)(a, b), wanted, rtol=4 * limits.eps)
