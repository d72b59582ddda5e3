"""`sparse_jacobian` and `sparse_hessian`: functions that give SciPy's matrices."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from burlab.compiler.executable import build
from burlab.compiler.function import Function
from burlab.errors import ArgumentError, TraceError
from burlab.graph import Graph, Node, topological, tree as trees
from burlab.graph.autodiff import sweep
from burlab.graph.linear_nodes import gather, reshape
from burlab.graph.node import as_node, constant
from burlab.graph.origin import location
from burlab.graph.rewrite.batching import batch
from burlab.graph.sparse import SparseArray
from burlab.graph.substitute import inline
from burlab.runtime.extras import late
from burlab.transforms import tree
from burlab.transforms.call import TracedCall, check_floating, name_of
from burlab.transforms.gradients import grad
from burlab.transforms.memo import remembered
from burlab.transforms.places import known_argnum
from burlab.typing import Array

from .coloring import distinct, star
from .pattern import indices, pattern

sparse: Any = late("scipy.sparse")
MAX_PATTERNS = 8  # patterns that are kept, of calls with other index arrays


def sparse_jacobian(f: Callable[..., Any], argnums: int = 0) -> "SparseFunction":
    """Return the Jacobian function as a matrix of SciPy.

    Which entries may differ from zero is found from the graph, whatever the numbers are; columns that share no row (or
    rows that share no column, if that is better) are computed in one product: Curtis, Powell and Reid 1974. All
    products are one batched sweep.

    Args:
        f: a function of arrays, numbers and trees of them, which are ravelled as `bl.tree.ravel` does.
        argnums: position of the argument to differentiate by.

    Returns:
        A function with the arguments of f that gives a CSR array of shape (m, n): m numbers of the result, n of the
        argument. Inside of a traced function, such as the update of an optimizer, it gives a sparse array for products
        (J @ v, J.T @ y), sums, norms and scaling.

    Raises:
        TraceError: when called inside of a traced function whose arguments decide where the entries are.
        ArgumentError, DTypeError: when called, as for `jacobian`.

    >>> import numpy as np, burlab as bl
    >>> J = bl.sparse_jacobian(lambda x: x[1:] * x[:-1] ** 2)
    >>> x = np.array([1.0, 2.0, 3.0, 4.0])
    >>> J(x).toarray(), J.products(x)
    (array([[ 4.,  1.,  0.,  0.],
           [ 0., 12.,  4.,  0.],
           [ 0.,  0., 24.,  9.]]), 2)
    """
    return _build(f, known_argnum(argnums), symmetric=False)


def sparse_hessian(f: Callable[..., Any], argnums: int = 0) -> "SparseFunction":
    """Return the Hessian function of a scalar function as a matrix of SciPy.

    The columns are in the colours of a star colouring, which relies on the symmetry: Gebremedhin, Manne and Pothen
    2005, What color is your Jacobian?, section 4.

    Args:
        f: a function whose result is one floating number.
        argnums: position of the argument to differentiate by.

    Returns:
        A function with the arguments of f that gives a CSR array of shape (n, n), n numbers of the argument; inside of
        a traced function a sparse array, as `sparse_jacobian` does.

    Raises:
        TraceError, ArgumentError, DTypeError: when called, as for `sparse_jacobian`.

    >>> import numpy as np, burlab as bl
    >>> H = bl.sparse_hessian(lambda x: np.sum(x[0] * x[1:] ** 2))  # an arrow: two products, whatever its size
    >>> H(np.ones(4)).toarray(), H.products(np.ones(4))
    (array([[0., 2., 2., 2.],
           [2., 2., 0., 0.],
           [2., 0., 2., 0.],
           [2., 0., 0., 2.]]), 2)
    """
    return _build(f, known_argnum(argnums), symmetric=True)


def _build(f: Callable[..., Any], argnum: int, *, symmetric: bool) -> "SparseFunction":
    return remembered(f, ("sparse", argnum, symmetric), lambda: SparseFunction(f, argnum, symmetric=symmetric))


@dataclass(frozen=True)
class _Plan:
    """Places of entries: in CSR order entry e is element places[e] of product groups[e].

    seeds: what is multiplied, (p, n) by columns, (p, m) by rows: a row for each colour, 1 where it is.
    """

    pattern: Any
    seeds: Any
    groups: Any
    places: Any
    by_columns: bool


class SparseFunction:
    """A function that gives a sparse matrix of derivatives; made by `sparse_jacobian` and `sparse_hessian`.

    Called with the arguments of f it gives the matrix. pattern(*args): the entries that may differ from zero, boolean
    CSR. products(*args): how many products of the matrix are computed for all of them.
    """

    def __init__(self, f: Callable[..., Any], argnum: int, *, symmetric: bool) -> None:
        self._f, self._argnum, self._symmetric = f, argnum, symmetric
        self._kind = "sparse_hessian" if symmetric else "sparse_jacobian"
        self._graphs: list[tuple[Node, Node, list[Node]]] = []  # of each trace
        self._plans: dict[Any, _Plan] = {}
        name = f"{self._kind}({name_of(f)})"
        self._traced: Any = Function(self._trace, name=name, reads=(f,))
        self._products: Any = Function(self._multiply, name=name, reads=(f,))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The matrix at these arguments."""
        if _is_traced(args, kwargs):
            return self._within(args, kwargs)
        plan = self._plan(args, kwargs)
        if not plan.pattern.nnz:
            return plan.pattern.astype(plan.seeds.dtype)
        products = self._products(plan.seeds, plan.by_columns, args, kwargs)
        data = products[plan.groups, plan.places]
        return sparse.csr_array((data, plan.pattern.indices, plan.pattern.indptr), plan.pattern.shape)

    def pattern(self, *args: Any, **kwargs: Any) -> Any:
        """The entries that may differ from zero at arguments like these: a boolean CSR matrix."""
        return self._plan(args, kwargs).pattern.copy()

    def products(self, *args: Any, **kwargs: Any) -> int:
        """Return the number of products with a vector that give the matrix at arguments like these."""
        return len(self._plan(args, kwargs).seeds)

    def __repr__(self) -> str:
        return f"<burlab function {self._kind}({name_of(self._f)})>"

    def _plan(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Plan:
        """Return the plan of the last calls that traced the same graph, with the same indices in it."""
        if _is_traced(args, kwargs):
            return self._plan_within(args, kwargs)
        number, *found = self._traced(args, kwargs)
        key = (int(number), *(array.tobytes() for array in found))
        plan = self._plans.pop(key, None)
        if plan is None:
            x, y, nodes = self._graphs[int(number)]
            plan = (_symmetric if self._symmetric else _general)(x, y, dict(zip(nodes, found, strict=True)))
        self._plans[key] = plan
        for oldest in list(self._plans)[:-MAX_PATTERNS]:
            del self._plans[oldest]
        return plan

    def _within(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SparseArray:
        """Return the matrix as a traced sparse array."""
        plan = self._plan_within(args, kwargs)
        products = self._multiply(plan.seeds, plan.by_columns, args, kwargs)
        flat = reshape(products, (products.size,))
        data = gather(flat, constant(plan.groups * products.shape[1] + plan.places), 0)
        columns, pointers = (a.astype(np.int64) for a in (plan.pattern.indices, plan.pattern.indptr))
        columns, starts, ends = (constant(a) for a in (columns, pointers[:-1], pointers[1:]))
        entries = -(-plan.pattern.nnz // max(plan.pattern.shape[0], 1))
        return SparseArray(data, columns, starts, ends, plan.pattern.shape[1], entries)

    def _plan_within(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Plan:
        """Return the plan in a trace: its pattern depends on known indices alone."""
        call = self._call(args, kwargs)
        (x,), y = call.inputs, call.result
        nodes = indices(x, y)
        if any(n.is_input for n in topological(nodes)):
            raise TraceError(
                f"{location()}{self._kind} inside of a traced function needs to know where the entries are, but this "
                "depends on indices that are arguments. Use indices from around the function, or bl.jacobian."
            )
        found = build(Graph((), tuple(nodes)), gear="replay")() if nodes else ()
        return (_symmetric if self._symmetric else _general)(x, y, dict(zip(nodes, found, strict=True)))

    def _trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The number of the graph that is made, and the indices that its pattern depends on."""
        call = self._call(args, kwargs)
        (x,), y = call.inputs, call.result
        nodes = indices(x, y)
        self._graphs.append((x, y, nodes))
        return (constant(np.array(len(self._graphs) - 1)), *call.place(tuple(nodes)))

    def _multiply(self, seeds: Array, by_columns: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """J' seed for every seed, or J seed."""
        call = self._call(args, kwargs)
        (x,), y = call.inputs, call.result
        like = x if by_columns else y
        v = Node("input", (), "seed", like.shape, like.dtype)
        (product,) = sweep.jvp([y], [x], [v]) if by_columns else sweep.vjp([y], [x], [v])
        many = batch(Graph((x, v), (product,)), [False, True], seeds.shape[0])
        return call.place(inline(many, (x, as_node(seeds)))[0])

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TracedCall:
        """Return the call to differentiate, as a function of one vector that gives one."""
        check_floating(self._f, args, self._argnum, self._kind)
        argnum = self._argnum % len(args)
        derived = grad(self._f, argnum) if self._symmetric else self._f

        def flat(v: Array) -> Any:
            displaced = (*args[:argnum], tree.unravel(v, args[argnum]), *args[argnum + 1 :])
            y = as_node(tree.ravel(derived(*displaced, **kwargs)))
            if y.dtype.kind != "f":
                raise ArgumentError(f"{self._kind} needs floating results; {name_of(self._f)} returned {y.dtype}.")
            return y

        return TracedCall(flat, (tree.ravel(args[argnum]),), {}, (0,), self._kind)


def _is_traced(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return any(isinstance(leaf, Node) for leaf in trees.flatten((args, kwargs))[0])


def _general(x: Node, y: Node, values: dict[Node, Any]) -> _Plan:
    """Plan products by columns, unless the fullest row has more entries than the fullest column."""
    found = _ordered(pattern(x, y, values))
    by_columns = np.diff(found.indptr).max(initial=0) <= np.diff(found.tocsc().indptr).max(initial=0)
    rows, columns = found.tocoo().coords
    colors = distinct(found if by_columns else found.T.tocsr())
    groups, places = (colors[columns], rows) if by_columns else (colors[rows], columns)
    return _Plan(found, _seeds(colors, found, x if by_columns else y), groups, places, bool(by_columns))


def _symmetric(x: Node, y: Node, values: dict[Node, Any]) -> _Plan:
    """An entry stands alone in its row in the product of its column's colour, or else in that of its row's colour."""
    found = pattern(x, y, values)
    found = _ordered(found + found.T)
    rows, columns = found.tocoo().coords
    colors = star(found)
    count = int(colors.max(initial=-1)) + 1
    alone = np.bincount(rows * count + colors[columns], minlength=x.size * count)[rows * count + colors[columns]] == 1
    groups: Any = np.where(alone, colors[columns], colors[rows])
    places = cast("Any", np.where(alone, rows, columns))
    return _Plan(found, _seeds(colors, found, x), groups, places, True)


def _ordered(found: Any) -> Any:
    found = found.tocsr()
    found.sort_indices()
    return found


def _seeds(colors: Array, found: Any, like: Node) -> Any:
    """A row for each colour; none where there is nothing to compute."""
    count = int(colors.max(initial=-1)) + 1 if found.nnz else 0
    return (colors == np.arange(count)[:, None]).astype(like.dtype)
