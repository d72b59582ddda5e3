"""The clock: powers of two, turns, the minimum."""

from burlab.bench.clock import Effort, race


class Variant:
    """Takes a stated time for each repetition, more at first, and writes down who was asked for how many."""

    def __init__(self, name: str, log: list[tuple[str, int]], seconds: list[float]):
        self.name, self.log, self.seconds = name, log, seconds

    def __call__(self, count: int) -> float:
        self.log.append((self.name, count))
        return count * (self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0])


def test_variants_alternate_once_counts_are_doubled_to_a_measurable_time():
    log: list[tuple[str, int]] = []
    fast, slow = race([Variant("fast", log, [1.0]), Variant("slow", log, [3.0])], Effort(shortest=4.0, rounds=2))
    found = [("fast", 1), ("fast", 2), ("fast", 4), ("fast", 4), ("slow", 1), ("slow", 2), ("slow", 2)]
    assert log == [*found, ("fast", 4), ("slow", 2), ("fast", 4), ("slow", 2)]
    assert (fast.count, slow.count) == (4, 2)
    assert (fast.seconds, slow.seconds) == (1.0, 3.0)


def test_slow_variant_is_measured_three_times():
    log: list[tuple[str, int]] = []
    long, short = race(
        [Variant("long", log, [9.0]), Variant("short", log, [1.0])], Effort(shortest=1.0, rounds=8, most=5.0)
    )
    assert (len(long.measurements), len(short.measurements)) == (3, 5)


def test_the_minimum_counts_and_all_measurements_are_stored():
    (timing,) = race([Variant("variant", [], [9.0, 9.0, 2.0, 1.5, 4.0])], Effort(shortest=1.0, rounds=3))
    assert timing.seconds == 1.5
    assert timing.measurements == (2.0, 1.5, 4.0)


def test_slow_repetitions_make_no_short_measurements():
    """They may have been disturbed; repetitions whose start costs something would then look slow to the end."""
    log: list[tuple[str, int]] = []
    (timing,) = race([Variant("variant", log, [9.0, 9.0, 9.0, 1.0])], Effort(shortest=8.0, rounds=3, most=99.0))
    assert timing.count == 8
    assert timing.seconds == 1.0
