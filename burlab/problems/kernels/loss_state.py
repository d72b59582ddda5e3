"""The state of a loss: a tree that it reads as `state` and returns anew in each step, such as running statistics.

Its leaves are inputs that all samples share, behind the numbers of the loss (`loss_numbers.py`), and the last outputs
of the kernel of a step. A run holds them behind the state of its optimizer.
"""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, cast

import numpy as np

from burlab.errors import ArgumentError, BurlabError, DTypeError, IndexRangeError, ShapeError
from burlab.graph import Node, tree
from burlab.graph.node import as_node, native_dtype
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.origin import Origin, is_users, place
from burlab.graph.rewrite.linear_cut import of_samples
from burlab.graph.signatures import ALL
from burlab.problems.sampling import Sampling, Stream
from burlab.runtime.coerce import Array
from burlab.runtime.plain import as_array
from burlab.transforms.call import name_of

from .sample_program import SampleProgram

Function = Callable[..., Any]


class StateForm(NamedTuple):
    """The form of a state: its structure, and shapes and dtypes of its leaves."""

    structure: tree.TreeDef
    leaves: tuple[tuple[tuple[int, ...], "np.dtype[Any]"], ...]

    @property
    def names(self) -> list[str]:
        """The path of each leaf, such as `loss_state['mean']`."""
        any_tree = tree.unflatten(self.structure, range(len(self.leaves)))
        return [f"loss_state{path}" for path in tree.leaf_names(any_tree)]

    def no_row(self, leaf: int, row: int, written: Node) -> IndexRangeError:
        """Return the error of a step that wrote a row that a leaf does not have. written: its new value."""
        where, count = f"{place(written.origin)}: " if written.origin else "", self.leaves[leaf][0][0]
        return IndexRangeError(
            f"{where}{self.names[leaf]} was written at row {row}, but it has {count} rows: use 0 to {count - 1}."
        )


class LossState:
    """The state of a loss at the start of a run.

    leaves: arrays in C order and native byte order. form: of the tree that they make.
    """

    def __init__(self, form: StateForm, leaves: Sequence[Array]) -> None:
        self.form = form
        self.leaves = tuple(leaves)

    @staticmethod
    def of(value: tree.Tree) -> "LossState":
        """Return a state that starts as this tree; its arrays are copied. Raises ArgumentError, DTypeError."""
        given, structure = tree.flatten(value)
        if not given:
            raise ArgumentError("loss_state holds no array. Pass what the loss starts from: {'mean': np.zeros(3)}.")
        names = [f"loss_state{path}" for path in tree.leaf_names(value)]
        leaves = [_held(leaf, name).copy() for leaf, name in zip(given, names, strict=True)]
        return LossState(StateForm(structure, tuple((leaf.shape, leaf.dtype) for leaf in leaves)), leaves)

    def __reduce__(self) -> Any:
        return LossState.of, (self.start,)

    @property
    def start(self) -> tree.Tree:
        """The tree that a loss starts from."""
        return self.read(self.leaves)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Examples to trace with."""
        names = (name.removeprefix("loss_") for name in self.form.names)
        return tuple(Node("input", (), name, *form) for name, form in zip(names, self.form.leaves, strict=True))

    def read(self, leaves: Sequence[Any]) -> tree.Tree:
        """Return a tree of this form."""
        return tree.unflatten(self.form.structure, leaves)

    def other(self, value: tree.Tree, name: str = "state") -> "LossState":
        """Return a state of this form with other leaves. Raises ArgumentError, ShapeError, DTypeError."""
        given, structure = tree.flatten(value)
        _check_structure(structure, self.form.structure, f"{name} is")
        leaves = [_held(leaf, f"{name}{path}") for leaf, path in zip(given, tree.leaf_names(value), strict=True)]
        for path, leaf, (shape, dtype) in zip(tree.leaf_names(value), leaves, self.form.leaves, strict=True):
            if leaf.shape != shape:
                raise ShapeError(f"{name}{path} has shape {leaf.shape}, expected {shape}, as in loss_state.")
            if leaf.dtype != dtype:
                raise DTypeError(f"{name}{path} has dtype {leaf.dtype}, expected {dtype}, as in loss_state.")
        return LossState(self.form, leaves)

    def parts(self, loss: Function, has_aux: bool) -> Function:
        """Return a loss that gives (value, (leaves of the new state, metrics)), both checked. metrics: {} without."""

        @wraps(loss, updated=())
        def of_parts(x: tree.Tree, *sample: Any, **more: Any) -> Any:
            value, new, metrics = _three(loss(x, *sample, **more), loss, has_aux)
            return value, (self._new(new, loss), metrics)

        cast("Any", of_parts).__burlab_structure__ = loss, self.form, has_aux
        return of_parts

    def _new(self, value: tree.Tree, loss: Function) -> list[Node]:
        """Return the leaves of a state that the loss returned. Raises ArgumentError, ShapeError, DTypeError."""
        given, structure = tree.flatten(value)
        where = _place_of(given, loss)
        _check_structure(structure, self.form.structure, f"{where}the state that {name_of(loss)} returned is")
        found: list[Node] = []
        for name, leaf, (shape, dtype) in zip(self.form.names, given, self.form.leaves, strict=True):
            at = _place_of([leaf], loss)
            try:
                node = as_node(leaf)
            except BurlabError:
                kind = type(leaf).__name__
                raise ArgumentError(f"{at}{name_of(loss)} returned a {kind} for {name}, expected an array.") from None
            if node.shape != shape:
                raise ShapeError(
                    f"{at}{name_of(loss)} returned shape {node.shape} for {name}, expected {shape}, as it began."
                )
            fits = node.weak and (dtype.kind, node.dtype.kind) in _WEAK
            if node.dtype != dtype and not fits:
                raise DTypeError(
                    f"{at}{name_of(loss)} returned {node.dtype} for {name}, expected {dtype}, as it began. Convert it "
                    f"with .astype(np.{dtype.name}), or begin with {node.dtype}."
                )
            found.append(as_dtype(node, dtype))
        return found


_WEAK = {("f", "f"), ("f", "i"), ("i", "i"), ("u", "i"), ("f", "b"), ("i", "b")}
"""Kinds of a leaf and of a Python number that may stand for it."""


def check_steps(form: StateForm, samples: SampleProgram, stream: Stream) -> None:
    """Raise ArgumentError for a state that steps on such batches cannot carry on. samples: the kernels of steps."""
    if stream.sampling == Sampling.weighted:
        raise ArgumentError(
            "probabilities as sampler= weight samples, and loss_state= has no weights: its mean would be another one. "
            'Use sampler="uniform".'
        )
    if stream.batch == 1 or samples.batch > 0:
        return
    graph = samples.graph
    own = of_samples(graph, [k >= samples.fixed for k in range(len(graph.inputs))])
    for name, y in zip(form.names, graph.outputs[samples.summed :], strict=True):
        if y in own and y.dtype.kind != "f":
            where = f"{place(y.origin)}: " if y.origin else ""
            raise ArgumentError(
                f"{where}{name} is {y.dtype} and depends on the sample, but a step has up to {int(stream.batch)} "
                "samples, over which states are averaged. Use batch=1, or a bl.BatchLoss, which sees the samples of a "
                "batch together."
            )


def _held(leaf: Any, name: str) -> Array:
    """Return an array of a dtype that kernels know, in C order."""
    array = as_array(leaf, name)
    dtype = native_dtype(array.dtype)
    if dtype not in ALL:
        raise DTypeError(f"{name} has dtype {array.dtype}, expected float32, float64, integers or bool.")
    return np.asarray(array, dtype, order="C")


def _three(result: Any, loss: Function, has_aux: bool) -> tuple[Any, Any, Any]:
    """Return value, state and metrics that a loss returned. Raises ArgumentError."""
    names = ("value", "state", "metrics")[: 2 + has_aux]
    parts: tuple[Any, ...] = cast("Any", result) if isinstance(result, tuple) else ()
    if len(parts) != len(names):
        kind = f"{type(cast('object', result)).__name__}{f' of {len(parts)}' if parts else ''}"
        got = "one number or array" if isinstance(result, Node) else f"a {kind}"
        raise ArgumentError(
            f"{_place_of([], loss)}with loss_state={', has_aux=True' if has_aux else ''} a loss returns "
            f"({', '.join(names)}); {name_of(loss)} returned {got}. Where it only reads the state, it returns it as it "
            "is."
        )
    value, state, *metrics = parts
    return value, state, metrics[0] if metrics else {}


def _check_structure(given: tree.TreeDef, wanted: tree.TreeDef, what: str) -> None:
    if given != wanted:
        raise ArgumentError(f"{what} {tree.describe(given)}, expected {tree.describe(wanted)}, as loss_state is.")


def _place_of(leaves: Sequence[Any], loss: Function) -> str:
    """Return the line that computed a part of a result, or that defines the loss, as the beginning of a message."""
    origins = [leaf.origin for leaf in leaves if isinstance(leaf, Node) and leaf.inputs and leaf.origin]
    found: Origin | None = origins[0] if origins else _defined(loss)
    return f"{place(found)}: " if found else ""


def _defined(loss: Function) -> Origin | None:
    own: Any = inspect.unwrap(loss)
    code = getattr(own, "__code__", None) or getattr(type(own).__call__, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None and is_users(code.co_filename) else None
