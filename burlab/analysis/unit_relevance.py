"""Which units of a network a decision rests on: relevance propagation, and a network without the others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.tree import pytree
from burlab.nn import MLP, Layer, Linear, with_rule
from burlab.nn.model_parts import parts_of, replaced
from burlab.runtime.checks.numbers import real, shown
from burlab.runtime.plain import as_array, as_floats
from burlab.runtime.ranges import POSITIVE, PROBABILITY, number_in
from burlab.transforms import tree, vjp
from burlab.typing import ArrayLike, Numbers

Array = Any  # traced
INPUT = "input"


def relevance(model: Layer, x: ArrayLike, targets: ArrayLike, *, epsilon: float = 1e-6) -> dict[str, Numbers]:
    """Return how much each input and each unit of the linear layers contributes to the score of a class.

    Layer-wise relevance propagation with the epsilon rule: Bach et al. 2015, PLOS ONE 10(7), equation 58. The score of
    the class is the relevance of its output; of the relevance R_k of an output z_k = sum_j a_j w_jk + b_k the input j
    gets a_j w_jk R_k / (z_k + epsilon sign(z_k)), sign(0) = 1. An activation passes it on. Without biases, the sum over
    the units of each layer is the score, but for epsilon; what biases contribute is lost.

    Args:
        model: Layers in a row with `bl.nn.Linear` among them, such as `bl.nn.MLP`. It takes rows.
        x: Samples, shape (n, d), of the model's dtype.
        targets: The class of each, integers, shape (n,), or one for all.
        epsilon: Above 0.

    Returns:
        By "input", shape (n, d), and by the path of each linear layer, as "layers.0", shape (n, units).

    Raises:
        ArgumentError: The model has no linear layer; targets are not classes of it; epsilon is not above 0.
        ShapeError: x are no rows, or targets are not as many.

    >>> import numpy as np, burlab as bl
    >>> net = bl.nn.MLP([3, 4, 2], key=bl.random.key(0), bias=False, dtype=np.float64)
    >>> x = np.array([[1.0, 2.0, 3.0]])
    >>> found = bl.analysis.relevance(net, x, 1, epsilon=1e-12)
    >>> bool(np.isclose(found["layers.0"].sum(), net(x)[0, 1])), found["input"].shape
    (True, (1, 3))
    """
    number_in(POSITIVE, real(epsilon, "epsilon of relevance"), "epsilon of relevance")
    if not isinstance(model, Layer):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"model of relevance is {shown(model)}, expected a layer of bl.nn, such as an MLP.")
    rows: Any = as_array(x, "x of relevance")
    if rows.ndim != 2 or not rows.size:
        raise ShapeError(f"x of relevance has shape {rows.shape}, expected (n, d): a row for each sample.")
    widths, has_activation = _linear_layers(model)

    def scores_of(taps: dict[str, Array], rows: Array) -> Array:
        def tapped(part: Any, path: str) -> Any:
            return _Tapped(part, taps[path]) if isinstance(part, Linear) else None

        explained = with_rule(replaced(model, "", tapped), _epsilon_rule(epsilon), _Tapped)
        return (with_rule(explained, _passed_on, _is_activation) if has_activation else explained)(rows)

    taps = {path: np.zeros((len(rows), units), rows.dtype) for path, units in widths.items()}
    scores, back = vjp(scores_of, taps, rows)
    by_unit, by_input = back(np.where(_chosen(targets, np.shape(scores)), scores, 0).astype(rows.dtype))
    return {INPUT: np.asarray(by_input)} | {path: np.asarray(found) for path, found in by_unit.items()}


@pytree
@dataclass(frozen=True, eq=False, repr=False)
class _Tapped(Layer):
    """A linear layer; in the backward rule the cotangent of `tap` is the relevance of its units."""

    base: Linear
    tap: Array

    def __call__(self, x: Array) -> Array:
        """The result of the layer."""
        return self.base(x) + self.tap


def _epsilon_rule(epsilon: float) -> Callable[..., Any]:
    def rule(g: Array, y: Array, layer: _Tapped, a: Array) -> tuple[Any, Array]:
        share = g / (y + epsilon * np.where(y >= 0, 1.0, -1.0))
        nothing = tree.map(np.zeros_like, layer.base)
        return layer.replace(base=nothing, tap=g), a * (share @ layer.base.weight.T)

    return rule


def _passed_on(g: Array, _y: Array, _x: Array) -> Array:
    return g


def _is_activation(path: str) -> bool:
    return path.rpartition(".")[2] == "activation"


def _linear_layers(model: Layer) -> tuple[dict[str, int], bool]:
    """Return the units of each linear layer by its path, and whether a field is an activation."""
    widths, activations = dict[str, int](), list[str]()

    def seen(part: Any, path: str) -> Any:
        if isinstance(part, Linear):
            widths[path] = part.weight.shape[1]
            return part
        if isinstance(part, Layer) and any(isinstance(one, np.ndarray) for _, one in parts_of(part)):
            raise ArgumentError(
                f"relevance has a rule for bl.nn.Linear, and none for {type(part).__name__} at {path or 'itself'}."
            )
        if _is_activation(path) and not isinstance(part, Layer):
            activations.append(path)
        return None

    replaced(model, "", seen)
    if not widths:
        raise ArgumentError(f"relevance found no bl.nn.Linear in a {type(model).__name__}.")
    return widths, bool(activations)


def _chosen(targets: ArrayLike, shape: tuple[int, ...]) -> Any:
    """Return a mask of the class of each row."""
    classes: Any = as_array(targets, "targets of relevance")
    if len(shape) != 2 or classes.shape not in ((), shape[:1]):
        raise ShapeError(
            f"relevance got targets of shape {classes.shape} for scores of shape {shape}, expected one for each row."
        )
    if classes.dtype.kind not in "iu" or not np.all((classes >= 0) & (classes < shape[1])):
        raise ArgumentError(f"targets of relevance are not all integers from 0 to {shape[1] - 1}.")
    return np.arange(shape[1]) == np.broadcast_to(classes, shape[:1])[:, None]


def prune(model: MLP, scores: Mapping[str, ArrayLike], keep: float) -> MLP:
    """Return a network without the hidden units that have the lowest scores.

    Args:
        model: It does not change. What its units give to the next layer is removed with them.
        scores: By the path of each hidden layer, as "layers.0", a number for each unit, shape (units,): of all layers
            together the largest stay, the first ones where they tie.
        keep: Share of all hidden units that stays, above 0, at most 1; in each layer at least one does.

    Returns:
        An MLP with smaller layers.

    Raises:
        ArgumentError: The model is no MLP with hidden layers; keep is out of range; scores lack a layer.
        ShapeError: Scores are not one for each unit.

    >>> import numpy as np, burlab as bl
    >>> net = bl.nn.MLP([2, 3, 1], key=bl.random.key(0))
    >>> bl.analysis.prune(net, {"layers.0": [0.5, 0.1, 0.9]}, keep=0.67).layers[0].weight.shape
    (2, 2)
    """
    if not isinstance(model, MLP) or len(model.layers) == 1:  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(f"model of prune is {shown(model)}, expected a bl.nn.MLP with hidden layers.")
    number_in(PROBABILITY, real(keep, "keep of prune"), "keep of prune")
    numbers = [_score(scores, f"layers.{k}", len(one.weight[0])) for k, one in enumerate(model.layers[:-1])]
    units: list[Any] = [slice(None), *_best(numbers, keep), slice(None)]
    return model.replace(layers=tuple(map(_part, model.layers, units[:-1], units[1:])))


def _part(layer: Linear, inputs: Any, outputs: Any) -> Linear:
    """Return the layer between some units."""
    bias = None if layer.bias is None else layer.bias[outputs]
    return layer.replace(weight=np.ascontiguousarray(layer.weight[inputs][:, outputs]), bias=bias)


def _best(numbers: Sequence[Numbers], keep: float) -> list[Any]:
    """Return which units of each layer stay, ascending."""
    order = np.argsort(-np.concatenate(numbers), kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ranks = np.split(rank, np.cumsum([len(one) for one in numbers])[:-1])
    most = max(round(keep * len(order)), 1)
    return [np.flatnonzero((one < most) | (one == one.min())) for one in ranks]


def _score(scores: Mapping[str, ArrayLike], path: str, units: int) -> Numbers:
    if not isinstance(scores, Mapping) or path not in scores:  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(f"scores of prune have none of {path}; got {shown(scores)}. Pass {{{path!r}: ...}}.")
    found = as_floats(scores[path], f"scores[{path!r}] of prune")
    if found.shape != (units,):
        raise ShapeError(f"scores[{path!r}] of prune have shape {found.shape}, expected ({units},): one for each unit.")
    return found
