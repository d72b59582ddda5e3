"""Messages from clients to the server, and their costs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.communication.compressors import Compressor
from burlab.errors import ArgumentError, ShapeError
from burlab.graph.node import as_node
from burlab.optim.optimizer import Hyper, Optimizer, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import shown
from burlab.runtime.ranges import NOT_NEGATIVE, PROBABILITY, number_in
from burlab.transforms import random
from burlab.typing import Key


def sent(compressor: Compressor, rows: Vector, f: Queries) -> Vector:
    """Each client's row compressed, with a key of its own. Shape (clients, d)."""
    return np.stack([_message(compressor, rows[c], random.fold_in(f.key, c)) for c in range(rows.shape[0])])


def _message(compressor: Compressor, row: Vector, key: Key) -> Vector:
    message: Any = as_node(compressor(row, key))
    if (message.shape, message.dtype) != (row.shape, row.dtype):
        raise ShapeError(
            f"compressor {type(compressor).__name__} made {message.dtype} of shape {message.shape} of a vector "
            f"{row.dtype} of shape {row.shape}. What it sends has to stand for a vector of the same shape and dtype."
        )
    return message


def bits_of(compressor: Compressor, rows: Vector) -> float:
    """Bits of one message for each row."""
    bits = compressor.bits(rows.shape[1], 8 * rows.dtype.itemsize)
    return rows.shape[0] * number_in(NOT_NEGATIVE, bits, f"bits of the compressor {type(compressor).__name__}")


def bits_whole(rows: Vector) -> float:
    """Bits of rows that are sent as they are.

    >>> import numpy as np
    >>> bits_whole(np.zeros((3, 4), np.float32))
    384.0
    """
    return float(8 * rows.dtype.itemsize * rows.size)


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
                f"compressor of {kind} is {shown(given)}, expected one of bl.compressors, such as RandK(2)."
            )


def check_clients(count: int, f: Queries) -> None:
    """Raise ArgumentError where more clients are to take part than there are."""
    if count > f.clients:
        raise ArgumentError(f"clients is {count}, but the problem has {f.clients}. Pass at most that many.")


def drawn(f: Queries, count: int) -> Any:
    """Draw the clients of a round, int64, shape (count,): all sets of that many are equally likely."""
    check_clients(count, f)
    return random.permutation(random.fold_in(f.key, f.clients), f.clients)[:count]


def omega_of(rule: Any, d: int) -> float:
    """The compressor's omega. Raises ArgumentError where it is biased."""
    omega = rule.compressor.omega(d)
    kind, given = type(rule).__name__, type(rule.compressor).__name__
    if omega is None:
        raise ArgumentError(
            f"compressor of {kind} is {given}, which is biased, and {kind} needs an unbiased one, such as RandK. "
            "EF21 takes biased ones."
        )
    return number_in(NOT_NEGATIVE, omega, f"compressor of {kind} is {given}, whose omega({d})")


def check_contractive(rule: Any, d: int) -> None:
    """Raise ArgumentError where the compressor of a rule is not contractive as it is."""
    compressor = rule.compressor
    kind, given = type(rule).__name__, type(compressor).__name__
    omega = compressor.omega(d)
    if omega is None:
        stated_alpha(rule, d)
    elif omega_of(rule, d) >= 1:
        raise ArgumentError(
            f"compressor of {kind} is {given} with omega {omega:g}: it is not contractive. Pass Scaled({given}(...))."
        )


def stated_alpha(rule: Any, d: int) -> float:
    """The alpha of a biased compressor. Raises ArgumentError where it states none, or one that is not contractive."""
    compressor: Compressor = rule.compressor
    what = f"compressor of {type(rule).__name__} is {type(compressor).__name__}"
    if type(compressor).alpha is Compressor.alpha:
        raise ArgumentError(
            f"{what}, which states neither omega nor alpha. Define alpha(d) of it, E|C(x) - x|^2 <= (1 - alpha) |x|^2."
        )
    return number_in(PROBABILITY, compressor.alpha(d), f"{what}, whose alpha({d})")
