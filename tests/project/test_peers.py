"""Where a peer is not installed its comparisons are skipped by name, and all other tests run."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PEERS = {
    "torch",
    "jax",
    "autograd",
    "optax",
    "einops",
    "optuna",
    "tensorboard",
    "tensorboardX",
    "mlflow",
    "pyarrow",
}  # of the extra "peers"
TEXTS = TESTS / "programs" / "texts"  # programs of others, which a test reads


def imported(text: str) -> Iterator[str]:
    """The peers that a file imports when it is collected, without a word that skips it where they are absent."""
    for node in ast.parse(text).body:
        if "importorskip" in ast.unparse(node):
            return
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        else:
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        yield from PEERS.intersection(name.partition(".")[0] for name in names)


def test_no_file_needs_a_peer_to_be_collected():
    files = (path for path in TESTS.rglob("*.py") if TEXTS not in path.parents)
    assert {str(path.relative_to(TESTS)): found for path in files if (found := [*imported(path.read_text())])} == {}


@pytest.mark.parametrize("text", ["import torch", "import jax.numpy as jnp", "from jax import grad"])
def test_an_import_of_a_peer_is_found(text: str):
    assert [*imported(f"import numpy\n{text}")]
    assert not [*imported(f'import pytest\npytest.importorskip("peer")\n{text}')]
