"""The experiments, by name. Each is a module with a `CASE`."""

from functools import cache
from importlib import import_module

from burlab.bench.problem import Case
from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

NAMES = (
    "tiny",
    "micrograd",
    "save",
    "load",
    "mlp",
    "gpt",
    "energy",
    "start",
    "growth",
    "threads",
    "device",
    "gradbench",
    "research",
    "numbers",
    "contrast",
    "sparse",
)
_MODULES = {  # where a module has another name
    "gpt": "paper_gpt",
    "numbers": "other_numbers",
    "contrast": "contrastive_loss",
    "sparse": "sparse_training",
}
_PAPER = dict(zip((f"exp{k}" for k in range(1, 8)), NAMES, strict=False))  # the first seven, by the paper's numbers


@cache
def find(name: str) -> Case:
    """The case with this name, or number in the paper; ArgumentError, with the names there are, where there is none.

    >>> find("tiny").unit, find("exp6").name
    ('gradient', 'gpt')
    """
    name = _PAPER.get(name, name)
    if name not in NAMES:
        raise ArgumentError(
            f"the case must be one of {', '.join(NAMES)}, or exp1 to exp7 for the first ones; got {shown(name)}."
        )
    case: Case = import_module(f".{_MODULES.get(name, name)}", __name__).CASE
    return case
