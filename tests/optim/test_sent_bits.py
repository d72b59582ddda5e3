"""The bits of every rule for clients, against a twin that lists the messages of a round and counts what is in them."""

import math

import numpy as np
import pytest

import burlab as bl
from burlab import optim
from burlab.optim import Optimizer
from tests.optim.federated_cases import FEDERATED, SIZES, X0, D, loss, problem

M, STEPS = len(SIZES), 12
CLIENT_RULES = [
    name
    for name in optim.__all__
    if isinstance(kind := getattr(optim, name), type)
    and issubclass(kind, Optimizer)
    and kind.__module__.startswith("burlab.optim.distributed")
]


class Message:
    """Message of one client to one receiver. numbers: floats that travel; places: positions among so many entries."""

    def __init__(self, numbers: int, places: int = 0, among: int = 1) -> None:
        self.numbers, self.places, self.among = numbers, places, among

    def bits(self, width: int) -> int:
        return self.numbers * width + self.places * math.ceil(math.log2(self.among))


def whole(count: int = M) -> list[Message]:
    return [Message(D)] * count


def some(k: int, count: int = M) -> list[Message]:
    """Entries at places that the server draws, too: their numbers alone travel."""
    return [Message(k)] * count


def largest(k: int, count: int = M, among: int = D) -> list[Message]:
    return [Message(k, k, among)] * count


HESSIAN = D * (D + 1) // 2
TWINS = {  # the messages of a round; of a rule with two kinds of rounds, both
    "DCGD": [some(3)],
    "DIANA": [some(3)],
    "EF21": [largest(2)],
    "EF21PP": [largest(2, count=2)],
    "EF21W": [largest(2)],
    "MARINA": [whole(), some(3)],
    "PPMARINA": [whole(), some(3, count=2)],
    "VRMARINA": [whole(), some(3)],
    "DASHA": [whole(), some(3)],
    "FedNL": [[*largest(4, among=HESSIAN), *whole(), *[Message(1)] * M]],
    "MoNNA": [whole(M * (M - 1))],
    "RobustGD": [whole()],
    "GradientCoding": [whole(M - 2)],
    "DiLoCo": [whole()],
    "FedAvg": [whole()],
    "FedProx": [whole()],
    "SCAFFOLD": [[*whole(), *whole()]],
}


def test_every_rule_for_clients_has_a_twin():
    assert set(CLIENT_RULES) == set(TWINS) == set(FEDERATED)


@pytest.mark.parametrize(
    ("name", "width"), [*((name, 64) for name in CLIENT_RULES), ("FedAvg", 32), ("EF21", 32), ("MoNNA", 32)]
)
def test_the_bits_of_a_round_are_those_of_its_messages(name, width):
    x0 = X0 if width == 64 else X0.astype(np.float32)
    kind = np.float64 if width == 64 else np.float32
    rng = np.random.default_rng(1)
    data = [(rng.normal(size=(n, D)).astype(kind), np.ones(n, kind)) for n in SIZES]
    f = problem() if width == 64 else bl.problems.federated(loss, data)
    run = bl.minimize(f, x0, FEDERATED[name], steps=STEPS, seed=3)
    rounds = np.diff(run.history["bits"], prepend=0.0)
    kinds = [sum(message.bits(width) for message in messages) for messages in TWINS[name]]
    assert set(rounds) == set(kinds), f"{name} logs {sorted(set(rounds))}, its messages have {kinds}"
    assert run.counts["bits"] == rounds.sum() > 0
