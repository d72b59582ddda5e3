"""Fine-tuning of a part: adapters of low rank, and partial connections, in the place of Linear layers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.graph.tree import pytree
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.ranges import FINITE, number_in
from burlab.transforms import random
from burlab.typing import Key

from .init import uniform
from .layer import STATIC, Array, Layer, check, keys
from .linear import Linear
from .model_parts import Targets, is_target, parts_of, replaced

Model = Any
_MAX_RANK = 2**31 - 1
_TRAINED = ("lora_A", "lora_B", "paca_weight")


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class LoRALinear(Layer):
    """base(x) + scaling x @ lora_A @ lora_B. lora_A: shape [in, rank]; lora_B: shape [rank, out], zeros at first.

    Made by `bl.nn.lora`.
    """

    base: Linear
    lora_A: Array
    lora_B: Array
    scaling: float = field(metadata=STATIC)

    def __init__(self, base: Linear, rank: int, scaling: float, *, key: Key) -> None:
        scaling = _checked(base, rank, scaling)
        inputs, outputs = base.weight.shape
        form: Any = {"dtype": base.weight.dtype, "low": -(inputs**-0.5), "high": inputs**-0.5}
        self._fill(
            base=base,
            lora_A=uniform(key, (inputs, rank), **form),
            lora_B=np.zeros((rank, outputs), base.weight.dtype),
            scaling=scaling,
        )

    def __call__(self, x: Array) -> Array:
        """The layer's result, and what the adapter adds to it."""
        return self.base(x) + (x @ self.lora_A) @ self.lora_B * self.scaling

    def merged(self) -> Linear:
        """The layer with weight + scaling lora_A @ lora_B."""
        return self.base.replace(weight=self.base.weight + self.lora_A @ self.lora_B * self.scaling)


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class PaCALinear(Layer):
    """A Linear layer of whose weight some rows move: base(x) + scaling x[..., columns] @ paca_weight.

    columns: which inputs these rows belong to. paca_weight: shape [rank, out], zeros at first. Made by `bl.nn.paca`.
    """

    base: Linear
    paca_weight: Array
    columns: tuple[int, ...] = field(metadata=STATIC)
    scaling: float = field(metadata=STATIC)

    def __init__(self, base: Linear, rank: int, scaling: float, *, key: Key) -> None:
        scaling = _checked(base, rank, scaling)
        inputs, outputs = base.weight.shape
        chosen = np.sort(np.argsort(random.uniform(key, (inputs,)), kind="stable")[:rank])
        self._fill(
            base=base,
            paca_weight=np.zeros((rank, outputs), base.weight.dtype),
            columns=tuple(map(int, chosen)),
            scaling=scaling,
        )

    def __call__(self, x: Array) -> Array:
        """The layer's result, with what the chosen rows have moved by."""
        check(self, x, self.base.weight, self.base.weight.shape[0])
        x = x if hasattr(x, "dtype") else np.asarray(x)
        return self.base(x) + x[..., list(self.columns)] @ self.paca_weight * self.scaling

    def merged(self) -> Linear:
        """The layer with the chosen rows of its weight moved; the others keep their bits."""
        weight = np.array(self.base.weight)
        weight[list(self.columns)] += self.paca_weight * self.scaling
        return self.base.replace(weight=weight)


def lora(model: Model, *, rank: int = 8, alpha: float = 16.0, targets: Targets = None, key: Key) -> Model:
    """Return the model with adapters of low rank in its Linear layers: weight + (alpha / rank) lora_A @ lora_B.

    Hu et al. 2022, "LoRA: Low-Rank Adaptation of Large Language Models", arXiv:2106.09685v2, section 4.1.

    Its results are those of the model, until lora_B moves: it starts from zeros, lora_A uniform within 1 / sqrt(in), as
    in PEFT. Train it with `trainable=bl.nn.is_adapter`: the model's own parameters then have no gradient, no state and
    no history. `bl.nn.merge` gives a model of the first kind.

    Args:
        targets: Layers, by the ends of their paths, such as "attention.qkv" or ["qkv", "out"], or a predicate on
            paths; all Linear layers by default.
        rank: At most that of a layer's weight.

    Returns:
        The model with `LoRALinear` in place of the chosen layers.

    Raises:
        ArgumentError: No layer is chosen.

    >>> import burlab as bl
    >>> gpt = bl.nn.GPT(key=bl.random.key(0))
    >>> small = bl.nn.lora(gpt, rank=2, targets="qkv", key=bl.random.key(1))
    >>> small
    <GPT: 47,489 parameters, float32>
    >>> bl.nn.merge(small)
    <GPT: 46,337 parameters, float32>
    """
    return _adapted(LoRALinear, model, rank, alpha, targets, key)


def paca(model: Model, *, rank: int = 8, alpha: float | None = None, targets: Targets = None, key: Key) -> Model:
    """The model with some rows of the weights of its Linear layers free: weight[columns] + (alpha / rank) paca_weight.

    The columns, `rank` of a layer's inputs, are drawn from the key. The backward pass keeps only these of what enters a
    layer, where LoRA keeps all. Woo et al. 2025, "PaCA: Partial Connection Adaptation for Efficient Fine-Tuning",
    arXiv:2503.01905v1.

    Args:
        alpha: By default the rank, so that what is learned is the weight itself. All others: as in `bl.nn.lora`.

    Returns:
        The model with `PaCALinear` in place of the chosen layers.

    >>> import burlab as bl
    >>> small = bl.nn.paca(bl.nn.MLP([64, 32, 10], key=bl.random.key(0)), rank=4, key=bl.random.key(1))
    >>> small.layers[0].paca_weight.shape, len(small.layers[0].columns)
    ((4, 32), 4)
    """
    return _adapted(PaCALinear, model, rank, rank if alpha is None else alpha, targets, key)


def merge(model: Model) -> Model:
    """The model with its adapters added to the weights, which are Linear layers again.

    Args:
        model: A result of `lora` or `paca`.

    Returns:
        The model without adapters.

    >>> import numpy as np, burlab as bl
    >>> mlp = bl.nn.MLP([3, 2], key=bl.random.key(0))
    >>> again = bl.nn.merge(bl.nn.lora(mlp, rank=1, key=bl.random.key(1)))
    >>> bool(np.all(again.layers[0].weight == mlp.layers[0].weight))
    True
    """
    tree.flatten_whole(model)  # which refuses what holds itself
    return replaced(model, "", lambda part, _: part.merged() if isinstance(part, (LoRALinear, PaCALinear)) else None)


def is_adapter(path: str) -> bool:
    """Return True if the path is that of an adapter's parameter: for `bl.minimize(..., trainable=bl.nn.is_adapter)`.

    Args:
        path: A dotted path.

    Returns:
        True for the end "lora_A", "lora_B" or "paca_weight".

    Raises:
        ArgumentError: It is no string.

    >>> is_adapter("blocks.0.attention.qkv.lora_A"), is_adapter("blocks.0.attention.qkv.base.weight")
    (True, False)
    """
    if not isinstance(path, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"path={shown(path)} must be the path of a parameter, such as 'blocks.0.out.lora_A'.")
    return path.rpartition(".")[2] in _TRAINED


def _checked(base: Linear, rank: int, scaling: float) -> float:
    """The scaling. Raises ArgumentError where an adapter cannot be made of these."""
    if not isinstance(base, Linear):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"base is a {type(base).__name__}, expected a bl.nn.Linear.")
    whole(rank, "rank", 1, min(base.weight.shape))
    return number_in(FINITE, scaling, "scaling")


def _adapted(
    kind: type[LoRALinear] | type[PaCALinear], model: Model, rank: int, alpha: float, targets: Targets, key: Key
) -> Model:
    whole(rank, "rank", 1, _MAX_RANK)
    tree.flatten_whole(model)  # which refuses what holds itself
    scaling = number_in(FINITE, alpha, "alpha") / rank
    chosen = [path for path, _ in _linears(model, "")]
    paths = [path for path in chosen if is_target(path, targets)]
    if not paths:
        has = f"its Linear layers are {', '.join(chosen)}" if chosen else "it has no Linear layer without an adapter"
        raise ArgumentError(f"targets={shown(targets)} chooses no layer of a {type(model).__name__}: {has}.")
    keys_of = dict(zip(paths, keys(key, len(paths)), strict=True))

    def adapted(part: object, path: str) -> Any:
        if isinstance(part, (LoRALinear, PaCALinear)):
            return part  # which has its adapter
        if not isinstance(part, Linear) or path not in keys_of:
            return None
        if rank > min(part.weight.shape):
            raise ArgumentError(
                f"rank={rank} is more than the weight of {path or 'the layer'} has, {part.weight.shape}."
            )
        return kind(part, rank, scaling, key=keys_of[path])

    return replaced(model, "", adapted)


def _linears(model: object, path: str) -> Iterator[tuple[str, Linear]]:
    """The Linear layers that have no adapter, with their paths."""
    if isinstance(model, Linear):
        yield path, model
    elif not isinstance(model, (LoRALinear, PaCALinear)):
        for name, part in parts_of(model):
            yield from _linears(part, f"{path}.{name}".lstrip("."))
