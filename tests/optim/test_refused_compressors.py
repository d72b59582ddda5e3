"""Compressors of users that state what no compressor can be, and what is made of them: said by the argument's name."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.communication.compressors import Compressor, Natural, RandK
from burlab.errors import ArgumentError, ShapeError
from burlab.optim import DCGD, DIANA, EF21, EF21PP, EF21W, MARINA, PPMARINA, FedNL

CLIENTS = [np.ones((2, 3)), np.zeros((3, 3))]
X0 = np.full(3, 0.5)


def problem():
    return bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), CLIENTS)


@dataclass(frozen=True)
class Half(Compressor):
    """x / 2, or another map; with the constants that it is given."""

    stated_omega: Any = None
    size: Any = 8.0
    entries: int | None = None
    dtype: Any = np.float64

    def __call__(self, x, key=None):
        return (x / 2)[: self.entries].astype(self.dtype)

    def omega(self, d):
        return self.stated_omega

    def bits(self, d, width=64):
        return self.size


@dataclass(frozen=True)
class Stated(Half):
    """And an alpha."""

    stated_alpha: Any = 0.75

    def alpha(self, d):
        return self.stated_alpha


@pytest.mark.parametrize(
    ("rule", "error", "message"),
    [
        (EF21(0.1, Half()), ArgumentError, "compressor of EF21 is Half, which states neither omega nor alpha"),
        (EF21PP(0.1, Half()), ArgumentError, "compressor of EF21PP is Half, which states neither"),
        (FedNL(1.0, Half()), ArgumentError, "compressor of FedNL is Half, which states neither"),
        (EF21(0.1, Stated(stated_alpha=0.0)), ArgumentError, r"compressor of EF21 is Stated, whose alpha\(3\) is 0.0"),
        (EF21(0.1, Stated(stated_alpha=1.5)), ArgumentError, "is 1.5, expected a number above 0 and at most 1"),
        (FedNL(1.0, Stated(stated_alpha="all")), ArgumentError, r"compressor of FedNL is Stated, whose alpha\(6\)"),
        (EF21W(0.1, RandK(1), weights=(0.5, 0.5)), ArgumentError, "compressor of EF21W is RandK with omega 2"),
        (DIANA(0.1, Half(-1.0)), ArgumentError, r"compressor of DIANA is Half, whose omega\(3\) is -1.0, expected"),
        (MARINA(0.1, Half(np.nan)), ArgumentError, r"compressor of MARINA is Half, whose omega\(3\) is nan"),
        (FedNL(1.0, Half(np.inf)), ArgumentError, r"compressor of FedNL is Half, whose omega\(6\) is inf"),
        (DCGD(0.1, Half(0.0, size="few")), ArgumentError, "bits of the compressor Half is 'few'"),
        (EF21(0.1, Stated(entries=2)), ShapeError, r"compressor Stated made float64 of shape \(2,\) of a vector"),
        (DCGD(0.1, Half(0.0, dtype=np.float32)), ShapeError, r"Half made float32 of shape \(3,\) of a vector float64"),
        (EF21W(0.1, Stated(), weights="even"), ArgumentError, "weights of EF21W is 'even', expected 2 numbers above 0"),
        (PPMARINA(0.1, Natural(), clients=3), ArgumentError, "clients is 3, but the problem has 2"),
    ],
    ids=lambda case: str(case)[:40],
)
def test_unsuitable_compressors_raise(rule, error, message):
    with pytest.raises(error, match=message):
        bl.minimize(problem(), X0, rule)


def test_compressor_with_stated_constants_is_accepted():
    """C(x) = x / 2 has alpha = 3/4, and brings EF21 to the minimum."""
    run = bl.minimize(problem(), X0 + 1, EF21(0.3, Stated()), steps=200)
    np.testing.assert_allclose(run.x, X0, rtol=1e-9)
    assert run.counts["bits"] == 200 * 2 * 8
