"""Random programs over the whole vocabulary: value, gradient and Hessian times direction against NumPy and JAX."""

from typing import Any

import numpy as np
import scipy.linalg
import scipy.special
from hypothesis import given, settings

import burlab as bl
from tests.engines import assert_close, jax_or_skip
from tests.exploring import examples
from tests.graph.buffers.programs import traced
from tests.graph.programs import Program, programs
from tests.graph.wide_words import Words

BOTH = (0, 1)
PLAIN = Words(np, scipy.special, scipy.linalg.expm, functional=False)


def ours() -> Words:
    special = scipy.special
    return Words(np, _Special(special), bl.scipy.linalg.expm, functional=False)


class _Special:
    """SciPy's functions, but those that no protocol reaches."""

    logsumexp, log_softmax = staticmethod(bl.logsumexp), staticmethod(bl.log_softmax)

    def __init__(self, special: Any) -> None:
        self._special = special

    def __getattr__(self, name: str) -> Any:
        return getattr(self._special, name)


def theirs() -> Words:
    jax = jax_or_skip()
    from jax.scipy import linalg, special

    words = Words(jax.numpy, special, linalg.expm, functional=True)
    words.log_softmax = jax.nn.log_softmax
    return words


def slopes(program: Program, words: Words, grad: Any, jvp: Any) -> Any:
    """(arguments, direction) -> gradient, Hessian times direction."""

    def f(a: Any, b: Any) -> Any:
        return program(words, a, b)

    return lambda args, v: jvp(grad(f, BOTH), tuple(args), tuple(v))


@settings(max_examples=examples(30))
@given(programs(words=PLAIN))
def test_wide_programs_equal_numpys_and_jaxs(program: Program) -> None:
    jax = jax_or_skip()
    args, v = program.arguments(), program.arguments(seed=1)
    assert_close(traced(lambda a, b: program(ours(), a, b), *args), program(PLAIN, *args), 1e-11)
    gradient, moved = traced(slopes(program, ours(), bl.grad, bl.jvp), args, v)
    expected = jax.jit(slopes(program, theirs(), jax.grad, jax.jvp))(args, v)
    assert_close(gradient, expected[0], 1e-9)
    assert_close(moved, expected[1], 1e-7)
