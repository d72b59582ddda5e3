"""The instruction set: found at run time, chosen by BURLAB_ISA, and the same numbers with each."""

import os
import subprocess
import sys

import pytest

from burlab.runtime import cpu
from burlab.runtime.cpu import cpu_flags, instruction_set

ABLE = [known.name for known in cpu._KNOWN if cpu_flags().issuperset(known.flags)]

WORK = """
import numpy as np, burlab as bl
rng = np.random.default_rng(0)
A, x = rng.normal(size=(19, 37)), rng.normal(size=37)
def f(x, A):
    waves = np.mean(np.abs(np.fft.fft(x * A[:, :1])))
    halves = np.sum(x[::2] / (1 + x[1::2] ** 2)[0])
    return np.sum(np.tanh(A @ x) ** 2) + np.max(x) + np.sum(x.astype(np.float32) * 2) + halves + waves
for gear in ("compiled", "replay"):
    value, g = bl.compile(f, x, A, gear=gear, strict=True).value_and_grad(x, A)
    print(value.hex(), [v.hex() for v in g])
fast = bl.value_and_grad(f)(x, A)
print(float(abs(fast[0] - value)) < 1e-12, float(np.abs(fast[1] - g).max()) < 1e-12)
k = bl.random.key(5)
drawn = [bl.random.normal(k, 99, np.float32), bl.random.exponential(k, 99), bl.random.laplace(k, 99, "float32"),
         bl.random.randint(k, 99, -5, 9), bl.random.permutation(k, 50), bl.random.choice(k, 9, 20, p=np.arange(9.0))]
print(*(numbers.tobytes().hex() for numbers in drawn))
total, apart = bl.compile(lambda x, y: (np.sum(x * x), x - y), x[1:], x[:-1])(x[1:], x[:-1])
print(abs(total - x[1:] @ x[1:]) < 1e-12, np.array_equal(apart, np.diff(x)))
"""


def run(isa):
    environment = os.environ | ({"BURLAB_ISA": isa} if isa else {})
    done = subprocess.run([sys.executable, "-c", WORK], text=True, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "not vectorized" not in done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def default():
    return run(None)


@pytest.mark.parametrize("isa", ABLE)
def test_strict_and_random_numbers_give_the_same_bits_with_every_instruction_set_and_gear(isa, default):
    lines = run(isa)
    assert lines[0] == lines[1] == default[0]
    assert lines[2] == "True True"
    assert lines[3] == default[3]
    assert lines[4] == "True True"


@pytest.mark.parametrize("known", cpu._KNOWN, ids=lambda k: k.name)
def test_a_set_is_chosen_only_where_the_cpu_has_it(known, monkeypatch):
    monkeypatch.setattr(cpu, "cpu_flags", lambda: frozenset(known.flags))
    monkeypatch.delenv("BURLAB_ISA", raising=False)
    instruction_set.cache_clear()
    try:
        assert instruction_set() is known
    finally:
        instruction_set.cache_clear()


def test_an_unknown_set_is_refused(monkeypatch):
    from burlab.errors import ConfigurationError

    monkeypatch.setenv("BURLAB_ISA", "abacus")
    instruction_set.cache_clear()
    with pytest.raises(ConfigurationError, match=r"abacus.*plain"):
        instruction_set()
    monkeypatch.undo()
    instruction_set.cache_clear()
