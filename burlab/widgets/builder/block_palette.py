"""The palette: every kind of block, by name. Scalar operations are those of the C++ table; all others stand here."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from burlab import functions, nn
from burlab.errors import ArgumentError, ShapeError
from burlab.graph import tree
from burlab.graph.node import UFUNCS
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import STRUCTURAL, make_node
from burlab.graph.scalar import scalar_ops
from burlab.graph.scalar_row import ScalarOp
from burlab.runtime.checks.numbers import shown
from burlab.runtime.checks.stored import either, flag, integer, matching, nothing, one_of, optional, several, whole
from burlab.runtime.dtypes import DTYPES
from burlab.transforms import random, stop_gradient

from .kinds import Kind, Option
from .literals import Literal, numbers

_np: Any = np  # whose stubs know nothing of traced values
WEIGHTS = "weights"
"""The option of a layer that holds its numbers where they are not drawn from its seed: what a run has found."""
_MAX_LAYER_SIZE = 1024  # a size of a layer: what the largest then holds is 8 MB
_AXES = Option("axis", None, optional(either(integer, several(integer))), "an axis, a list of axes, or none")
_AXIS = Option("axis", -1, integer, "an axis such as 0 or -1")
_VALUE = Option("value", 1.0, numbers, "a number such as 2.5, or a list such as [1, 2] with rows of one length")
_SCALAR_SYMBOLS = {"add": "+", "sub": "−", "mul": "×", "div": "÷", "power": "xʸ", "square": "x²", "cube": "x³"} | {
    "sqrt": "√", "neg": "−x", "abs": "|x|", "less": "<", "less_equal": "≤", "greater": ">", "greater_equal": "≥",
    "equal": "=", "not_equal": "≠", "matmul": "@", "sum": "Σ", "prod": "Π",
}  # fmt: skip
_NUMPY = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "abs": "absolute"}
SCALAR_GROUPS = ("arithmetic", "functions", "activations", "comparison")


@cache
def palette() -> dict[str, Kind]:
    """Every kind by name, in the order of the palette.

    >>> palette()["add"].ports, palette()["sum"].options[0].name
    (('x', 'y'), 'axis')
    """
    rows = [*_leaves(), *_scalars(), *_reductions(), *_products(), *_shapes(), *_losses(), *_layers(), *_primitives()]
    groups = list(dict.fromkeys(row.group for row in rows))
    return {row.name: row for row in sorted(rows, key=lambda row: groups.index(row.group))}


def kind_of(name: Any) -> Kind:
    """A kind by its name. Raises ArgumentError, with similar names, for others."""
    kinds = palette()
    if isinstance(name, str) and name in kinds:
        return kinds[name]
    import difflib

    near = difflib.get_close_matches(str(name), kinds, 3, 0.5) or ["add", "sum", "nn.Linear"]
    raise ArgumentError(f"expected a kind of block, got {shown(name)}. Similar are: {', '.join(near)}.")


def _leaves() -> Iterator[Kind]:
    kind = _choice("dtype", "float64", ("float64", "float32", "int64", "bool"))
    own = Option("dtype", None, optional(one_of(DTYPES)), "a dtype, or none for what NumPy makes of it", tuple(DTYPES))
    doc = "An argument of the function, with a value to look at; gradients are by these."
    yield Kind("input", "values", _never, (), (_VALUE, kind), doc)
    doc = "A number or array that is part of the function. 2 is a whole number, 2.0 has a derivative."
    yield Kind("constant", "values", _never, (), (_VALUE, own), doc)


def _never(*_: Any) -> Any:
    raise AssertionError("a leaf is computed from nothing")


def _scalars() -> Iterator[Kind]:
    for name, row in sorted(scalar_ops().items(), key=lambda item: SCALAR_GROUPS.index(_group(item[1]))):
        ports = ("mask", "x", "y") if row.chooses else ("x", "y", "z")[: row.arity]
        rule = _np.where if row.chooses else UFUNCS.get(_NUMPY.get(name, name)) or partial(apply, name)
        yield Kind(name, _group(row), rule, ports, (), row.doc, _SCALAR_SYMBOLS.get(name, ""))


def _group(row: ScalarOp) -> str:
    if row.chooses or row.is_mask:
        return "comparison"
    return "activations" if row.activation else "arithmetic" if row.formula or not row.of_floats else "functions"


def _reductions() -> Iterator[Kind]:
    for name in ("sum", "mean", "prod", "max", "min", "var", "std"):
        doc = _first(getattr(np, name))
        yield Kind(name, "reductions", getattr(np, name), ("x",), (_AXES,), doc, _SCALAR_SYMBOLS.get(name, ""))
    yield Kind("norm", "reductions", _np.linalg.norm, ("x",), (_AXES,), "The Euclidean norm.", "‖x‖")
    yield Kind("logsumexp", "reductions", functions.logsumexp, ("x",), (_AXES,), _first(functions.logsumexp))
    for name in ("softmax", "log_softmax"):
        rule = getattr(functions, name)
        yield Kind(name, "activations", rule, ("x",), (_AXIS,), _first(rule))
    for name in ("argmax", "argmin"):
        yield Kind(name, "reductions", getattr(np, name), ("x",), (_AXIS,), _first(getattr(np, name)))
    yield Kind("cumsum", "reductions", np.cumsum, ("x",), (_AXIS,), _first(np.cumsum))


def _products() -> Iterator[Kind]:
    yield Kind("matmul", "products", np.matmul, ("x", "y"), (), "x @ y.", "@")
    for name in ("dot", "outer", "inner"):
        yield Kind(name, "products", getattr(np, name), ("x", "y"), (), _first(getattr(np, name)))
    letters = matching("[A-Za-z]*(,[A-Za-z]*)*->[A-Za-z]*")
    spec = Option("subscripts", "ij,jk->ik", letters, "letters such as ij,jk->ik", is_text=True)
    yield Kind("einsum", "products", _einsum, ("x",), (spec,), "A sum of products by letters of axes.", many=True)


def _einsum(*xs: Any, subscripts: str) -> Any:
    return _np.einsum(subscripts, *xs)


def _shapes() -> Iterator[Kind]:
    sizes = either(integer, several(integer))
    shape = Option("shape", -1, sizes, "sizes such as [2, 3]; one may be -1")
    wide = Option("shape", (1,), sizes, "sizes such as [2, 3]")
    order = Option("axes", None, optional(several(integer)), "the axes in their new order, or none to turn them round")
    dtype = _choice("dtype", "float64", ("float64", "float32", "int32", "int64", "bool"))
    one = Option("axis", 0, integer, "an axis such as 0 or -1")
    index = Option("index", 0, integer, "a position such as 0 or -1")
    yield Kind("reshape", "shapes", _np.reshape, ("x",), (shape,), "The same numbers under another shape.")
    yield Kind("transpose", "shapes", _np.transpose, ("x",), (order,), "The axes in another order.", "xᵀ")
    yield Kind("broadcast_to", "shapes", _np.broadcast_to, ("x",), (wide,), "Repeated to a larger shape.")
    yield Kind("expand_dims", "shapes", _np.expand_dims, ("x",), (one,), "A new axis of size 1.")
    yield Kind("squeeze", "shapes", _np.squeeze, ("x",), (_AXES,), "Without axes of size 1.")
    yield Kind("stack", "shapes", _joined(_np.stack), ("x",), (one,), "Joined along a new axis.", many=True)
    yield Kind("concatenate", "shapes", _joined(_np.concatenate), ("x",), (one,), "Joined along an axis.", many=True)
    yield Kind("element", "shapes", _element, ("x",), (index, one), "What is at a position of an axis.", "x[i]")
    yield Kind("flip", "shapes", _np.flip, ("x",), (_AXES,), "In reverse order.")
    yield Kind("sort", "shapes", _np.sort, ("x",), (_AXIS,), "In order, along an axis.")
    yield Kind("astype", "shapes", _astype, ("x",), (dtype,), "In another dtype.")
    yield Kind("stop_gradient", "shapes", stop_gradient, ("x",), (), "The value, with derivative zero.")


def _joined(function: Any) -> Callable[..., Any]:
    def rule(*xs: Any, axis: int) -> Any:
        return function(xs, axis=axis)

    return rule


def _astype(x: Any, dtype: str) -> Any:
    return _np.astype(x, dtype)  # whose dtype has no name


def _element(x: Any, index: int, axis: int) -> Any:
    return _np.squeeze(_np.take(x, _np.array([index]), axis=axis), axis=axis)


def _losses() -> Iterator[Kind]:
    for name in ("mse", "huber", "hinge", "logistic", "cross_entropy"):
        rule = getattr(nn, name)
        ports = ("logits", "target") if name == "cross_entropy" else ("prediction", "target")
        yield Kind(f"nn.{name}", "losses", rule, ports, (), _first(rule))


def _layers() -> Iterator[Kind]:
    size, seed, bias, kind = _size("inputs"), _seed(), _flag("bias"), _choice("activation", "relu", _ACTIVATIONS)
    widths = Option("widths", (2, 8, 1), several(whole(1, _MAX_LAYER_SIZE)), f"sizes of at most {_MAX_LAYER_SIZE}")
    units, outputs, count, width = _size("units"), _size("outputs"), _size("count", 16), _size("width", 4)
    window, heads = _size("window", 3), _size("heads", 2)
    stride, padding = _size("stride", 1), Option("padding", 0, whole(0, _MAX_LAYER_SIZE), "a size of at least 0")
    span = Option("window", 2, whole(1, _MAX_LAYER_SIZE), "a size of at least 1")
    tanh = _choice("activation", "tanh", _ACTIVATIONS)
    yield _layer("Linear", size, outputs, bias, seed)
    yield _layer("BitLinear", size, outputs, seed)
    yield _layer("MLGRU", width, seed)
    modes = [Option(name, (2, 2), several(whole(1, _MAX_LAYER_SIZE)), "sizes") for name in ("inputs", "outputs")]
    yield _layer("TensorTrainLinear", *modes, _size("rank"), bias, seed)
    yield _layer("Monarch", _size("inputs", 4), _size("outputs", 4), _size("blocks"), bias, seed)
    yield _layer("MLP", widths, kind, bias, seed)
    yield _layer("Embedding", count, width, seed, ports=("index",))
    yield _layer("LayerNorm", width, bias)
    yield _layer("RMSNorm", width)
    yield _layer("GroupRational", width, _size("groups", 2), _choice("start", "swish", ("swish", "gelu", "identity")))
    yield _layer("Conv1d", size, outputs, window, stride, padding, bias, seed)
    yield _layer("Conv2d", size, outputs, window, stride, padding, bias, seed)
    yield _layer("SelfAttention", width, heads, seed)
    yield _layer("Block", width, heads, kind, seed)
    yield _layer("RaftMLP", _size("height"), _size("width"), _size("channels"), _size("raft"), seed)
    for cell, options in (("RNNCell", (size, units, tanh, bias)), ("GRUCell", (size, units, bias))):
        yield _layer(cell, *options, seed, ports=("state", "x"), rule=_output)
    for name in ("max_pool", "avg_pool"):
        yield Kind(f"nn.{name}", "layers", getattr(nn, name), ("x",), (span,), _first(getattr(nn, name)))


_ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "sigmoid", "softplus", "identity")


def _size(name: str, default: int = 2) -> Option:
    return Option(name, default, whole(1, _MAX_LAYER_SIZE), f"a whole number from 1 to {_MAX_LAYER_SIZE}")


def _seed() -> Option:
    return Option("seed", 0, whole(0, 2**63 - 1), "a whole number from 0 on: the layer starts from it")


def _flag(name: str) -> Option:
    return Option(name, True, flag, "true or false", ("true", "false"))


def _choice(name: str, default: str, choices: tuple[str, ...]) -> Option:
    return Option(name, default, one_of(choices), f"one of {', '.join(choices)}", choices)


def _called(layer: Any, *xs: Any) -> Any:
    return layer(*xs)


def _output(cell: Any, state: Any, x: Any) -> Any:
    return cell(state, x)[1]


def _layer(name: str, *options: Option, ports: tuple[str, ...] = ("x",), rule: Callable[..., Any] = _called) -> Kind:
    constructor = getattr(nn, name)

    def make(weights: Literal, **values: Any) -> Any:
        seed = values.pop("seed", None)
        key = {} if seed is None else {"key": random.key(seed)}
        layer = constructor(**values, **key, dtype=np.float64)
        return layer if weights is None else _trained(layer, weights)

    weights = Option(WEIGHTS, None, optional(_is_list), "a list with the numbers of each array of the layer, or none")
    return Kind(f"nn.{name}", "layers", rule, ports, (*options, weights), _first(constructor), layer=make)


def _is_list(value: Any) -> bool:
    return type(value) is tuple


def _trained(layer: Any, weights: Literal) -> Any:
    """A layer with these numbers in its arrays. Raises ShapeError if they do not fit."""
    leaves, structure = tree.flatten(layer)
    arrays = [np.array(numbers, np.float64) for numbers in weights]
    here, there = [array.shape for array in arrays], [leaf.shape for leaf in leaves]
    if here != there:
        raise ShapeError(f"its weights have the shapes {here}, but it needs {there}. Set weights to none.")
    return tree.unflatten(structure, arrays)


# Operations of the graph that NumPy's functions consist of: for imported graphs.
_ALONE = (
    "sum broadcast reshape transpose slice pad cumsum convert reduce_max reduce_min argmax argmin argsort sort squares"
    " exponents partition argpartition kth argkth argtop"
)
_SEVERAL = {
    "gather": ("x", "index"), "scatter": ("x", "index"), "put": ("x", "rows", "index"), "contract": ("x", "y"),
    "surrogate": ("x", "y"),
}  # fmt: skip


def _primitives() -> Iterator[Kind]:
    for name in _ALONE.split():
        yield _primitive(name, ("x",))
    for name, ports in _SEVERAL.items():
        yield _primitive(name, ports)
    yield _primitive("concatenate", ("x",), many=True)


def _primitive(name: str, ports: tuple[str, ...], many: bool = False) -> Kind:
    row = STRUCTURAL[name]
    check = type(row).parameters

    def rule(*xs: Any, params: Any = None) -> Any:
        row.checked(params, xs)
        return make_node(name, params, *xs)

    text = name in ("convert", "contract")
    params = Option("params", None, check, "parameters that this operation of graphs has", (), text)
    options = () if check is nothing else (params,)
    return Kind(f"graph.{name}", "graph", rule, ports, options, _first(type(row)), many=many)


def _first(documented: Any) -> str:
    """The first line of a docstring."""
    return (documented.__doc__ or "").strip().partition("\n")[0]
