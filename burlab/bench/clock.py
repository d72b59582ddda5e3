"""Time of a call: the minimum over repeats by powers of two, with all variants interleaved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Repeat = Callable[[int], float]
_TRIES = 8  # measurements of as many repetitions, before they are said to last long enough
_MAX_REPETITIONS = 1 << 30  # in a measurement: a function that takes no time by then does nothing


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of one variant.

    seconds: of one repetition, the least of all measurements. count: repetitions per measurement. measurements: each
    one's seconds per repetition, in order.
    """

    seconds: float
    count: int
    measurements: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Effort:
    """Effort of a measurement.

    shortest: seconds that a measurement lasts at least. It should be as short as the clock allows, since other work of
    the machine disturbs long ones. rounds: measurements of each variant. most: seconds after which a variant needs no
    more of them, once it has had three.
    """

    shortest: float = 0.002
    rounds: int = 60
    most: float = 2.0


def race(repeats: Sequence[Repeat], effort: Effort) -> list[Timing]:
    """Time several variants alternately, so that a disturbance of the machine meets them all.

    repeats: each takes a number of repetitions and gives the seconds that they took. The number is doubled until the
    shortest of several measurements lasts `effort.shortest`, which also warms up; then come the rounds.

    >>> race([lambda count: 0.5 * count], Effort(shortest=1.0, rounds=2))
    [Timing(seconds=0.5, count=2, measurements=(0.5, 0.5))]
    """
    counts = [_enough(repeat, effort) for repeat in repeats]
    measurements: list[list[float]] = [[] for _ in repeats]
    for _ in range(effort.rounds):
        for repeat, count, found in zip(repeats, counts, measurements, strict=True):
            if len(found) < 3 or sum(found) * count < effort.most:
                found.append(repeat(count) / count)
    return [Timing(min(s), n, tuple(s)) for s, n in zip(measurements, counts, strict=True)]


def _enough(repeat: Repeat, effort: Effort) -> int:
    """Repetitions that last long enough."""
    count = 1
    while count < _MAX_REPETITIONS and not _last(repeat, count, effort):
        count *= 2
    return count


def _last(repeat: Repeat, count: int, effort: Effort) -> bool:
    """Return True if every try of `count` repetitions is long enough: one alone may be slow by chance."""
    spent = 0.0
    for k in range(_TRIES):
        spent += (took := repeat(count))
        if took < (effort.shortest / 2 if k else effort.shortest):
            return False
        if k and spent > effort.most:
            break
    return True
