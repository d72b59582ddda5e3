"""A run on a document: its inputs and the parameters of its layers move; its constants are sliders.

A slider has to act on the loss while C++ does steps. So a constant is an entry of x with a gradient of zero, which a
wrapper around the optimizer sets to a live hyperparameter in every step. Seek, fork and the log of changes then hold
for it as for any other; a change shows in the value one step later.
"""

import keyword
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, make_dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, GraphError
from burlab.graph import tree
from burlab.optim import Hyper, Optimizer, Wrapper
from burlab.run import Run
from burlab.run.record.engine import COLUMNS
from burlab.runtime.checks.numbers import shown
from burlab.transforms import stop_gradient

from .block_palette import WEIGHTS
from .document import Document, GraphBlock
from .evaluate import evaluate, known, layer_of
from .exporting import check, computed, needed

_Point = dict[str, Any]


@dataclass(frozen=True)
class Held(Wrapper):
    """The inner optimizer updates x, and then some of its entries are set to fixed values.

    held: field -> the entry of x that it sets. A document has a class of its own, with a live field for each slider.
    """

    held: tuple[tuple[str, int], ...]

    def update(self, g: Any, state: Any, x: Any, t: int, *, f: Any) -> tuple[Any, Any]:
        """The inner step, and the entries that are held."""
        new, state = self.advance(g, state, x, t, f)
        places, numpy = np.arange(int(x.size)), cast("Any", np)
        for name, at in self.held:
            new = numpy.where(places == at, getattr(self, name), new)
        return new, state


@dataclass(frozen=True)
class Problem:
    """A document as something to minimize.

    start: where x starts, by name: inputs and layers. sliders: the numbers of constants, by name. names: of all blocks.
    """

    document: Document
    root: int
    names: Mapping[int, str]
    start: _Point
    sliders: Mapping[str, float]

    @staticmethod
    def of(document: Document) -> "Problem":
        """Raises GraphError where the output has no value, ArgumentError where it has no gradient or nothing moves."""
        root = check(document)
        if note := evaluate(document).note:
            raise ArgumentError(f"{note}. Minimizing needs the gradients.")
        keys = needed(document, root)
        names = _names(document, keys)
        start = {names[key]: x for key in keys if (x := _movable(document.blocks[key])) is not None}
        if not start:
            raise ArgumentError("nothing can move: the output depends on no floating input and no layer. Add an input.")
        numbers = {names[key]: known(document[key]) for key in keys if document[key].kind == "constant"}
        return Problem(document, root, names, start, {n: x for n, x in numbers.items() if type(x) is float})

    @property
    def point(self) -> _Point:
        """All entries of x: what moves, and the sliders."""
        return {**self.start, **self.sliders}

    def found(self, document: Document, run: Run) -> Document:
        """A document with the values of a run on this one, at all blocks that are there still.

        Raises GraphError if the sizes of a layer have changed.
        """
        x = cast("_Point", run.x)
        for key, name in self.names.items():
            if key not in document.blocks or name not in self.point:
                continue
            block = document[key]
            if name in self.sliders:
                document = document.edit(key, "value", run.hyper[name])
            elif block.of.layer is None:
                document = document.edit(key, "value", x[name])
            elif _untrained(block) != _untrained(self.document[key]):
                raise GraphError(f"{block.name} is another layer than the one in the run. Minimize again.")
            else:
                document = document.edit(key, WEIGHTS, [leaf.tolist() for leaf in tree.flatten(x[name])[0]])
        return document

    def loss(self, x: _Point) -> Any:
        """The output, for all entries of x."""
        given = {n: stop_gradient(x[n]) if n in self.sliders else x[n] for n in self.point}
        return computed(self.document, self.root, {key: given[n] for key, n in self.names.items() if n in given})


def _untrained(block: GraphBlock) -> list[Any]:
    """A layer but for its weights."""
    return [block.kind, *(option for option in block.options if option[0] != WEIGHTS)]


def problem_of(run: Any) -> Problem:
    """Return the problem of a run of `GraphBuilder.minimize`. Raises ArgumentError for other runs."""
    found = getattr(getattr(run, "problem", None), "__self__", None)
    if not isinstance(found, Problem):
        raise ArgumentError(f"a run of this builder was expected, as its minimize() gives, got {shown(run)}.")
    return found


def _movable(block: GraphBlock) -> Any:
    """Return the value that the optimizer updates: a layer, or a floating input; None for other blocks."""
    if block.of.layer is not None:
        return layer_of(block.kind, block.options)
    return x if block.kind == "input" and (x := np.asarray(known(block))).dtype.kind == "f" else None


def held(optimizer: Optimizer, problem: Problem) -> Optimizer:
    """An optimizer that holds the entries of x which are sliders. It has the name of the one that it wraps."""
    sliders = problem.sliders
    if not sliders:
        return optimizer
    leaves, structure = tree.flatten(problem.point)
    ends = np.cumsum([0, *(np.size(leaf) for leaf in leaves)])
    first = tree.unflatten(structure, [int(end) for end in ends[:-1]])
    fields = [(name, Hyper, value) for name, value in sliders.items()]
    made = make_dataclass(type(optimizer).__name__, cast("Any", fields), bases=(Held,), frozen=True)
    return made(optimizer, tuple((name, first[name]) for name in sliders))


def _names(document: Document, keys: Iterable[int]) -> dict[int, str]:
    """A name for each block that is unique, an identifier, and no column of a history."""
    found: dict[int, str] = {}
    taken = {*COLUMNS, "validation_value", "inner", "held"}
    for key in keys:
        block = document.blocks[key]
        word = re.sub(r"\W+", "_", block.label or block.kind.removeprefix("nn.")).strip("_") or "x"
        word = f"x{word}" if word[0].isdigit() or keyword.iskeyword(word) else word
        name, count = word, 1
        while name in taken:
            count += 1
            name = f"{word}_{count}"
        taken.add(name)
        found[key] = name
    return found
