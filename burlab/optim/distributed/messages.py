"""What clients send to the server, and what it costs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.compressors import Compressor
from burlab.errors import ArgumentError
from burlab.optim.optimizer import Hyper, Optimizer, Vector
from burlab.transforms import random

Told = dict[str, Any]


def sent(compressor: Compressor, rows: Vector, f: Any) -> Vector:
    """Each client's row compressed, with a key of its own. Shape (clients, d)."""
    return np.stack([compressor(rows[c], random.fold_in(f.key, c)) for c in range(rows.shape[0])])


def bits_of(compressor: Compressor, rows: Vector) -> float:
    """Bits of one message for each row."""
    return rows.shape[0] * compressor.bits(rows.shape[1], 8 * rows.dtype.itemsize)


@dataclass(frozen=True)
class Compressed(Optimizer):
    """A step size, and what compresses. Abstract."""

    lr: Hyper
    compressor: Compressor

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.compressor
        if not isinstance(given, Compressor):
            kind = type(self).__name__
            raise ArgumentError(
                f"compressor of {kind} is {given!r:.80}, expected one of bl.compressors, such as RandK(2)."
            )


def drawn(f: Any, count: int) -> Any:
    """Which clients take part in a round: all sets of that many are equally likely. int64, shape (count,)."""
    if count > f.clients:
        raise ArgumentError(f"clients is {count}, but the problem has {f.clients}. Pass at most that many.")
    return random.permutation(random.fold_in(f.key, f.clients), f.clients)[:count]


def omega_of(rule: Any, d: int) -> float:
    """The compressor's omega. Raises ArgumentError where it is biased."""
    omega = rule.compressor.omega(d)
    if omega is None:
        kind, given = type(rule).__name__, type(rule.compressor).__name__
        raise ArgumentError(
            f"compressor of {kind} is {given}, which is biased, and {kind} needs an unbiased one, such as RandK. "
            "EF21 takes biased ones."
        )
    return omega
