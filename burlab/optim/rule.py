"""An optimizer's update as a graph: traced once, with its hyperparameters and the step as inputs."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import Graph, Node, tree
from burlab.graph.linear_nodes import convert
from burlab.graph.node import as_node, widened
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.query import Question
from burlab.graph.signatures import ALL
from burlab.graph.substitute import inline
from burlab.graph.tracing.trace import trace
from burlab.runtime.checks.numbers import shown
from burlab.runtime.dtypes import computed_in, is_narrow_float
from burlab.runtime.plain import as_array
from burlab.typing import Operand, Tree

from .batches import BATCH, ESTIMATOR_NORM, GRADIENT_NORM, VALUE, Batches, Known
from .lazy_form import LazyForm
from .live_fields import Live, live_fields, with_values
from .optimizer import Optimizer, Vector, advance, start
from .per_leaf import flat_face
from .queries import Queries
from .used_numbers import described, logged_number, real_number, used_number

ONE_SAMPLE = Batches()
_STEP = Node("input", (), "t", (), np.dtype(np.int64), weak=True)
_PLACES = {"bits": 1, GRADIENT_NORM: 2, VALUE: 3}  # behind others: bits are added up, the last are no new columns
# Queries without chance, of the step's loss.
_SETTLED = {"value", "value_and_grad", "grad", "hvp", "hessian", "jvp", "residuals_and_jacobian"}
Form = tuple[tuple[int, ...], "np.dtype[Any]"]


class RuleProgram:
    """Names a traced update, for whatever is compiled from it; rules that differ by numbers have one."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True)
class UpdateRule:
    """A traced update.

    graph: inputs g, x, t (int64), the hyperparameters, the leaves of the state, the batch's value at x, the step's key,
    its samples by number, and the address of the oracle that answers queries; outputs x, the leaves of the state, and
    as float64 for each scheduled hyperparameter the value that the step used, and the logged metrics. hyper: start
    values, where NaN means that the schedule is followed; schedules: of the scheduled ones, in order; state: shapes and
    dtypes of its leaves. queries: their names, and "key" and "indices" where these are used. logged: names of metrics,
    "value" last.
    output: the point that the run gives, from x, t, the hyperparameters and the leaves of the state; None: x itself.
    size: how many samples a step has, int64, from t, the hyperparameters and the leaves of the state; None: always all.
    value_at: the point of the values in the history in words, as "T(x)", where a rule names one.
    lazy: the form of an update that C++ does row by row: then graph changes nothing. None: graph is the update.
    program: the same object for rules of one trace.
    """

    graph: Graph
    hyper: dict[str, float]
    schedules: dict[str, Callable[[Any], Any]]
    state: tuple[Form, ...]
    structure: tree.TreeDef
    queries: tuple[str, ...] = ()
    logged: tuple[str, ...] = ()
    output: Graph | None = None
    size: Graph | None = None
    value_at: str = ""
    lazy: LazyForm | None = None
    program: RuleProgram = field(default_factory=RuleProgram, compare=False, repr=False)

    @property
    def reads_gradient(self) -> bool:
        """Return True if the update reads the step's gradient."""
        g = self.graph.inputs[0]
        return self.lazy is not None or reads_input(g, self.graph)

    @property
    def repeats(self) -> bool:
        """Return True for a search that reads x, state and loss alone: a step that changes none repeats for ever."""
        _, _, t, *_ = self.graph.inputs
        asked = [Question.of(text) for text in self.queries]
        names = {question.name for question in asked}
        searches = not names.isdisjoint(("value", "value_and_grad"))
        settled = searches and _SETTLED.issuperset(names) and not any(question.chosen for question in asked)
        return settled and not self.schedules and not reads_input(t, self.graph)

    @property
    def logs_value(self) -> bool:
        """True if the update logs the value of its step, so that no other is computed."""
        return self.logged[-1:] == (VALUE,)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the logged metrics other than the value and the norm of the gradient: columns of their own."""
        return self.logged[: len(self.logged) - self.logs_value - self.logs_norm]

    @property
    def logs_norm(self) -> bool:
        """True if the update logs the norm of its gradient, where the step computes none."""
        return GRADIENT_NORM in self.logged


def trace_rule(
    optimizer: Optimizer,
    x: Vector,
    batches: Batches = ONE_SAMPLE,
    like: tree.Tree = None,
    f: Any = None,
    logs_estimate: bool = False,
) -> tuple[UpdateRule, list[Vector]]:
    """Trace the update of an optimizer that starts at x, shape (d,). Raises where it is no rule for x and the state.

    Also gives the leaves of the state at step 0, which a rule does not keep: they are as large as the model.
    Of a narrow x the update computes with float32, and rounds the next point.
    like: x before it was made flat, for rules that need its shapes. f: what answers the queries of init.
    logs_estimate: whether the norm of its gradient estimate is logged, where it names one.
    """
    kind, stored, x = type(optimizer).__name__, x.dtype, x.astype(computed_in(x.dtype), copy=False)
    optimizer = flat_face(optimizer, x if like is None else like)
    live, varies = _fields_of(optimizer, batches, kind), batches.planned is not None
    if varies:
        live.append(_live_batch(live, batches))
    initial = start(optimizer, x.copy() if x.dtype == stored else x, f)
    if not varies and optimizer.batch_size(initial) is not None:
        raise ArgumentError(f"{kind}.batch_size chooses the number of samples of a step. Pass batch=bl.Batch(8).")
    leaves, structure = tree.flatten(initial)
    state = _arrays(leaves, kind)

    queries, logged, value_at = tuple[str, ...](), tuple[str, ...](), ""

    def step(g: Operand, x: Operand, t: Operand, values: tuple[Any, ...], leaves: list[Any], *problem: Any) -> Any:
        nonlocal queries, logged, value_at
        before = tree.unflatten(structure, leaves)
        used, rule = _acting(optimizer, live, values, t)
        if varies:
            used[-1] = _size(rule, before, used[-1], values[-1], batches)
        f = Queries(Known(x, g, *problem), batches, as_dtype(used[-1], np.dtype(np.int64)) if varies else None)
        after = _next(advance(rule, g, before, x, t, f), kind, structure)
        if logs_estimate and f.estimate is not None:
            f.log({ESTIMATOR_NORM: f.estimate})
        norm = {} if f.gradient_norm is None else {GRADIENT_NORM: f.gradient_norm}
        numbers = dict(sorted((norm | f.logged).items(), key=lambda item: _PLACES.get(item[0], 0)))
        queries, logged, value_at = f.used, tuple(numbers), f.value_at
        followed = [value for field, value in zip(live, used, strict=True) if callable(field.start)]
        return *after, followed, [logged_number(kind, name, number) for name, number in numbers.items()]

    indices = np.zeros(batches[0], np.int64)  # by its place: this is no reading of the size, see `SeenBatches`
    problem = (np.zeros((), x.dtype), np.zeros(2, np.uint64), indices, np.int64(0))
    examples = [_example(leaf, array) for leaf, array in zip(leaves, state, strict=True)]
    graph = trace(step, (x, x, _STEP, tuple(field.number for field in live), examples, *problem)).graph
    _check(graph, kind, x, state)
    value_at = value_at and ("x" if _reads_own(graph, graph.inputs[-len(problem)]) else value_at)
    graph, logged = _without_known(graph, logged, graph.inputs[-len(problem)])
    forms, hyper = tuple((leaf.shape, leaf.dtype) for leaf in state), {field.name: field.number for field in live}
    output = _of_stored(_output(optimizer, live, x, examples, structure), 0, stored)

    def size(t: Operand, values: tuple[Any, ...], leaves: list[Any]) -> Any:
        used, rule = _acting(optimizer, live, values, t)
        found = _size(rule, tree.unflatten(structure, leaves), used[-1], values[-1], batches)
        return as_dtype(found, np.dtype(np.int64))

    sized = trace(size, (_STEP, tuple(field.number for field in live), examples)).graph if varies else None
    schedules = {field.name: field.start for field in live if callable(field.start)}
    return UpdateRule(
        _of_stored(graph, 1, stored), hyper, schedules, forms, structure, queries, logged, output, sized, value_at
    ), state


def rule_alike(
    rule: UpdateRule, optimizer: Optimizer, x: Vector, like: tree.Tree, f: Any
) -> tuple[UpdateRule, list[Vector]] | None:
    """The rule of an optimizer of the same program, by `same_program`, and the leaves of its state at step 0.

    Others: as for `trace_rule`. Nothing is traced. None where its init gives a state of another form.
    """
    kind = type(optimizer).__name__
    optimizer = flat_face(optimizer, like)
    leaves, structure = tree.flatten(start(optimizer, x.astype(computed_in(x.dtype)), f))
    state, hypers = _arrays(leaves, kind), len(rule.hyper)
    weak = [node.weak for node in rule.graph.inputs[3 + hypers :][: len(rule.state)]]
    forms = tuple((leaf.shape, leaf.dtype) for leaf in state)
    if (structure, forms, [_is_weak(leaf) for leaf in leaves]) != (rule.structure, rule.state, weak):
        return None
    live = live_fields(optimizer)
    planned = {field.name: field.start for field in live if callable(field.start)}
    hyper = {field.name: field.number for field in live}
    return replace(rule, hyper=rule.hyper | hyper, schedules=rule.schedules | planned), state


def _of_stored(graph: Any, position: int, dtype: "np.dtype[Any]") -> Any:
    """Return a graph whose first output is a vector x of this dtype, as is its input at a position; None of none."""
    if graph is None or not is_narrow_float(dtype):
        return graph
    before = graph.inputs[position]
    x = Node("input", (), before.params, before.shape, dtype)
    inputs = (*graph.inputs[:position], x, *graph.inputs[position + 1 :])
    after, *others = inline(graph, [widened(n) for n in inputs])
    return Graph(inputs, (convert(after, dtype), *others))


def _without_known(graph: Graph, logged: tuple[str, ...], value: Node) -> tuple[Graph, tuple[str, ...]]:
    """Return an update, and what it logs, without a value and a norm that the batch's own gradient gives all the same.

    value: of the batch.
    """
    known = {GRADIENT_NORM: reads_input(graph.inputs[0], graph), VALUE: _reads_own(graph, value)}
    first = len(graph.outputs) - len(logged)
    left = [(name, y) for name, y in zip(logged, graph.outputs[first:], strict=True) if not known.get(name)]
    return Graph(graph.inputs, (*graph.outputs[:first], *(y for _, y in left))), tuple(name for name, _ in left)


def _reads_own(graph: Graph, value: Node) -> bool:
    """Return True if an update reads gradient or value of its batch."""
    return reads_input(graph.inputs[0], graph) or reads_input(value, graph)


def reads_input(x: Node, graph: Graph) -> bool:
    """Return True if a graph reads one of its inputs."""
    return any(y is x for n in graph.nodes for y in n.inputs) or any(y is x for y in graph.outputs)


def _acting(optimizer: Optimizer, live: list[Live], values: tuple[Any, ...], t: Operand) -> tuple[list[Any], Optimizer]:
    """The hyperparameters of a step, and the optimizer with them."""
    used: list[Any] = [used_number(field, value, t) for field, value in zip(live, values, strict=True)]
    return used, with_values(optimizer, {field.path: value for field, value in zip(live, used, strict=True)})


def _fields_of(optimizer: Optimizer, batches: Batches, kind: str) -> list[Live]:
    """Return the live fields of an optimizer, and the numbers of the loss. Raises ArgumentError if names are equal."""
    own = live_fields(optimizer)
    taken = {live.name for live in own}
    for number in batches.numbers:
        if number.name in taken:
            raise ArgumentError(
                f"hyper names a number {shown(number.name)} of the loss, which is a live field of {kind}, too. Give it "
                "another name."
            )
    return [*own, *batches.numbers]


def _live_batch(live: list[Live], batches: Batches) -> Live:
    """The size of a batch as a hyperparameter, which follows its plan at first."""
    if any(field.name == BATCH for field in live):
        raise ArgumentError(
            f"the optimizer has a live field {shown(BATCH)}, as the size of a bl.Batch is called. Rename it."
        )
    return Live(BATCH, (), planned_sizes(batches.planned))


def planned_sizes(planned: Any) -> Callable[[Any], Any]:
    """Return the schedule of a batch's size. planned: the first size, or a schedule."""
    return planned if callable(planned) else lambda t: planned + 0 * t


def _size(rule: Optimizer, state: tuple[Any, ...], planned: Node, value: Node, batches: Batches) -> Node:
    """Return the number of samples of a step, as float64. planned: by the schedule, or set; value: NaN if not set."""
    wish = rule.batch_size(state)
    wide = np.dtype(np.float64)
    if wish is not None:
        what = f"what {type(rule).__name__}.batch_size gave"
        wish = real_number(wish, what)
        if wish.shape:
            raise ShapeError(f"{what} has shape {wish.shape}, expected (): the number of samples of a step.")
    size: Any = planned if wish is None else np.where(np.isnan(value), as_dtype(wish, wide), value)
    number: Any = as_dtype(as_node(size), wide)
    rounded: Any = np.floor(number + 0.5)
    return as_node(np.fmax(1.0, np.fmin(float(batches.batch), rounded)))


def _output(
    optimizer: Optimizer, live: list[Live], x: Vector, examples: list[Any], structure: tree.TreeDef
) -> Graph | None:
    """Trace the optimizer's output from x, the step, hyperparameters and leaves of the state; None for x itself."""

    def give(x: Operand, t: Operand, values: tuple[Any, ...], leaves: list[Any]) -> Any:
        rule = _acting(optimizer, live, values, t)[1]
        return rule.output(x, tree.unflatten(structure, leaves))

    graph = trace(give, (x, _STEP, tuple(field.number for field in live), examples)).graph
    if graph.outputs and graph.outputs[0] is graph.inputs[0]:
        return None
    kind = f"{type(optimizer).__name__}.output"
    forms = [(y.shape, y.dtype) for y in graph.outputs]
    if forms != [(x.shape, x.dtype)]:
        raise ShapeError(f"{kind} returned {forms}, expected one vector as x is: {(x.shape, x.dtype)}.")
    return graph


def like_state(state: tree.Tree, rule: UpdateRule, leaves: list[Vector]) -> list[Vector]:
    """The leaves of a state that a run is to start from. leaves: those of `init`, whose form it must have."""
    given, structure = tree.flatten(state)
    if structure != rule.structure:
        raise ArgumentError(f"state has the structure {structure}, but init of the optimizer gives {rule.structure}.")
    arrays = [as_array(leaf, "a leaf of state") for leaf in given]
    for name, array, like in zip(tree.leaf_names(state), arrays, leaves, strict=True):
        if array.shape != like.shape:
            raise ShapeError(f"state{name} has shape {array.shape}, expected {like.shape}, as init gives it.")
        if array.dtype != like.dtype:
            raise DTypeError(f"state{name} has dtype {array.dtype}, expected {like.dtype}, as init gives it.")
    return [np.array(array, order="C") for array in arrays]


def _arrays(leaves: list[Any], kind: str) -> list[Vector]:
    """The leaves of a state at step 0. kind: of the optimizer."""
    return [_state_leaf(leaf, f"{kind}.init") for leaf in leaves]


def _state_leaf(leaf: Tree, where: str) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = np.asarray(as_array(leaf, f"a leaf of the state of {where}"), order="C")
    if array.dtype not in ALL:
        raise DTypeError(f"{where} gave a state of dtype {array.dtype}; use float32, float64, integers or bool.")
    return array


def _example(leaf: Tree, array: np.ndarray[Any, Any]) -> Any:
    """Return the example of a leaf of the state with which an update is traced."""
    return Node("input", (), "state", array.shape, array.dtype, weak=True) if _is_weak(leaf) else array


def _is_weak(leaf: Tree) -> bool:
    """Python numbers in the state stay weak, as they would be in NumPy."""
    return type(leaf) in (int, float)


def _next(result: Tree, kind: str, structure: tree.TreeDef) -> Any:
    if not isinstance(result, tuple) or len(cast("tuple[Any, ...]", result)) != 2:
        got = type(cast("object", result)).__name__
        raise ArgumentError(f"{kind}.update returned a {got}, expected (x, state), or (x, state, {{name: number}}).")
    x, state = cast("tuple[Any, Any]", result)
    parts = tree.flatten(x)[0]
    if len(parts) != 1 or parts[0] is not x:
        raise ArgumentError(f"{kind}.update returned {described(x)} as x, expected one array of real numbers.")
    leaves, found = tree.flatten(state)
    if found != structure:
        raise ArgumentError(f"{kind}.update returned a state of structure {found}, but init gave {structure}.")
    return x, leaves


def _check(graph: Graph, kind: str, x: Vector, state: list[Vector]) -> None:
    for k, (new, old) in enumerate(zip(graph.outputs, (x, *state), strict=False)):  # the numbers used follow
        what = f"{kind}.update returned {'x' if k == 0 else f'state leaf {k - 1}'}"
        if new.shape != old.shape:
            raise ShapeError(f"{what} with shape {new.shape}, expected {old.shape}, as before the step.")
        if new.dtype != old.dtype:
            raise DTypeError(
                f"{what} as {new.dtype}, expected {old.dtype}. A NumPy number or array in the rule changed the dtype: "
                "hyperparameters and Python numbers do not."
            )
