"""The default tape stays small whatever is rebuilt on it; what is measured is what is allocated."""

import gc
import math
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import burlab as bl
from burlab.eager import Tape, Value


@pytest.fixture
def tape() -> Iterator[Tape]:
    """A tape that reclaims as the default one does, but that no other test has used."""
    with Tape.reclaiming() as tape:
        yield tape


def tiny(a: Value, b: Value) -> Value:
    return ((a + b) - (a * b + b**3)) ** 2 / 2


def peak(tape: Tape, rebuild: Callable[[int], Any], rounds: int) -> int:
    """The most bytes that the tape held at a thousand moments of the rebuilding."""
    most = 0
    for k in range(rounds):
        rebuild(k)
        if k % (rounds // 1000) == 0:
            most = max(most, sum(tape.nbytes.values()))
    return most


def test_a_million_rebuilds_with_held_parameters_stay_flat(tape: Tape):
    a, b = Value(-41.0), Value(2.0)

    class Loop:
        loss = tiny(a, b)

        def __call__(self, k: int) -> None:
            self.loss = tiny(a, b)  # the new graph lies on top before the old root dies
            self.loss.backward()

    wanted = None
    assert peak(tape, Loop(), 1_000_000) < 100_000
    tiny(a, b).backward()
    wanted = a.grad, b.grad
    assert wanted == (-35.0, 1050.0)


def test_a_million_rebuilds_with_held_middle_nodes_stay_flat(tape: Tape):
    a, b = Value(-41.0), Value(2.0)
    middle = a * b
    kept: list[Value] = []

    def rebuild(k: int) -> None:
        nonlocal middle
        inner = a + b
        root = (inner - middle) ** 2
        root.backward()
        if k % 1000 == 0:
            kept.append(inner)
        if k % 10 == 0:
            middle = a * b

    assert peak(tape, rebuild, 1_000_000) < 1_000_000
    assert {value.data for value in kept} == {-39.0}


def test_only_the_last_hundred_losses_are_retained(tape: Tape):
    a, b = Value(1.0), Value(2.0)
    last: deque[Value] = deque(maxlen=100)
    assert peak(tape, lambda k: last.append(tiny(a, b) + float(k)), 200_000) < 1_000_000
    assert [value.data for value in last] == [tiny(a, b).data + k for k in range(199_900, 200_000)]


def test_resident_memory_stays_flat():
    resource = pytest.importorskip("resource")
    a, b = Value(-41.0), Value(2.0)
    roots = [tiny(a, b)]
    for _ in range(100_000):
        roots[0] = tiny(a, b)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1_000_000):
        roots[0] = tiny(a, b)
        roots[0].backward()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2048  # kilobytes


def test_wide_nodes_are_reclaimed_with_their_edges(tape: Tape):
    from burlab.eager import value_functions as f

    weights = [Value(float(k)) for k in range(50)]
    held: list[Value] = []

    def rebuild(k: int) -> None:
        value = f.dot(weights, weights) + f.sum_of_squares(weights)
        if k % 500 == 0:
            held.append(value)

    assert peak(tape, rebuild, 20_000) < 1_000_000
    for value in (held[0], held[-1]):
        value.backward()
        assert [w.grad for w in weights] == [4.0 * k for k in range(50)]


def test_memory_comes_back_when_a_big_graph_dies(tape: Tape):
    x = Value(1.0)
    chain = [x]
    for _ in range(500_000):
        chain.append(chain[-1] * 1.0)
    assert sum(tape.nbytes.values()) > 500_000 * 64
    del chain
    for _ in range(2_000_000):
        y = x + 1.0  # noqa: F841 - what is held while it is made again
    assert sum(tape.nbytes.values()) < 1_000_000


def test_the_length_counts_nodes(tape: Tape):
    a = Value(1.0)
    b = a + 1 + 2
    assert len(tape) == 3
    del b
    assert len(tape) == 1
    del a
    assert len(tape) == 0


def test_bytes_by_kind_are_what_the_counts_need():
    with Tape() as tape:
        assert tape.nbytes == {"nodes": 0, "edges": 0, "labels": 0, "values": 0}
        xs = [Value(float(k)) for k in range(1000)]
        nodes = tape.nbytes["nodes"]
        assert nodes == 64 * 2 ** math.ceil(math.log2(1001))
        assert tape.nbytes["values"] == 1000 * sys.getsizeof(xs[0])
        bl.sum_of_squares(xs)
        assert tape.nbytes["edges"] == 16 * 1000
        assert tape.nbytes["nodes"] == nodes
        for x in xs:
            x.label = "x"
        assert 16 * 1000 <= tape.nbytes["labels"] <= 16 * 2048
        assert "bytes" in repr(tape)


def test_bytes_are_those_that_malloc_gave():
    """The allocator's own count before and after: nodes, edges and labels."""
    import ctypes

    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        pytest.skip("glibc's mallinfo2 is not there")

    class Info(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd us fs uordblks f k".split()]

    library.mallinfo2.restype = Info

    def used() -> int:
        gc.collect()
        info = library.mallinfo2()
        return info.uordblks + info.hblkhd

    with Tape() as tape:
        x = Value(1.0)
        before = used() - sum(tape.nbytes.values()) + tape.nbytes["values"]
        y = x
        for _ in range(300_000):
            y = y * 1.0
        bl.reduce_sum([x] * 100_000)
        measured = sum(tape.nbytes.values()) - tape.nbytes["values"]
        assert measured > 300_000 * 64
        assert used() - before == pytest.approx(measured, rel=0.02)


def test_calls_with_keywords_or_of_the_wrong_kind_leave_nothing_behind(tape: Tape):
    text = "a label that only this test knows"

    def use() -> None:
        Value(1.0, label=text), Value(data=1.0, label=text), Value(1.0, text)
        for wrong in ((), ("one",), (1.0, text, text)):
            with pytest.raises(TypeError):
                Value(*wrong)
        with pytest.raises(TypeError):
            Value(1.0, colour=text)  # pyright: ignore[reportCallIssue]

    for _ in range(300):  # more than the dead Values that a tape keeps
        use()
    gc.collect()
    labels, blocks = sys.getrefcount(text), sys.getallocatedblocks()
    for _ in range(200):
        use()
    gc.collect()
    assert sys.getrefcount(text) == labels
    assert sys.getallocatedblocks() - blocks < 100
