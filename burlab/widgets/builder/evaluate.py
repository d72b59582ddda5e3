"""Values and gradients of a document: blocks one after another, each by a small replayed kernel and its vjp.

A kernel is for a kind, its options, and the shapes and dtypes of its arguments; the last few thousand are kept. So an
edit makes at most the kernels of the blocks that it gives another form, and nothing is compiled.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.errors import ArgumentError, BurlabError, ShapeError
from burlab.graph import Graph, Node, tree
from burlab.graph.autodiff import sweep
from burlab.graph.node import as_node
from burlab.graph.origin import location
from burlab.graph.tracing.trace import Spec, Static, spec_of, trace
from burlab.runtime.coerce import Array

from .block_palette import WEIGHTS, kind_of
from .document import Document, GraphBlock
from .kinds import Options
from .literals import written

Value = Any  # an array or a number
_MAX_ELEMENTS = 1 << 22  # elements of one value: 32 MB


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The results of a document, by key of block.

    values: of all blocks that could be computed. gradients: of the output by each value that is floating and that the
    output depends on; zeros for inputs that it does not depend on. weights: the norm of the gradient by the parameters
    of a layer. faults: why a block has no value; waiting: blocks that wait for others, or have open arguments. odd:
    where inf and nan begin. note: why there are no gradients.
    """

    values: Mapping[int, Value] = field(default_factory=dict[int, Value])
    gradients: Mapping[int, Value] = field(default_factory=dict[int, Value])
    weights: Mapping[int, float] = field(default_factory=dict[int, float])
    faults: Mapping[int, str] = field(default_factory=dict[int, str])
    waiting: Mapping[int, str] = field(default_factory=dict[int, str])
    odd: Mapping[int, str] = field(default_factory=dict[int, str])
    note: str = ""


def evaluate(document: Document) -> Evaluation:
    """Values of all blocks, and gradients of the output.

    >>> document, x = Document().add("input", options={"value": 3.0})
    >>> document, y = document.add("square", [x])
    >>> result = evaluate(document)
    >>> float(result.values[y]), float(result.gradients[x])
    (9.0, 6.0)
    """
    with np.errstate(all="ignore"):
        return _Sweep(document).done()


@dataclass(frozen=True, slots=True)
class _Kernel:
    """Of one kind and form.

    moving: which arguments have gradients; pull: these, from the arguments and the gradient by the result, where there
    are any. weak: whether its result is a number that widens no dtype.
    """

    value: Executable
    pull: Executable | None
    moving: tuple[int, ...]
    weak: bool


class _Sweep:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.values: dict[int, Any] = {}  # numbers of Python where they widen no dtype, as in NumPy
        self.kernels: dict[int, tuple[_Kernel, list[Any]]] = {}
        self.faults: dict[int, str] = {}
        self.waiting: dict[int, str] = {}
        self.odd: dict[int, str] = {}

    def done(self) -> Evaluation:
        for key in self.document.order:
            self._forward(key, self.document.blocks[key])
        gradients, weights, note = self._backward()
        return Evaluation(self.values, gradients, weights, self.faults, self.waiting, self.odd, note)

    def _forward(self, key: int, block: GraphBlock) -> None:
        names = [block.of.port(k) for k, x in enumerate(block.operands) if x is None]
        missing = [self.document.blocks[x].name for x in block.operands if x is not None and x not in self.values]
        if names or missing:
            self.waiting[key] = f"connect {', '.join(names)}" if names else f"waits for {', '.join(missing)}"
            return
        try:
            self.values[key] = known(block) if block.of.is_leaf else self._computed(key, block)
        except (BurlabError, ValueError, TypeError, IndexError, ArithmeticError) as error:
            met = [describe_shape(np.shape(self.values[x])) for x in block.operands if x is not None]
            words = f"{' met '.join(met)}. " if isinstance(error, ShapeError) and len(set(met)) > 1 else ""
            self.faults[key] = words + _reason(error)
            return
        self._note_non_finite(key, block)

    def _computed(self, key: int, block: GraphBlock) -> Any:
        operands = [self.values[x] for x in block.operands if x is not None]
        form = tuple((name, None if name == WEIGHTS else value) for name, value in block.options)
        kernel = _kernel(block.kind, form, tuple(spec_of(x) for x in operands))
        arrays = [*_leaves(block), *(x for x in operands if type(x) is not int)]
        self.kernels[key] = kernel, arrays
        (value,) = kernel.value(*arrays)
        return value.item() if kernel.weak else value

    def _note_non_finite(self, key: int, block: GraphBlock) -> None:
        """Describe the origin of a value that is not finite."""
        if _finite(self.values[key]) or not all(_finite(self.values[x]) for x in block.operands if x is not None):
            return
        array = np.asarray(self.values[key])
        what = "nan" if np.isnan(array).any() else "inf"
        self.odd[key] = f"{what} begins here" if array.ndim == 0 else f"{what} begins here, in {_count(array)}"

    def _backward(self) -> tuple[dict[int, Any], dict[int, float], str]:
        root, weights = self.document.root, dict[int, float]()
        note = self._no_gradient(root)
        if note or root is None:
            return {}, weights, note
        received: dict[int, Any] = {root: np.ones((), np.asarray(self.values[root]).dtype)[()]}
        for key in reversed(self.document.order):
            if key in received and key in self.kernels:
                own, shares = self._pulled(key, received[key])
                for source, share in shares:
                    received[source] = received[source] + share if source in received else share
                if own:
                    weights[key] = float(np.sqrt(sum(float(np.sum(np.square(share))) for share in own)))
        for key in self.document.inputs:
            value = self.values.get(key)
            if key not in received and value is not None and _floating(value):
                received[key] = np.zeros_like(value)[()]
        return received, weights, ""

    def _pulled(self, key: int, g: Any) -> tuple[list[Any], list[tuple[int, Any]]]:
        """Gradients by the parameters of a layer, and the floating operands, each with its share; twice if it is."""
        kernel, arrays = self.kernels[key]
        if kernel.pull is None:
            return [], []
        operands = self.document.blocks[key].operands
        sources = [x for x in operands if x is not None and type(self.values[x]) is not int]
        own = len(arrays) - len(sources)
        shares = dict(zip(kernel.moving, kernel.pull(*arrays, g), strict=True))
        others = [(sources[k - own], share) for k, share in shares.items() if k >= own]
        return [share for k, share in shares.items() if k < own], others

    def _no_gradient(self, root: int | None) -> str:
        """The reason why there are no gradients of the output; empty if there are."""
        if root is None:
            return ""
        name = self.document.blocks[root].name
        if root not in self.values:
            reason = self.faults.get(root) or self.waiting[root]
            return f"the output {name} has no value: {reason}"
        shape = np.shape(self.values[root])
        if shape:
            return f"gradients are of one number, but the output {name} has shape {shape}: add sum or mean"
        return "" if _floating(self.values[root]) else f"gradients need a floating-point number, which {name} is not"


def known(block: GraphBlock) -> Value:
    """The value of an input or constant: a number of Python where it has no dtype of its own. An input is an array."""
    value, dtype = block.option("value"), block.option("dtype")
    if dtype is None and not isinstance(value, tuple):
        return value if type(value) is float else int(value) if type(value) is int else np.bool_(value)
    exact: Array = np.array(cast("Any", value))
    array: Array = exact if dtype is None else exact.astype(dtype)
    if array.dtype.kind in "ib" and not np.all(np.equal(array, exact)):
        raise ArgumentError(f"{written(value):.60} does not fit {array.dtype}. Set dtype to float64, or change it.")
    return array if array.ndim else array[()]


@lru_cache(maxsize=64)
def layer_of(kind: str, options: Options) -> Any:
    """The layer of a block."""
    return cast("Any", kind_of(kind).layer)(**dict(options))


def rule_of(kind: str, options: Options) -> Callable[..., Any]:
    """Return the function of traced values that a block computes."""
    row = kind_of(kind)
    if row.layer is not None:
        return row.rule
    named = dict(options)

    def rule(*xs: Any) -> Any:
        return row.rule(*(as_node(x) for x in xs), **named)

    return rule


def _leaves(block: GraphBlock) -> list[Any]:
    """The parameters of a layer; none of anything else."""
    return [] if block.of.layer is None else tree.flatten(layer_of(block.kind, block.options))[0]


@lru_cache(maxsize=4096)
def _kernel(kind: str, options: Options, specs: tuple[Spec | Static, ...]) -> _Kernel:
    layer = () if kind_of(kind).layer is None else (layer_of(kind, options),)
    traced = trace(rule_of(kind, options), (*layer, *(_example(spec) for spec in specs)))
    inputs, outputs = traced.graph.inputs, traced.graph.outputs
    if not traced.result.is_leaf():
        raise ShapeError(f"{kind} gives {len(outputs)} results, expected one.")
    y = outputs[0]
    largest = max(traced.graph.nodes, key=lambda n: n.size)
    if largest.size > _MAX_ELEMENTS:
        raise ShapeError(f"a value of shape {largest.shape} is too large to look at. Use smaller sizes here.")
    moving = [k for k, x in enumerate(inputs) if x.dtype.kind == "f"] if y.dtype.kind == "f" else []
    pull = None
    if moving:
        g = Node("input", (), "g", y.shape, y.dtype)
        shares = sweep.vjp([y], [inputs[k] for k in moving], [g])
        pull = build(Graph((*inputs, g), tuple(shares)), gear="replay")
    value = build(traced.graph, gear="replay")
    return _Kernel(value, pull, tuple(moving), y.weak and not y.shape and y.dtype == np.float64)


def _example(spec: Spec | Static) -> Any:
    if isinstance(spec, Static):
        return spec.value
    return 0.0 if spec.weak else np.zeros(spec.shape, spec.dtype)


def describe_shape(shape: tuple[int, ...]) -> str:
    """Return a shape in words.

    >>> [describe_shape(shape) for shape in ((), (3,), (2, 4), (2, 3, 4))]
    ['one number', '3 numbers', '2 rows of 4', 'an array of 2 x 3 x 4']
    """
    if len(shape) > 2:
        return f"an array of {' x '.join(map(str, shape))}"
    return ("one number", "{} numbers", "{} rows of {}")[len(shape)].format(*shape)


def _reason(error: Exception) -> str:
    """A node's error without a line of the user's code, because there is none."""
    text = str(error).removeprefix(location())
    return text[:1].upper() + text[1:] if text else type(error).__name__


def _floating(value: Any) -> bool:
    return np.asarray(value).dtype.kind == "f"


def _finite(value: Any) -> bool:
    return bool(np.all(np.isfinite(value)))


def _count(array: Array) -> str:
    return f"{int(np.sum(~np.isfinite(array)))} of {array.size} entries"
