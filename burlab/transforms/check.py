"""`check_grads`: derivatives against finite differences, in both modes and to any order."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from burlab.errors import DTypeError, GradientError
from burlab.graph import tree
from burlab.graph.tracing.trace import Spec, spec_of
from burlab.runtime.checks.callable import check_function
from burlab.runtime.checks.numbers import real, whole
from burlab.typing import Tree

from .call import name_of
from .compile import compile
from .differences import central_difference, inner, random_like
from .gradients import jvp, vjp

MAX_ORDER = 8  # the highest derivative that operations have


def check_grads(
    f: Callable[..., Any],
    args: Tree,
    order: int = 2,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
) -> None:
    """Compare derivatives of f at args with finite differences, in both modes.

    f itself is evaluated with NumPy, by the five-point rule, whose error is of fourth order.

    Args:
        f: a function of floating arrays, numbers and trees of them.
        args: a tuple of its arguments, or the only one.
        order: 1 checks J v and g J, 2 also their derivatives, and so on, up to 8.
        rtol: tolerance relative to the largest entry; 1e-6 for float64 and 1e-2 for float32 if not given.
        atol: absolute tolerance; the same if not given.
        seed: of the one random direction of each order.

    Raises:
        GradientError: if a derivative differs.
        DTypeError: if an argument is not floating.

    >>> import numpy as np, burlab as bl
    >>> bl.check_grads(lambda x: np.sum(np.tanh(x) ** 2), np.array([0.3, -1.0]), order=3)
    """
    primals = cast("tuple[Any, ...]", args) if isinstance(args, tuple) else (args,)
    check_function(f)
    order, seed = whole(order, "order", 1, MAX_ORDER), whole(seed, "seed", 0)
    rtol, atol = (t if t is None else real(t, name, 0.0) for name, t in (("rtol", rtol), ("atol", atol)))
    _check_floating(primals)
    rng = np.random.Generator(np.random.Philox(seed))
    single = any(np.asarray(leaf).dtype == np.float32 for leaf in tree.flatten(primals)[0])
    default = 1e-2 if single else 1e-6
    _check(f, f, primals, order, rtol or default, atol or default, rng, 2e-2 if single else 1e-3)


def _check_floating(args: Tree) -> None:
    """Raise DTypeError where not every leaf of the arguments is floating."""
    for k, arg in enumerate(args):
        leaves = [("", None)] if arg is None else list(zip(tree.leaf_names(arg), tree.flatten(arg)[0], strict=True))
        for path, leaf in leaves:
            name = f"argument {k}{path}"
            spec = spec_of(leaf, f"{name} of check_grads")
            if not isinstance(spec, Spec) or spec.dtype.kind not in "fc":
                kind = spec.dtype.name if isinstance(spec, Spec) else type(leaf).__name__
                raise DTypeError(
                    f"check_grads needs floats, but {name} is {kind}. Pass 3.0 or x.astype(float), and keep the "
                    "rest in the function: lambda x: f(x, n)."
                )


def _check(f: Callable[..., Any], values: Callable[..., Any], args: Tree, order: int, rtol: float, atol: float,
           rng: "np.random.Generator", step: float) -> None:  # fmt: skip
    """values: f on arrays."""
    leaves, structure = tree.flatten(args)
    direction = tree.unflatten(structure, [random_like(leaf, rng) for leaf in leaves])
    ys, shape = tree.flatten(values(*args))
    cotangent = tree.unflatten(shape, [random_like(leaf, rng) for leaf in ys])

    def forward(*primals: Any) -> Any:
        return jvp(f, primals, direction)[1]

    def reverse(*primals: Any) -> Any:
        return vjp(f, *primals)[1](cotangent)

    forward.__name__, reverse.__name__ = f"(J v of {name_of(f)})", f"(g J of {name_of(f)})"
    # Called a few times: nothing is compiled for it.
    both = compile(lambda *primals: (forward(*primals), reverse(*primals)), *args, gear="replay")
    pushed, pulled = both(*args)
    _compare(f"J v of {name_of(f)}", pushed, central_difference(values, args, direction, step), rtol, atol)
    _compare(
        f"<g, J v> of {name_of(f)}",
        inner(pulled, tree.conjugated(direction)),
        inner(cotangent, tree.conjugated(pushed)),
        rtol,
        atol,
    )
    if order > 1:
        for k, part in enumerate((forward, reverse)):

            def computed(*primals: Any, k: int = k) -> Any:
                return both(*primals)[k]

            _check(part, computed, args, order - 1, rtol, atol, rng, step)


def _compare(what: str, got: Tree, wanted: Tree, rtol: float, atol: float) -> None:
    pairs = zip(tree.flatten(got)[0], tree.flatten(wanted)[0], strict=True)
    for a, b in ((np.asarray(x, np.float64), np.asarray(y, np.float64)) for x, y in pairs):
        gap, scale = float(np.max(np.abs(a - b), initial=0.0)), float(np.max(np.abs(b), initial=0.0))
        if not gap <= atol + rtol * scale:
            raise GradientError(
                f"{what}: burlab gives {a.ravel()[:4]}..., the check {b.ravel()[:4]}... (largest difference {gap:.3g}, "
                f"allowed {atol + rtol * scale:.3g}). Near a kink this is expected; elsewhere a rule is wrong: "
                "check the functions that f calls one by one."
            )
