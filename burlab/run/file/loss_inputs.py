"""Inputs of losses besides x and samples, as files hold them: hyperparameters, and the state of the loss."""

from typing import Any

import numpy as np

from burlab.errors import FileError
from burlab.graph import tree
from burlab.problems.kernels.loss_state import StateForm
from burlab.run.loop.setup import NumbersOfLoss
from burlab.runtime.coerce import Array

from . import structure


def stored_hypers(names: list[str], values: Array | None) -> dict[str, float]:
    """Return the hyperparameters at step 0 by name."""
    found = None if values is None else (values.shape, values.dtype)
    if values is None or found != ((len(names),), np.float64) or len(set(names)) < len(names):
        raise FileError(f"it has not one number for each of the hyperparameters {', '.join(names)}. Use another copy.")
    return dict(zip(names, values.tolist(), strict=True))


def query_of(groups: list[int], state: StateForm | None) -> str:
    """Return the query that the kernels of steps are for. groups: how many arrays each of their outputs has."""
    if (len(groups) > len(("value", "gradient", "metrics"))) != (state is not None):
        raise FileError("the state of its loss does not fit its kernels. Use another copy.")
    blind = groups[1:2] == [0]
    if state is not None:
        return "stateful_value" if blind else "stateful"
    return ("value_like", "training", "measured_value" if blind else "measured")[len(groups) - 1]


def parted(start: list[Array], described: Any) -> tuple[list[Array], list[Array], StateForm | None]:
    """Split what a run begins with: arrays of x and the optimizer, those of the state of the loss, and its form."""
    if described is None:
        return start, [], None
    count, text = described
    if count >= len(start):
        raise FileError(f"the state of its loss has {count} arrays of {len(start)}, with x. Use another copy.")
    own, leaves = start[: len(start) - count], start[len(start) - count :]
    return own, leaves, StateForm(structure_of(text, count), tuple((leaf.shape, leaf.dtype) for leaf in leaves))


def inputs_of(
    described: Any, hyper: dict[str, float], leaves: list[Array], state: StateForm | None
) -> tuple[NumbersOfLoss | None, tuple[Array, ...]]:
    """Return inputs of losses besides x and samples, None where they have none, and those of step 0."""
    if described is None:
        if state is not None:
            raise FileError("the state of its loss is read by none. Use another copy.")
        return None, ()
    first, count, reads_step = described
    if not (first >= 0 and count >= 0 and first + count <= len(hyper)):
        raise FileError(f"its losses read hyperparameters {first} to {first + count}, but it has {len(hyper)}.")
    numbers = NumbersOfLoss(first, count, reads_step, state)
    return numbers, tuple(numbers.start(hyper, leaves).leaves)


def structure_of(text: Any, leaves: int) -> tree.TreeDef:
    """The structure of the state; a tuple of its leaves where its class is not there."""
    try:
        form = structure.from_json(text)
    except FileError:
        form = tree.flatten((0,) * leaves)[1]
    if form.num_leaves != leaves:
        raise FileError(f"its state has {leaves} arrays, and a structure of {form.num_leaves}. Use another copy.")
    return form
