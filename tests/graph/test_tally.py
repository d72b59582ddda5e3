"""Elementary operations of rows: every row of the tables states its own."""

import numpy as np
import pytest

import burlab as bl
from burlab.graph import hooks
from burlab.graph.operation import STRUCTURAL, Operation
from burlab.graph.scalar import FAMILIES, family_ops, scalar_ops
from burlab.graph.scalar_tally import scalar_tally
from burlab.graph.tally import Tally, halves, log2

# Made while planning, or replaced by their graphs before: they stand in no simplified graph.
NOT_COUNTED = {"matvec", "multiply_add", "block_results", "of_all_blocks"}
REPLACED = {"call", "checkpoint", "checkpoint_contractions", "halves"}


def test_every_structural_operation_states_its_elementary_operations() -> None:
    hooks.import_rare()
    silent = {
        name
        for name, row in STRUCTURAL.items()
        if not (row.leaf or row.view or row.moves_data or row.parts) and type(row).tally is Operation.tally
    }
    assert silent == NOT_COUNTED | REPLACED


def test_every_scalar_operation_is_one_or_a_few() -> None:
    names = [*scalar_ops(), *(name for family in FAMILIES for name in family_ops(family))]
    assert all(1 <= sum(scalar_tally(name)[:4]) <= 2 for name in names)
    assert all(scalar_tally(name).copies == 0 for name in names)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("add", Tally(additions=1)),
        ("neg", Tally(additions=1)),
        ("div", Tally(1)),
        ("cube", Tally(2)),
        ("sqrt", Tally(transcendental=1)),
        ("erfcx", Tally(transcendental=1)),
        ("maximum", Tally(logic=1)),
        ("abs", Tally(logic=1)),
        ("floor", Tally(logic=1)),
        ("isfinite", Tally(logic=1)),
        ("bitwise_and", Tally(logic=1)),
        ("tanh'0", Tally(1, 1)),
        ("tanh'0'1", Tally(1)),
        ("gelu'0", Tally(transcendental=1)),
        ("relu'0", Tally(logic=1)),
        ("sqrt'0", Tally(2)),
        ("expm1'0", Tally(additions=1)),
    ],
)
def test_scalar_operations_by_hand(name: str, wanted: Tally) -> None:
    assert scalar_tally(name) == wanted


FACTORS = {
    "cholesky": np.linalg.cholesky,
    "lu": np.linalg.det,
    "qr": np.linalg.qr,
    "eigh": np.linalg.eigh,
    "svd": lambda a: np.linalg.svd(a, full_matrices=False),
    "expm": bl.scipy.linalg.expm,
}


@pytest.mark.parametrize("op", FACTORS)
def test_factors_take_the_cube_of_a_size_and_a_stack_as_often(op: str) -> None:
    flops = {
        shape: bl.counts(FACTORS[op], np.broadcast_to(np.eye(shape[-1]), shape)).by_operation[op].flops
        for shape in [(64, 64), (128, 128), (3, 64, 64)]
    }
    assert 7.5 < flops[128, 128] / flops[64, 64] < 8.5
    assert flops[3, 64, 64] == 3 * flops[64, 64]


def test_the_factors_by_the_book() -> None:
    """Golub and Van Loan 2013: numbers of n^3."""
    n, a = 128, np.eye(128)
    wanted = {"cholesky": 1 / 3, "lu": 2 / 3, "qr": 8 / 3, "eigh": 9, "svd": 22}
    for op, factor in wanted.items():
        assert bl.counts(FACTORS[op], a).by_operation[op].flops / n**3 == pytest.approx(factor, rel=0.02), op


def test_fourier_transforms() -> None:
    n = 64
    x = np.ones(n)
    assert bl.counts(np.fft.rfft, x).by_operation["rfft"].flops == 5 * n * 6 // 2
    assert bl.counts(lambda x: np.fft.fft(x + 1j * x), x).by_operation["fft"].flops == 5 * n * 6


def test_halves_and_powers_of_two() -> None:
    assert halves(7.0).flops == 7
    assert [log2(n) for n in (1, 2, 3, 4, 1024, 1025)] == [0, 1, 2, 2, 10, 11]
