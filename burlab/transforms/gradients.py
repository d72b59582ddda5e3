"""First derivatives: `grad`, `value_and_grad`, `jvp`, `vjp`; and `jit`, which only compiles."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from burlab.compiler.function import Function
from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.graph.autodiff import sweep
from burlab.runtime.thread_limit import Threads, known_threads
from burlab.typing import Tree

from .call import TracedCall, match, name_of, one, shares_of
from .memo import remembered
from .places import Argnums, known_argnums

F = TypeVar("F", bound=Callable[..., Any])


def jit(f: F, *, threads: Threads = 1) -> F:
    """Compile f: the same results, by one C++ kernel per combination of shapes, dtypes and static arguments.

    Args:
        f: a function of NumPy code. Float and array leaves of its arguments are traced; int, bool, str and None are
            part of the program.
        threads: threads that compute each step of a kernel, where it is long enough; "auto" is as many as
            `bl.set_threads` allows. They change no bit.

    Returns:
        A function with the arguments and results of f. Unless f has a parameter `out`, the keyword `out` takes arrays
        in the structure, shapes and dtypes of the result, which are written and returned: no array is allocated. They
        must not overlap an argument.

    >>> import numpy as np, burlab as bl
    >>> float(bl.jit(lambda x: np.sum(x * x))(np.array([1.0, 2.0])))
    5.0
    """
    most = known_threads(threads)
    return remembered(f, ("jit", most), lambda: Function(f, threads=most))


def grad(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    threads: Threads = 1,
) -> Callable[..., Any]:
    """Return the gradient function of a scalar function, by reverse mode.

    By a complex argument x + i y the gradient is df/dx - i df/dy, as JAX has it: the direction of steepest ascent is
    its conjugate.

    Args:
        f: a function whose result is one floating number, shape ().
        argnums: positions of the arguments to differentiate by; a tuple gives a tuple of gradients.
        has_aux: f returns (value, other results), and the gradient function (gradient, other results).
        holomorphic: f is complex and holomorphic, and the gradient its complex derivative.
        threads: as for `jit`.

    Returns:
        A function with the arguments of f. A gradient has the structure, shapes and dtypes of its argument. `out`:
        arrays to write it into, as for `jit`.

    Raises:
        ShapeError: when called, if the result of f is not one number, or an array of `out` has another shape.
        DTypeError: when called, if an argument to differentiate by is not floating, or an array of `out` has another
            dtype.
        ArgumentError, LayoutError: when called, if `out` has another structure, is read-only or overlaps an argument.

    >>> import numpy as np, burlab as bl
    >>> gradient = bl.grad(lambda x: np.sum(x**3))
    >>> gradient(np.array([1.0, 2.0]))
    array([ 3., 12.])
    >>> out = np.empty(2)
    >>> gradient(np.array([3.0, 4.0]), out=out) is out
    True
    """
    argnums, most = known_argnums(argnums), known_threads(threads)

    def rule(*args: Any, **kwargs: Any) -> Any:
        (_, aux), gradient = value_and_grad_rule(f, argnums, has_aux, args, kwargs, holomorphic)
        return (gradient, aux) if has_aux else gradient

    key = ("grad", argnums, has_aux, holomorphic, most)
    return remembered(f, key, lambda: Function(rule, f, f"grad({name_of(f)})", threads=most))


def value_and_grad(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    threads: Threads = 1,
) -> Callable[..., Any]:
    """Return the function that gives the pair (value, gradient) of a scalar function.

    Args:
        f: a function whose result is one floating number, shape ().
        argnums: positions of the arguments to differentiate by; a tuple gives a tuple of gradients.
        has_aux: f returns (value, other results); the pair is then ((value, other results), gradient).
        holomorphic: see `grad`.
        threads: as for `jit`.

    Returns:
        A function with the arguments of f. `out`: the pair of arrays to write into, as for `jit`; that of the value has
        shape ().

    Raises:
        ShapeError, DTypeError, ArgumentError, LayoutError: as for `grad`.

    >>> import numpy as np, burlab as bl
    >>> value, gradient = bl.value_and_grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
    >>> float(value), [float(g) for g in gradient]
    (6.0, [3.0, 2.0])
    """
    argnums, most = known_argnums(argnums), known_threads(threads)

    def rule(*args: Any, **kwargs: Any) -> Any:
        (value, aux), gradient = value_and_grad_rule(f, argnums, has_aux, args, kwargs, holomorphic)
        return ((value, aux) if has_aux else value), gradient

    key = ("value_and_grad", argnums, has_aux, holomorphic, most)
    return remembered(f, key, lambda: Function(rule, f, f"value_and_grad({name_of(f)})", threads=most))


def value_and_grad_rule(
    f: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    args: tuple[Tree, ...],
    kwargs: dict[str, Tree],
    holomorphic: bool = False,
) -> Any:
    """((value, aux), gradient) of a call under trace."""
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    call = TracedCall(f, args, kwargs, numbers, "grad")
    value, aux = call.pair() if has_aux else (call.result, None)
    parts = [call.by(k, "grad") for k in numbers]
    y = call.scalar(value, "grad", holomorphic)
    gradients = tuple(shares_of([y], parts, [one(y)]))
    return call.place(((value, aux), gradients[0] if isinstance(argnums, int) else gradients))


def jvp(f: Callable[..., Any], primals: tuple[Tree, ...], tangents: tuple[Tree, ...]) -> tuple[Any, Any]:
    """Return value and directional derivative, by forward mode: (f(*primals), J(*primals) @ tangents).

    Args:
        f: a function of arrays, numbers and trees of them.
        primals: its arguments.
        tangents: one for each argument, of its structure, shapes and dtypes; None for an argument that is not floating.

    Returns:
        Two trees of the structure, shapes and dtypes of the result of f.

    Raises:
        ArgumentError: if primals or tangents are not a tuple.
        ShapeError, DTypeError: if a tangent differs from its argument.

    >>> import numpy as np, burlab as bl
    >>> y, dy = bl.jvp(np.sin, (0.0,), (2.0,))
    >>> float(y), float(dy)
    (0.0, 2.0)
    """

    def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        call = TracedCall(f, primals, {})
        floating = call.floating()
        inputs = [x for k in floating for x in call.by(k, "jvp")[0]]
        structure = tree.flatten(tuple(p if k in floating else None for k, p in enumerate(primals)))[1]
        tangent_nodes = match(tuple(tangents), inputs, structure, "the tangents of jvp")
        outputs, structure = tree.flatten(call.result)
        pushed = sweep.jvp(outputs, inputs, tangent_nodes)
        return call.place((call.result, tree.unflatten(structure, pushed)))

    for given, what in ((primals, "primals"), (tangents, "tangents")):
        if not isinstance(cast("Any", given), (tuple, list)):
            raise ArgumentError(
                f"the {what} of jvp are a {type(given).__name__}, expected a tuple with one for each argument of "
                f"{name_of(f)}. Pass bl.jvp(f, (x,), (v,))."
            )
    primals, tangents = tuple(primals), tuple(tangents)
    return remembered(f, "jvp", lambda: Function(rule, name=f"jvp({name_of(f)})", reads=(f,)))(primals, tangents)


def vjp(f: Callable[..., Any], *primals: Tree) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return value and pull-back, by reverse mode: (f(*primals), g -> tuple of g @ J, one per argument).

    The pull-back stores nothing: it computes the value again. For complex arrays cotangents are conjugated as gradients
    are: see `grad`.

    Args:
        f: a function of arrays, numbers and trees of them.
        primals: its arguments.

    Returns:
        The value, and a function of a cotangent g of the structure, shapes and dtypes of the value. It returns one
        cotangent for each argument, None for one that is not floating.

    >>> import numpy as np, burlab as bl
    >>> y, pull = bl.vjp(lambda x: x * x, np.array([1.0, 2.0]))
    >>> pull(np.array([1.0, 10.0]))
    (array([ 2., 40.]),)
    """

    def rule(primals: tuple[Any, ...], cotangent: Tree) -> Any:
        call = TracedCall(f, primals, {})
        parts = {k: call.by(k, "vjp") for k in call.floating()}
        outputs, structure = tree.flatten(call.result)
        pulled = match(tree.conjugated(cotangent), outputs, structure, "the cotangent of vjp")
        trees = dict(zip(parts, shares_of(outputs, [*parts.values()], pulled), strict=True))
        return call.place(tuple(trees.get(k) for k in range(len(primals))))

    pull = remembered(f, "vjp", lambda: Function(rule, name=f"vjp({name_of(f)})", reads=(f,)))
    return jit(f)(*primals), lambda cotangent: pull(primals, cotangent)
