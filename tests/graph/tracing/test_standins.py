"""Substitutes for NumPy's constructors while a function is traced."""

import subprocess
import sys

import numpy as np
import pytest

from burlab.graph.tracing.trace import trace

FIRST_WORD = """
import numpy as np
import burlab as bl
from burlab.graph.tracing.trace import trace
x = np.array([1.0, 2.0])
print(*(n.op for n in trace(lambda x: {word}, (x,)).graph.nodes))
"""


@pytest.mark.parametrize("word", ["np.diag(x)", "np.kron(x, x)", "np.linspace(x[0], x[1], 3)", "np.meshgrid(x, x)"])
def test_a_rare_word_may_be_the_first_one_of_a_session(word: str) -> None:
    """The module of its rule is imported while the function is traced, when NumPy's names are exchanged."""
    text = FIRST_WORD.format(word=word)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("input ")


def test_a_standin_is_found_in_tables_as_what_it_stands_for() -> None:
    originals, table = {"zeros": np.zeros}, {np.zeros: "zeros"}

    def f(x: object) -> object:
        original = originals["zeros"]
        assert np.zeros is not original
        assert table[np.zeros] == "zeros"
        assert np.zeros == original
        assert original == np.zeros
        assert np.zeros != np.ones
        return x

    trace(f, (1.0,))
