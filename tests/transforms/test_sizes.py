"""Sizes that no memory holds are refused where they are traced or planned, by errors with the line and the size."""

import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler import build
from burlab.errors import AllocationError, ArgumentError
from burlab.graph.tracing.trace import trace
from burlab.runtime import memory

X = np.array([1.0, 2.0, 3.0])
LONG_SIZE, HUGE = 2**40, 2**61
KEY = bl.random.key(0)


def wide(x: Any) -> Any:
    """An array that nothing stores."""
    return np.broadcast_to(x, (LONG_SIZE, 3))


CASES: dict[str, Callable[[Any], Any]] = {
    "repeat goes round": lambda x: np.sum(np.repeat(np.concatenate([x, x, x[:2]]), HUGE)),  # 8 * 2**61 is 0
    "repeat": lambda x: np.sum(np.repeat(x, LONG_SIZE)),
    "repeat by counts": lambda x: np.sum(np.repeat(x, [LONG_SIZE, 1, 1])),
    "broadcast_to huge": lambda x: np.sum(np.broadcast_to(x, (HUGE, 3)) ** 2),
    "broadcast_to, no int64": lambda x: np.sum(np.broadcast_to(x, (2**70, 3)) ** 2),
    "broadcast_to a product": lambda x: np.sum(np.broadcast_to(x, (LONG_SIZE, LONG_SIZE, 3)) ** 2),
    "broadcast_to with an empty axis": lambda x: np.sum(np.broadcast_to(x, (LONG_SIZE, LONG_SIZE, 0, 3))),
    "broadcast_to, stored": lambda x: wide(x) * 2.0,
    "broadcast_to, copied": wide,
    "broadcast": lambda x: np.sum(np.exp(wide(x)[:, None] + wide(x)[None])),
    "tile": lambda x: np.tile(x, LONG_SIZE) ** 2,
    "tile twice": lambda x: np.tile(x, (LONG_SIZE, LONG_SIZE)),
    "full_like": lambda x: np.full_like(x, 2.0, shape=(LONG_SIZE,)) * x[0],
    "zeros_like": lambda x: np.zeros_like(x, shape=(LONG_SIZE, LONG_SIZE)) + x[0],
    "ones": lambda x: np.ones(LONG_SIZE) * x[0],
    "arange": lambda x: np.sum(np.arange(LONG_SIZE) * x[0]),
    "one-hot": lambda x: np.sum(np.arange(LONG_SIZE) == x[:, None], axis=0),
    "outer": lambda x: np.outer(np.ravel(wide(x)), np.ravel(wide(x))),
    "einsum": lambda x: np.einsum("ia,jb,kc->ijk", wide(x), wide(x), wide(x)),
    "pad": lambda x: np.pad(x, (LONG_SIZE, 0)),
    "pad huge": lambda x: np.pad(x, (2**63, 2**63)) ** 2,
    "concatenate": lambda x: np.concatenate([wide(x)] * 3),
    "cumsum": lambda x: np.cumsum(wide(x)),
    "tril": lambda x: np.tril(np.broadcast_to(x[0], (2**20, 2**20))),
    "vmap": lambda x: bl.vmap(lambda row: np.sum(row * x))(wide(x)),
    "jacobian": lambda x: bl.jacobian(lambda y: np.tanh(y) * np.sum(y))(np.broadcast_to(x[0], (2**20,))),
    "scan": lambda x: bl.scan(lambda c, _: (c * 0.5, c), x[0], None, length=LONG_SIZE)[1],
    "gradient of scan": lambda x: bl.grad(
        lambda y: bl.scan(lambda c, _: (np.tanh(c * y), None), 1.0, None, length=LONG_SIZE)[0]
    )(x[0]),
    "while_loop": lambda x: bl.while_loop(lambda c: c[0] < 2, lambda c: c, (x[0], wide(x) * 1.0))[0],
    "cond": lambda x: bl.cond(x[0] > 2, lambda y: np.sum(np.cumsum(wide(y))), lambda y: y[0], x),
    "random": lambda x: bl.random.normal(KEY, (LONG_SIZE,)) * x[0],
    "random huge": lambda x: bl.random.uniform(KEY, (HUGE, HUGE)) * x[0],
}


@pytest.mark.parametrize("gear", ["compiled", "replay"])
@pytest.mark.parametrize("name", CASES)
def test_too_large_array_raises_with_its_line(name, gear):
    with pytest.raises(AllocationError, match=r'test_sizes.py", line \d+: .*([KMGTPE]iB).*([Uu]se smaller)') as caught:
        bl.compile(CASES[name], X, gear=gear)(X)
    assert isinstance(caught.value, MemoryError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: bl.scan(lambda c, _: (c * 0.5, c), 1.0, None, length=LONG_SIZE),
        lambda: bl.nn.Linear(2**30, 2**30, key=KEY),
        lambda: bl.hessian(lambda x: np.sum(x**2) * np.sum(x**3))(np.ones(2**19)),
        lambda: bl.FiniteSum(lambda x, a: np.sum(np.cumsum(wide(x * a))), np.ones(5)).grad(X),
        lambda: bl.FiniteSum(lambda x, a: np.sum((x * a) ** 2), np.ones(10**6)).per_sample_grads(np.ones(10**6)),
        lambda: bl.minimize(lambda x: np.sum(np.cumsum(wide(x))), X, bl.optim.GD(0.1)).step(1),
        lambda: bl.compile(np.sum, np.ones(10**4)).map(np.broadcast_to(1.0, (2**36, 10**4))),
    ],
)
def test_so_is_what_is_computed_at_once(call):
    with pytest.raises(AllocationError, match="iB"):
        call()


def test_scan_has_at_most_int64_iterations():
    with pytest.raises(ArgumentError, match=r"2\*\*63 - 1"):
        bl.scan(lambda c, _: (c * 0.5, None), 1.0, None, length=2**70)


def test_an_array_that_nothing_stores_may_be_larger_than_memory():
    shape = (memory.physical() // 8, 3)
    executable = build(trace(lambda x: np.sum(np.broadcast_to(x, shape) ** 2), (X,)).graph)
    assert executable.memory["workspace"] < 1000
    with pytest.raises(AllocationError, match="the result of square"):
        build(trace(lambda x: np.broadcast_to(x, shape) ** 2, (X,)).graph)


def test_memory_that_the_system_does_not_give_is_no_crash():
    """In a process that may have 4 GiB: results and workspaces are refused at the call, and the next call works."""
    program = """
    import resource, numpy as np, burlab as bl
    def large(x): return np.cumsum(np.broadcast_to(x, (2**28, 3)), axis=0)
    def inside(x): return np.sum(np.tanh(large(x)))
    kernels = [bl.compile(f, np.ones(3), gear=gear) for f in (large, inside) for gear in ("compiled", "replay")]
    small = bl.compile(np.sum, np.ones(3))
    small(np.ones(3)), small(np.ones(3))  # the gate is compiled
    resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
    for kernel in kernels:
        for _ in range(3):
            try:
                kernel(np.ones(3))
            except bl.errors.AllocationError as error:
                assert "GiB" in str(error), error
            else:
                raise SystemExit("not refused")
    print(small(np.ones(3)))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "3.0"), done.stderr
