"""docs/numpy.md is what docs/words.py writes today; what it refuses has no rule, and says why."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import TraceError
from burlab.graph.node import FUNCTIONS, UFUNCS
from burlab.graph.numpy_api.refused import REFUSED
from tests.project.programs import DOCS, program


def test_page_of_numpy_words_is_up_to_date() -> None:
    assert (DOCS / "numpy.md").read_text() == program("words").page(), "run: make pages"


@pytest.mark.parametrize("name", REFUSED)
def test_refused_numpy_functions_have_no_rule(name: str) -> None:
    module, _, word = name.rpartition(".")
    home = getattr(np, module) if module else np
    if hasattr(home, word):  # of this NumPy
        has_rule = getattr(home, word) in FUNCTIONS or word in UFUNCS
        assert not has_rule, f"np.{name} has a rule: remove its line of burlab/graph/numpy_api/refused.py"


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (np.roots, "coefficients that are 0; use np.linalg.eigvals"),
        (np.unique, "would depend on numbers; use np.sort"),
        (np.array_str, "no numbers yet; use it on the numbers that the traced function gives"),
        (np.emath.sqrt, "nearest name that has one is np.sqrt.*docs/numpy.md"),
        (np.einsum_path, "nearest name that has one is np.einsum"),
        (np.logaddexp.accumulate, "np.logaddexp.accumulate cannot be traced: accumulate has no rule here"),
        (np.is_busday, "no rule here.*docs/numpy.md"),
    ],
)
def test_error_of_a_refused_function_names_reason_and_page(f, said) -> None:
    with pytest.raises(TraceError, match=said):
        bl.jit(f)(np.ones(3))
