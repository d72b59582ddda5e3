"""The queries about a sum of losses: each query is a traced function of one sample, compiled at first use."""

import inspect
from collections.abc import Callable, Sequence
from functools import partial, wraps
from inspect import Parameter
from types import FunctionType
from typing import Any, NamedTuple, cast

import numpy as np

from burlab import transforms
from burlab.compiler.function import Function as CompiledFunction
from burlab.errors import ArgumentError, ShapeError
from burlab.graph import Graph, Node, tree
from burlab.graph.executions import work_of
from burlab.graph.linear_nodes import concatenate, reshape
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.rewrite.entries import entries
from burlab.graph.tracing.trace import trace
from burlab.problems.data import Data
from burlab.problems.point import Point
from burlab.problems.sampling import Stream
from burlab.problems.trainable import Trainable
from burlab.runtime.checks.numbers import flag, shown
from burlab.runtime.coerce import Array
from burlab.transforms import jvp, vmap
from burlab.transforms.call import pair_of
from burlab.typing import ArrayLike, Key

from .client_queries import ClientKeepers, RemoteClients
from .direct import Directs
from .loss import Loss
from .sample_kernel import SampleKernel
from .steepest import grad, hvp, value_and_grad
from .targets import Targets, plain, with_goals
from .tiles import DEFAULT_OPTIONS, HEAVY, KernelOptions, least_of
from .tiling import Tiling

Function = Callable[..., Any]

QUERY_WORK_RATIO = 16  # work of the heaviest query over that of the loss


def _value(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    return (value_and_grad(loss, x, *sample, **key)[0],)  # checks that the loss is one number


def _value_like(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """The value in x's dtype."""
    return (_value(loss, x, *sample, **key)[0].astype(_dtype(x)),)


def _gradient(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    return (grad(loss, x, *sample, **key),)


def _training(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """Value and gradient in one dtype, the gradient's."""
    value, gradient = value_and_grad(loss, x, *sample, **key)
    return value.astype(_dtype(x)), gradient


def _measured(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """Value, gradient, and the metrics that the loss returns with its value, in one dtype."""
    (value, metrics), gradient = transforms.value_and_grad(loss, has_aux=True)(x, *sample, **key)
    return value.astype(_dtype(x)), tree.conjugated(gradient), _numbers(metrics, _dtype(x))


def _measured_value(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """Value and metrics, with nothing in the place of a gradient."""
    value, _, metrics = _measured(loss, x, *sample, **key)
    return value, (), metrics


def _numbers(metrics: object, dtype: "np.dtype[Any]") -> dict[str, Node]:
    if not isinstance(metrics, dict) or not all(isinstance(name, str) for name in cast("dict[Any, Any]", metrics)):
        raise ArgumentError(
            f"with has_aux=True the loss returns (value, {{name: number, ...}}), but the second is {shown(metrics)}."
        )
    nodes = {name: as_node(number) for name, number in cast("dict[str, Any]", metrics).items()}
    for name, node in nodes.items():
        if node.shape:
            raise ShapeError(f"the metric {shown(name)} has shape {node.shape}, expected (). Sum it, or take its mean.")
    return {name: as_dtype(node, dtype) for name, node in nodes.items()}


def _difference(loss: Function, x: tree.Tree, y: tree.Tree, *sample: Any, **key: Any) -> Any:
    at_x, structure = tree.flatten(grad(loss, x, *sample, **key))
    at_y = tree.flatten(grad(loss, y, *sample, **key))[0]
    return (tree.unflatten(structure, [a - b for a, b in zip(at_x, at_y, strict=True)]),)


def _partial(loss: Function, x: tree.Tree, coordinates: ArrayLike, *sample: Any, **key: Any) -> Any:
    """Entries of the gradient, computed without the others where that is cheaper."""
    return (entries(_flat(grad(loss, x, *sample, **key)), as_node(coordinates)),)


def _curvature(loss: Function, x: tree.Tree, v: tree.Tree, *sample: Any, **key: Any) -> Any:
    return (hvp(loss, x, *sample, v, **key),)


def _hessian(loss: Function, x: tree.Tree, *sample: Any, **key: Any) -> Any:
    """Second derivatives by all numbers of x, shape (d, d): row k is the product with unit vector k."""
    leaves, structure = tree.flatten(x)
    ends = np.cumsum([leaf.size for leaf in leaves])[:-1]

    def row(unit: Array) -> Any:
        parts = [np.reshape(v, leaf.shape) for v, leaf in zip(np.split(unit, ends), leaves, strict=True)]
        return _flat(hvp(loss, x, *sample, tree.unflatten(structure, parts), **key))

    return (vmap(row)(np.eye(sum(leaf.size for leaf in leaves), dtype=leaves[0].dtype)),)


def _directional(loss: Function, x: tree.Tree, v: tree.Tree, *sample: Any, **key: Any) -> Any:
    """The derivative along a vector, in x's dtype."""

    def at(y: tree.Tree) -> Any:
        return loss(y, *sample, **key)

    slope = jvp(at, (x,), (v,))[1]
    return (as_dtype(as_node(slope), _dtype(x)),)


def _dtype(x: tree.Tree) -> "np.dtype[Any]":
    return tree.flatten(x)[0][0].dtype


def _flat(gradient: tree.Tree) -> Node:
    """All leaves as one vector."""
    return concatenate([reshape(as_node(leaf), (as_node(leaf).size,)) for leaf in tree.flatten(gradient)[0]], 0)


_QUERIES = {
    "value": _value,
    "value_like": _value_like,
    "value_and_grad": value_and_grad,
    "grad": _gradient,
    "training": _training,
    "measured": _measured,
    "measured_value": _measured_value,
    "grad_difference": _difference,
    "partial_grad": _partial,
    "resampled_grad": _gradient,
    "hvp": _curvature,
    "jvp": _directional,
    "hessian": _hessian,
}


class _Given(NamedTuple):
    loss: Function
    data: Data
    regularizer: Function | None
    has_aux: bool
    options: KernelOptions
    clients: tuple[int, ...]
    keepers: ClientKeepers | None
    resampled: Function | None
    targets: Targets | None


class Oracle:
    """A loss, the samples it is averaged over, the regularizer that is added once; without data: a plain function."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a problem consists of
        self,
        loss: Function,
        data: Data,
        regularizer: Function | None = None,
        has_aux: bool = False,
        options: KernelOptions = DEFAULT_OPTIONS,
        clients: tuple[int, ...] = (),
        keepers: ClientKeepers | None = None,
        resampled: Function | None = None,
        targets: Targets | None = None,
    ) -> None:
        """has_aux: the loss returns (value, metrics); "measured" and "measured_value" then return both.

        options: of the kernels. clients: number of samples of each client of a federation. keepers: the remote clients.
        resampled: the loss with a label that the model draws, by the sample's key. targets: the parts of the loss.
        """
        has_aux = flag(has_aux, "has_aux")
        self._given = _Given(loss, data, regularizer, has_aux, options, clients, keepers, resampled, targets)
        self.clients = clients
        self.keepers = keepers
        self.options = options
        self.loss = _first(loss) if has_aux else _own(loss)
        self._measured = _own(loss) if has_aux else None
        self.data = data
        self.regularizer = None if regularizer is None else _own(regularizer)
        self.keyed = takes_key(loss)
        self._losses: dict[Any, Loss] = {}
        self.directs = Directs()

    def __reduce__(self) -> Any:
        """Copy and pickle the arguments only: compiled kernels point into memory of C++."""
        return Oracle, tuple(self._given)

    def of_clients(self, sizes: tuple[int, ...], keepers: ClientKeepers | None) -> "Oracle":
        """Return the oracle with samples that belong to clients."""
        return Oracle(*self._given._replace(clients=sizes, keepers=keepers))

    def over(self, data: Data) -> "Oracle":
        """Return the oracle over other samples, without clients."""
        return Oracle(*self._given._replace(data=data, clients=(), keepers=None))

    def remote(self, point: Point) -> RemoteClients | None:
        """Return the clients that are not in this process. point: x."""
        return None if self.keepers is None else self.keepers.session(self, point)

    def weighted(self, weights: Array) -> "Oracle":
        """Return the oracle with weights of samples, shape (n,), of x's dtype."""
        data, own = self._given.data.with_weights(weights), self._given.resampled
        loss, resampled = _weighted(self._given.loss), None if own is None else _weighted(own)
        parts = self._given.targets and self._given.targets._replace(weighted=True)
        return Oracle(*self._given._replace(loss=loss, data=data, resampled=resampled, targets=parts))

    def of_trained(self, part: Trainable) -> "Oracle":
        """Return the oracle as a function of the trained part of x."""
        given = self._given
        loss, *others = (None if f is None else part.bound(f) for f in (given.loss, given.regularizer, given.resampled))
        parts = given.targets and given.targets._replace(model=part.bound(given.targets.model))
        return Oracle(
            *given._replace(loss=loss or given.loss, regularizer=others[0], resampled=others[1], targets=parts)
        )

    def target_size(self, point: Point) -> int:
        """Return the size of the model's output for a sample; 0 for a loss without parts."""
        return 0 if self._given.targets is None else self._given.targets.size(point, self.data)

    def kernels(self, query: str, shared: Sequence[Point]) -> Loss:
        """Return the kernels of a query. shared: x, and its other arguments."""
        key = (query, *((p.structure, *((leaf.shape, leaf.dtype) for leaf in p.leaves)) for p in shared))
        if key not in self._losses:
            self._losses.setdefault(key, self._traced(query, shared))  # concurrent threads get the same
        return self._losses[key]

    def _traced(self, query: str, shared: Sequence[Point]) -> Loss:
        if query in ("targets", "surrogate") and self._given.targets is not None:
            return self._of_targets(query, self._given.targets, shared)
        rule, trees = _QUERIES[query], [p.tree for p in shared]

        def least(graph: Graph) -> int:
            return least_of(self._work(query, graph, trees[0]))

        if query == "resampled_grad":  # the curvature of the loss alone
            return Loss(
                SampleKernel.trace(partial(rule, self._resampled()), trees, self.data, True, least, self.options), None
            )
        measures = query in ("measured", "measured_value")
        loss = self._measured if measures and self._measured is not None else self.loss
        samples = SampleKernel.trace(partial(rule, loss), trees, self.data, self.keyed, least, self.options)
        if self.regularizer is None:
            return Loss(samples, None)
        other = _with_zeros(self.regularizer, samples.metrics) if measures else self.regularizer
        return Loss(samples, SampleKernel.trace(partial(rule, other), trees, Data.none(), False))

    def _of_targets(self, query: str, parts: Targets, shared: Sequence[Point]) -> Loss:
        """Return the kernels of the queries about targets of samples."""
        trees = [p.tree for p in shared]
        if query == "targets":
            loss = _first(parts.loss) if self.has_aux else parts.loss
            return Loss(
                SampleKernel.trace(partial(parts.row, loss), trees, self.data, self.keyed, options=self.options), None
            )
        data = with_goals(self.data, self.target_size(shared[0]), shared[0].leaves[0].dtype)

        def least(graph: Graph) -> int:
            return least_of(work_of(graph))

        samples = SampleKernel.trace(parts.surrogate, trees, data, self.keyed, least, self.options, placed=1)
        if self.regularizer is None:
            return Loss(samples, None)
        return Loss(samples, SampleKernel.trace(partial(plain, self.regularizer), trees, Data.none(), False))

    def _resampled(self) -> Function:
        """Return the loss with labels that the model draws. Raises ArgumentError for a problem without one."""
        if self._given.resampled is None:
            raise ArgumentError(
                "f.resampled_grad needs a loss for labels that the model draws. Pass it as bl.FiniteSum(loss, data, "
                "resampled=f), where f(x, *sample, key=) is the loss for such a label."
            )
        return _own(self._given.resampled)

    def _work(self, query: str, graph: Graph, x: tree.Tree) -> int:
        """Return the work of the loss of a sample, the same for all queries, so that they cut batches alike.

        graph: of the query; its work serves as the estimate if it is heavy.
        """
        if query != "value" and work_of(graph) <= QUERY_WORK_RATIO * HEAVY:
            keyword = {"key": np.zeros(2, np.uint64)} if self.keyed else {}
            graph = trace(partial(_value, self.loss), (x, *self.data.example), keyword).graph
        return work_of(graph)

    @property
    def tiles(self) -> dict[tuple[str, int], Tiling]:
        """The tiles chosen so far, by query and number of samples of a batch."""
        losses = ((key[0], loss) for key, loss in list(self._losses.items()))
        return {(query, batch): tiling for query, loss in losses for batch, tiling in loss.tilings.items()}

    @property
    def has_aux(self) -> bool:
        """Return True if the loss returns metrics with its value."""
        return self._measured is not None

    def mean(self, query: str, shared: Sequence[Point], stream: Stream, key: Key | None, threads: int) -> Any:
        """Return the answer over a batch: the mean over its samples, plus the regularizer's."""
        return self.kernels(query, shared).on(threads).mean(shared, stream, key, threads)


def _own(loss: Function) -> Function:
    """Wrap a method, so that caches of transforms, which hold the function, do not hold its object."""
    kind: type[Any] = type(loss)
    if kind in (FunctionType, CompiledFunction):
        return loss

    @wraps(loss, updated=())
    def same(*arguments: Any, **key: Any) -> Any:
        return loss(*arguments, **key)

    return same


def _first(loss: Function) -> Function:
    """Return the value of a loss that returns (value, metrics)."""

    def value(x: tree.Tree, *sample: Any, **key: Any) -> Any:
        return pair_of(loss(x, *sample, **key), loss)[0]

    return value


def _weighted(loss: Function) -> Function:
    """Multiply a loss, and its metrics, by the last array of its sample."""

    @wraps(loss, updated=())
    def product(x: tree.Tree, *sample: Any, **key: Any) -> Any:
        *others, weight = sample
        result = loss(x, *others, **key)
        numbers, structure = tree.flatten(result)
        return tree.unflatten(structure, [weight * number for number in numbers])

    return product


def _with_zeros(regularizer: Function, metrics: Sequence[str]) -> Function:
    """Return a regularizer with metrics of 0."""

    def rule(x: tree.Tree) -> Any:
        return regularizer(x), dict.fromkeys(metrics, 0.0)

    return rule


def takes_key(loss: Function) -> bool:
    """Return True for a loss with a parameter `key`, which is a random key for each sample."""
    try:
        key = inspect.signature(loss).parameters.get("key")
    except (TypeError, ValueError):  # a NumPy ufunc has no signature
        return False
    return key is not None and key.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
