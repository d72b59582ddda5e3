"""Exceptions of C++ statuses: C++ never throws, Python does."""

import enum

from burlab.errors import (
    AllocationError,
    ArgumentError,
    BurlabError,
    IndexRangeError,
    NonFiniteError,
    StatusError,
    TapeError,
)


class Status(enum.IntEnum):
    """Outcome of a call of C++, the mirror of `burlab::Status` in `cpp/burlab/abi.hpp`."""

    OK = 0
    OUT_OF_MEMORY = 1
    INDEX_OUT_OF_RANGE = 2
    NON_FINITE = 3
    STOPPED = 4
    STALE_VALUE = 5
    TWO_TAPES = 6
    UNANSWERED = 7
    NEGATIVE_POWER = 8
    SWEEPING = 9


_ERRORS: dict[Status, tuple[type[BurlabError], str]] = {
    Status.OUT_OF_MEMORY: (AllocationError, "there is no memory left for the workspace. Use smaller arrays or batches"),
    Status.INDEX_OUT_OF_RANGE: (IndexRangeError, "an integer index lies outside its axis. Check the index array"),
    Status.NON_FINITE: (NonFiniteError, "a value became inf or nan. Check the inputs"),
    Status.STOPPED: (StatusError, "the work was stopped before it was done. Start it again"),
    Status.STALE_VALUE: (TapeError, "a Value names a node that its tape does not hold any more. Record it again"),
    Status.TWO_TAPES: (TapeError, "the operands live on different tapes. Record both on one tape"),
    Status.UNANSWERED: (StatusError, "the kernel asks about a problem that is not there. Run it in bl.minimize"),
    Status.NEGATIVE_POWER: (
        ArgumentError,
        "an integer was raised to a negative power, whose result is not an integer. Use x.astype(float) ** n",
    ),
    Status.SWEEPING: (
        TapeError,
        "the tape is in the middle of backward, which calls this. Sweep or rewind it afterwards",
    ),
}


def split(answer: int) -> tuple[int, int]:
    """The status in the low 8 bits of a kernel's answer, and the number above them: the node at fault.

    >>> split(joined(Status.INDEX_OUT_OF_RANGE, 7))
    (2, 7)
    """
    return answer & 0xFF, answer >> 8


def joined(status: int, node: int) -> int:
    """The answer of a kernel whose node number `node` failed: the reverse of `split`."""
    return status | node << 8


def error(status: int, where: str = "") -> BurlabError:
    """The exception for a status that is not OK.

    where: what the user knows of the place, put before the message.

    >>> error(Status.INDEX_OUT_OF_RANGE, "model.py, line 3")
    IndexRangeError('model.py, line 3: an integer index lies outside its axis. Check the index array.')
    """
    known = status in Status.__members__.values() and Status(status) in _ERRORS
    kind, text = _ERRORS[Status(status)] if known else (StatusError, f"C++ answered with status {status}. Report this")
    return kind(f"{where}: {text}." if where else f"{text[0].upper()}{text[1:]}.")
