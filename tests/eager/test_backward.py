"""Sweeps: many on one root, many roots, far apart, deep, accumulated; against an independent engine."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from micrograd import engine

from burlab.eager import Tape, Value


def close(got: list[float], wanted: list[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) for a, b in zip(got, wanted, strict=True))


def test_a_thousand_backwards_on_one_root_give_the_same():
    a, b = Value(-41.0), Value(2.0)
    g = ((a + b) - (a * b + b**3)) ** 2 / 2
    g.backward()
    first = a.grad, b.grad
    for _ in range(1000):
        g.backward()
        assert (a.grad, b.grad, g.grad) == (*first, 1.0)


def test_two_roots_on_one_tape_have_gradients_of_their_own():
    x, y = Value(3.0), Value(5.0)
    shared = x * y
    f, g = shared + x, shared * shared
    for _ in range(3):
        f.backward()
        assert (x.grad, y.grad, shared.grad) == (y.data + 1, x.data, 1.0)
        g.backward()
        assert (x.grad, shared.grad) == (2 * shared.data * y.data, 2 * shared.data)


def test_unreached_values_keep_their_gradients():
    x, y = Value(3.0), Value(5.0)
    (x * x).backward()
    (y * y).backward()
    assert (x.grad, y.grad) == (6.0, 10.0)


def test_an_older_root_below_newer_nodes():
    x = Value(3.0)
    square = x * x
    cube = square * x
    square.backward()
    assert (x.grad, cube.grad) == (6.0, 0.0)


def test_a_leaf_is_its_own_root():
    x = Value(3.0)
    x.backward()
    x.backward()
    assert x.grad == 1.0
    x.backward(accumulate=True)
    assert x.grad == 2.0


def test_accumulating_adds_this_roots_gradients_to_all_it_reaches():
    x, y = Value(3.0), Value(5.0)
    shared = x * y
    f, g = shared + x, shared * x
    f.backward()
    of_f = [v.grad for v in (x, y, shared)]
    g.backward()
    of_g = [v.grad for v in (x, y, shared)]
    f.backward()
    g.backward(accumulate=True)
    assert [v.grad for v in (x, y, shared)] == [a + b for a, b in zip(of_f, of_g, strict=True)]
    assert (f.grad, g.grad) == (1.0, 2.0)
    g.backward(True)
    assert [v.grad for v in (x, y, shared)] == [a + 2 * b for a, b in zip(of_f, of_g, strict=True)]
    assert g.grad == 3.0


def test_ten_thousand_names_of_one_node():
    x = Value(2.0)
    names = [x for _ in range(10_000)]
    y = x * 3
    again = [next(iter(y._prev)) for _ in range(10_000)]
    assert all(one is x for one in names + again)
    y.backward()
    assert {one.grad for one in again} == {3.0}


def test_a_node_whose_name_has_died_gets_a_new_one():
    x = Value(2.0)
    y = (x * 3) * 5
    (middle,) = y._prev
    y.backward()
    assert (middle.data, middle.grad, x.grad) == (6.0, 5.0, 15.0)
    assert y._prev == {middle}


def test_a_chain_of_a_million_nodes():
    x = Value(1.0)
    y = x
    for _ in range(1_000_000):
        y = y + 1e-6
    y.backward()
    assert (round(y.data, 6), x.grad) == (2.0, 1.0)
    held = [x]
    for _ in range(1_000_000):
        held.append(held[-1] * 1.0)
    held[-1].backward(accumulate=True)
    assert {value.grad for value in (held[1], held[500_000])} == {1.0}
    del held, y


def test_an_old_root_below_a_million_foreign_nodes_is_found_at_once():
    x, y = Value(3.0), Value(4.0)
    foreign = [y]
    base = x * y
    for _ in range(300_000):
        foreign.append(foreign[-1] * 1.0)
    root = base * x + base.tanh() + base
    with_gap = Value(3.0), Value(4.0)
    compact = with_gap[0] * with_gap[1]
    wanted = compact * with_gap[0] + compact.tanh() + compact
    for accumulate in (False, True):
        root.backward(accumulate)
        wanted.backward(accumulate)
        assert (x.grad, y.grad, base.grad) == (with_gap[0].grad, with_gap[1].grad, compact.grad)
    assert foreign[-1].grad == 0.0


OPERATIONS: list[Callable[[Any, Any], Any]] = [
    lambda x, _: x + 0.5,
    lambda x, _: 2.0 - x,
    lambda x, _: x * -0.75,
    lambda x, _: x**2 / 4,
    lambda x, _: x.relu(),
    lambda x, _: 1.5 / (x * x + 1),
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y * 0.3,
    lambda x, y: x / (y * y + 1),
]


class Twin:
    """The same expressions built in burlab and in micrograd, whose handles live and die together."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.alive = [self.leaf() for _ in range(4)]
        self.parameters = list(self.alive)

    def leaf(self) -> tuple[Any, Any]:
        number = self.random.uniform(-2, 2)
        return Value(number), engine.Value(number)

    def grow(self, steps: int) -> None:
        for _ in range(steps):
            if self.random.random() < 0.05:
                self.alive.append(self.leaf())
                continue
            (x, u), (y, v) = self.random.choice(self.alive), self.random.choice(self.alive)
            operation = self.random.choice(OPERATIONS)
            node = operation(x, y), operation(u, v)
            if abs(node[1].data) < 1e6:
                self.alive.append(node)
            while len(self.alive) > 12 or (len(self.alive) > 4 and self.random.random() < 0.4):
                self.alive.pop(self.random.randrange(len(self.alive)))  # handles die in any order

    def check(self) -> int:
        ours, theirs = self.random.choice(self.alive)
        forget(theirs)
        for value, twin in [*self.alive, *self.parameters]:
            value.grad, twin.grad = 0, 0
        ours.backward()
        theirs.backward()
        everyone = [*self.alive, *self.parameters]
        assert close([value.data for value, _ in everyone], [twin.data for _, twin in everyone])
        assert close([value.grad for value, _ in everyone], [twin.grad for _, twin in everyone])
        return len(everyone)


def forget(root: Any) -> None:
    """Set the gradients of a micrograd graph to zero."""
    stack, seen = [root], set()
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            node.grad = 0
            stack.extend(node._prev)


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_whose_handles_die_at_random(seed: int):
    twin = Twin(seed)
    compared = 0
    for _ in range(60):
        twin.grow(40)
        compared += twin.check()
    assert compared > 500


@pytest.mark.parametrize("seed", range(3))
def test_random_graphs_on_a_tape_of_their_own_that_is_rewound(seed: int):
    with Tape() as tape:
        twin = Twin(seed)
        mark = tape.mark()
        for _ in range(20):
            twin.grow(40)
            twin.check()
            twin.alive = list(twin.parameters)
            tape.rewind(mark)
        assert len(tape) == 4
