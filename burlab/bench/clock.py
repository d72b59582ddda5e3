"""How long something takes: the minimum over repeats by powers of two, all ways side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Repeat = Callable[[int], float]
_MOST = 1 << 30  # repetitions in a stretch: what has taken no time by then does nothing


@dataclass(frozen=True, slots=True)
class Timing:
    """What a clock says.

    seconds: of one repetition, the least of all stretches. count: repetitions per stretch. stretches: the seconds per
    repetition of each, in the order in which they ran.
    """

    seconds: float
    count: int
    stretches: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Effort:
    """How patiently to time.

    shortest: seconds that a stretch lasts at least. Short ones, as long as the clock can tell them: on a machine that
    does other things too, a long one is always disturbed. rounds: stretches of each way. most: seconds after which a
    way needs no more of them, once it has had three.
    """

    shortest: float = 0.002
    rounds: int = 60
    most: float = 2.0


def race(repeats: Sequence[Repeat], effort: Effort) -> list[Timing]:
    """Time several ways in turns, so that what disturbs the machine disturbs them all.

    repeats: each takes a number of repetitions and gives the seconds that they took. The number is doubled until a
    stretch lasts `effort.shortest`, and not for once, which also warms up; then come the rounds.

    >>> race([lambda count: 0.5 * count], Effort(shortest=1.0, rounds=2))
    [Timing(seconds=0.5, count=2, stretches=(0.5, 0.5))]
    """
    counts = [_enough(repeat, effort.shortest) for repeat in repeats]
    stretches: list[list[float]] = [[] for _ in repeats]
    for _ in range(effort.rounds):
        for repeat, count, found in zip(repeats, counts, stretches, strict=True):
            if len(found) < 3 or sum(found) * count < effort.most:
                found.append(repeat(count) / count)
    return [Timing(min(s), n, tuple(s)) for s, n in zip(stretches, counts, strict=True)]


def _enough(repeat: Repeat, shortest: float) -> int:
    """Repetitions that last long enough, and do so again: the first time, something else may have taken the time."""
    count = 1
    while count < _MOST and (repeat(count) < shortest or repeat(count) < shortest / 2):
        count *= 2
    return count
