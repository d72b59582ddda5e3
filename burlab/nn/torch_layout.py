"""Parameters of PyTorch's modules in layers of ours: other names, and the axes of weights the other way round."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.runtime.plain import as_array

from .attention import Block, SelfAttention
from .convolution import Convolution
from .fit import Misfits
from .layer import Array, Layer
from .linear import MLP, Linear
from .recurrent import GRUCell, LSTMCell, RNNCell

_Aliases = list[tuple[str, str]]  # the beginning of a name of ours, and of PyTorch's
_Model = TypeVar("_Model", bound=Layer)


class _Leaf(NamedTuple):
    """A parameter: what PyTorch may call it, and PyTorch's array as ours."""

    names: list[str]
    convert: Callable[[Array], Array]


def from_torch(model: _Model, state_dict: Mapping[str, Any]) -> _Model:
    """The model with the parameters of a PyTorch module of the same sizes.

    Args:
        state_dict: Result of `module.state_dict()`, or its arrays by name, as from a safetensors file. The names are
            the model's own dotted paths (`blocks.0.norm1.weight`), or those of torch.nn: Sequential of Linear and
            activations for MLP, MultiheadAttention for SelfAttention, TransformerEncoderLayer for Block, LSTM and
            LSTMCell (GRU, RNN) for cells. PyTorch's weights are [out, in, ...], ours [..., in, out]; the gates of LSTM
            (i, f, g, o) and GRU (r, z, n) are in the same order. A narrower dtype is widened.

    Returns:
        A new model of the same structure, shapes and dtypes.

    Raises:
        ParameterError: Names are missing, unknown, or of another shape or dtype; the message lists all.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.nn.Linear(2, 3, key=bl.random.key(0))
    >>> state = {"weight": np.arange(6, dtype=np.float32).reshape(3, 2), "bias": np.zeros(3, np.float32)}
    >>> bl.nn.from_torch(layer, state).weight
    array([[0., 2., 4.],
           [1., 3., 5.]], dtype=float32)
    """
    if not isinstance(state_dict, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass the module
        raise ArgumentError(
            f"state_dict is a {type(state_dict).__name__}, expected arrays by name. Pass module.state_dict()."
        )
    if not isinstance(model, (Layer, tuple)):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"model is a {type(model).__name__}, expected a layer of bl.nn.")
    leaves, structure = tree.flatten(model)
    misfits = Misfits()
    found: list[Array] = []
    used: set[str] = set()
    for leaf, (names, convert) in zip(leaves, _leaves(model), strict=True):
        name = next((n for n in names if n in state_dict), None)
        if name is None:
            misfits.missing.append(" or ".join(names))
            continue
        used.add(name)
        found.append(misfits.fitted(name, convert(_array(state_dict[name])), leaf, widen=True))
    misfits.extra += [name for name in state_dict if name not in used]
    misfits.check("the state dict")
    return tree.unflatten(structure, found)


def _leaves(value: Any) -> list[_Leaf]:
    """The leaves of a layer, a tuple of layers or an array, in the order of the tree."""
    if value is None:
        return []
    if isinstance(value, tuple):
        parts = cast("tuple[Any, ...]", value)
        return [_within(str(k), leaf) for k, part in enumerate(parts) for leaf in _leaves(part)]
    if not isinstance(value, Layer):
        return [_Leaf([""], _same)]
    fields = [f.name for f in dataclasses.fields(value) if not f.metadata.get("static")]  # type: ignore[arg-type] - all layers are
    found = [_within(name, leaf) for name in fields for leaf in _leaves(getattr(value, name))]
    if isinstance(value, (Linear, Convolution)):
        found[0] = found[0]._replace(convert=_output_last)
    rule = _ALIASES.get(type(value))
    aliases = rule(value) if rule else []
    return [leaf._replace(names=_with_aliases(leaf.names, aliases)) for leaf in found]


def _within(part: str, leaf: _Leaf) -> _Leaf:
    return leaf._replace(names=[f"{part}.{name}" if name else part for name in leaf.names])


def _with_aliases(names: list[str], aliases: _Aliases) -> list[str]:
    others = [theirs + name.removeprefix(ours) for name in names for ours, theirs in aliases if name.startswith(ours)]
    return [*names, *others]


def _attention(_layer: Layer) -> _Aliases:
    return [("qkv.", "in_proj_"), ("out.", "out_proj.")]


def _block(_layer: Layer) -> _Aliases:
    return [("attention.", "self_attn."), ("feedforward.layers.0.", "linear1."), ("feedforward.layers.1.", "linear2.")]


def _sequential(layer: MLP) -> _Aliases:
    """Every second module of a Sequential is an activation."""
    return [(f"layers.{k}.", f"{2 * k}.") for k in range(len(layer.layers))]


def _cell(_layer: Layer) -> _Aliases:
    """Parameters of torch.nn.LSTMCell, or of the only layer of torch.nn.LSTM."""
    return [
        (f"{ours}.{kind}", f"{kind}_{theirs}{layer}")
        for ours, theirs in (("input", "ih"), ("hidden", "hh"))
        for kind in ("weight", "bias")
        for layer in ("", "_l0")
    ]


_ALIASES: dict[type, Callable[[Any], _Aliases]] = {
    SelfAttention: _attention,
    Block: _block,
    MLP: _sequential,
    RNNCell: _cell,
    GRUCell: _cell,
    LSTMCell: _cell,
}


def _same(array: Array) -> Array:
    return array


def _output_last(array: Array) -> Array:
    return np.moveaxis(array, (1, 0), (-2, -1))


def _array(value: Any) -> Array:
    """A tensor or an array as an array; NumPy has no bfloat16."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    return as_array(value, "an array of the state")
