"""Other backward rules for layers of a model: relevance propagation, guided backpropagation, sampled products."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import Node, tree
from burlab.graph.tree import pytree
from burlab.runtime.checks.callable import check_function
from burlab.runtime.checks.numbers import shown
from burlab.transforms import custom_vjp

from .activations import function
from .layer import STATIC, Layer
from .model_parts import is_target, replaced

Rule = Callable[..., Any]
Chosen = str | type[Layer] | Iterable[str] | tuple[type[Layer], ...] | Callable[[str], bool]


@pytree
@dataclass(frozen=True, eq=False, repr=False)
class RuledLayer(Layer):
    """A layer with the values of `base` and a backward rule of its own. Made by `bl.nn.with_rule`."""

    base: Layer
    rule: Rule = field(metadata=STATIC)
    path: str = field(metadata=STATIC)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The result of the layer."""

        def call(layer: Any, *args: Any) -> Any:
            return layer(*args, **options)

        call.__name__ = f"{type(self.base).__name__} {self.path}".rstrip()
        return _with_rule(call, self.rule, self.base, *args)


def with_rule(model: Any, rule: Rule, targets: Chosen) -> Any:
    """Return the model with another backward rule in some of its layers; values stay as they are.

    In `grad`, `vjp` and all that uses them, the rule takes the place of a layer's derivative. The parameters are those
    of the model, not copies.

    Args:
        model: A layer, or a tree of layers. It does not change.
        rule: A function (g, y, layer, *args) of the cotangent g of y = layer(*args), one floating array. It returns a
            tuple with the cotangent of the layer, a tree like it or None for zero, and one for each argument. Of an
            activation it is a function (g, y, x) that returns the cotangent of x.
        targets: Which layers: a subclass of `Layer` or a tuple of these; the end of a path or several, as "layers.0";
            or a predicate on paths. The path of the activation of an `MLP` ends in "activation". Layers inside of a
            chosen one keep their derivatives, which are not asked for.

    Returns:
        The model with a `RuledLayer` in place of each chosen layer. A layer that has a rule gets the new one.

    Raises:
        ArgumentError: targets choose nothing.
        ShapeError: When a derivative is traced, if the rule returns cotangents of other shapes.

    >>> import numpy as np, burlab as bl
    >>> net = bl.nn.MLP([2, 3, 1], key=bl.random.key(0), dtype=np.float64)
    >>> guided = bl.nn.with_rule(net, lambda g, y, x: g * (y > 0) * (g > 0), "activation")
    >>> x = np.array([1.0, 2.0])
    >>> bool(guided(x) == net(x)), bl.grad(lambda x: guided(x)[0])(x).shape
    (True, (2,))
    """
    check_function(rule)
    tree.flatten_whole(model)  # which refuses what holds itself
    has: list[str] = []
    chosen: list[str] = []

    def ruled(part: Any, path: str) -> Any:
        base: Any = part.base if isinstance(part, RuledLayer) else part
        is_activation = path.rpartition(".")[2] == "activation" and not isinstance(base, Layer)
        if not is_activation and not isinstance(base, Layer):
            return None
        has.append(f"{path or 'itself'} ({base if isinstance(base, str) else type(base).__name__})")
        if not _means(targets, base, path):
            return part if is_activation or isinstance(part, RuledLayer) else None
        chosen.append(path)
        if isinstance(base, Layer):
            return RuledLayer(base, rule, path)
        return _ruled_activation(function(cast("Any", base)), rule)

    found = replaced(model, "", ruled)
    if not chosen:
        layers = f"its layers are {', '.join(has)}" if has else "it has no layers"
        raise ArgumentError(f"targets={shown(targets)} chooses no layer of a {type(model).__name__}: {layers}.")
    return found


def _means(targets: Any, part: Any, path: str) -> bool:
    """Return True if a part is one that the caller means, by type or by path."""
    kinds: Any = cast("Any", targets) if isinstance(targets, tuple) else (targets,)
    if any(isinstance(kind, type) for kind in kinds):
        wrong: list[Any] = [kind for kind in kinds if not (isinstance(kind, type) and issubclass(kind, Layer))]
        if wrong:
            raise ArgumentError(f"targets hold {shown(wrong[0])}, expected subclasses of bl.nn.Layer alone.")
        return isinstance(part, kinds)
    if targets is None:
        raise ArgumentError("targets must say which layers get the rule: a type, the ends of paths, or a predicate.")
    return is_target(path, cast("Any", targets))


def _ruled_activation(activation: Callable[[Any], Any], rule: Rule) -> Callable[[Any], Any]:
    def ruled(x: Any) -> Any:
        return _with_rule(activation, rule, x)

    return ruled


def _with_rule(f: Callable[..., Any], rule: Rule, *args: Any) -> Any:
    """Return f(*args), with the rule where a derivative may be asked for."""
    leaves = tree.flatten(args)[0]
    if any(getattr(leaf, "dtype", None) == np.dtype(object) for leaf in leaves):
        raise ArgumentError(
            f"the rule of {f.__name__} is one of traced functions; it got numbers of a tape. Use bl.grad."
        )
    if not any(isinstance(leaf, Node) for leaf in leaves):
        return f(*args)
    return custom_vjp(f, rule, *args, surrogate=True)(*args)
