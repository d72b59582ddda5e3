"""Control flow that NumPy's protocols cannot see: `while_loop`, of arrays as of traced values."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from burlab.errors import DTypeError, ShapeError, TraceError
from burlab.graph import Graph, Node, tree
from burlab.graph.control import while_nodes
from burlab.graph.elementwise import as_dtype
from burlab.graph.node import as_node
from burlab.graph.origin import births, here
from burlab.graph.trace import Spec, Traced, is_tracing, spec_of, trace

State = Any  # a tree of arrays and numbers
_ORDER = "biuf"  # kinds of dtypes: a Python number takes on one to the right of its own


def while_loop(condition: Callable[[State], Any], body: Callable[[State], State], start: State) -> State:
    """The state after `while condition(state): state = body(state)`, from `start`.

    start: an array or number, or any tree of them. condition(state): one bool. body(state): a state of the same
    structure, shapes and dtypes; a Python number in the start takes on the dtype that body gives it. On plain arrays
    it is that Python loop. Inside of a traced function it is one loop of C++, which may read values from around it;
    no derivative passes through it. Raises TraceError, ShapeError or DTypeError where condition or body give anything
    else.

    >>> import numpy as np, burlab as bl
    >>> def root(a):  # Newton's iteration for the square root
    ...     return bl.while_loop(lambda x: np.abs(x * x - a) > 1e-12 * a, lambda x: (x + a / x) / 2, a)
    >>> float(root(2.25)), float(bl.jit(root)(2.25))
    (1.5, 1.5)
    """
    leaves, structure = tree.flatten(start)
    if not leaves:
        raise TraceError(f"{here()}while_loop got a start without arrays or numbers. Pass at least one.")
    if any(isinstance(leaf, Node) for leaf in leaves):
        return tree.unflatten(structure, _traced(condition, body, leaves, structure))
    if is_tracing():
        results = _traced(condition, body, leaves, structure)
        if len(results[0].inputs) > len(leaves):  # it reads a traced value from around it
            return tree.unflatten(structure, results)
    return _plain(condition, body, leaves, structure)


def _plain(
    condition: Callable[[State], Any], body: Callable[[State], State], leaves: list[Any], structure: tree.TreeDef
) -> State:
    state = tree.unflatten(structure, map(_bit, leaves))
    while _decided(condition(state)):
        new, found = tree.flatten(body(state))
        _check_structure(found, structure)
        for k, (old, leaf) in enumerate(zip(leaves, new, strict=True)):
            _settled(_form(old), _form(leaf), state, k)
        leaves = new
        state = tree.unflatten(structure, map(_bit, leaves))
    return state


def _bit(leaf: Any) -> Any:
    """A Python bool as NumPy's, whose ~ is what it is in a trace: not."""
    return np.bool_(leaf) if isinstance(leaf, bool) else leaf


def _decided(answer: Any) -> bool:
    value = np.asarray(answer)
    if value.shape or value.dtype != np.bool_:
        _refuse_condition(f"{value.dtype} of shape {value.shape}")
    return bool(value)


def _form(leaf: Any) -> Spec:
    try:
        spec = spec_of(leaf, "the state of while_loop")
    except DTypeError as error:
        raise DTypeError(f"{here()}{error}") from None
    if isinstance(spec, Spec):
        return spec
    if not isinstance(leaf, (bool, int)):
        raise TraceError(
            f"{here()}the state of while_loop holds a {type(leaf).__name__}; it is made of arrays and numbers. "
            "Let condition and body read other things from around them."
        )
    return Spec((), np.asarray(leaf).dtype, weak=type(leaf) is int)


def _traced(
    condition: Callable[[State], Any], body: Callable[[State], State], leaves: list[Any], structure: tree.TreeDef
) -> list[Node]:
    start = [as_node(leaf) if isinstance(leaf, Node) else _constant(leaf) for leaf in leaves]
    while True:
        state = tree.unflatten(structure, [Node("input", (), "state", n.shape, n.dtype, n.weak) for n in start])
        with births() as made:
            after = trace(body, (state,))
            _check_structure(after.result, structure)
            forms = [
                _settled(_form(n), _form(y), state, k)
                for k, (n, y) in enumerate(zip(start, after.graph.outputs, strict=True))
            ]
            if all(_form(n) == form for n, form in zip(start, forms, strict=True)):
                new = tuple(as_dtype(y, n.dtype) for y, n in zip(after.graph.outputs, start, strict=True))
                return while_nodes(_decision(trace(condition, (state,))), Graph(after.graph.inputs, new), start, made)
        start = [_as(n, form) for n, form in zip(start, forms, strict=True)]


def _constant(leaf: Any) -> Node:
    _form(leaf)
    return as_node(leaf)


def _as(n: Node, form: Spec) -> Node:
    """A number of the start in the dtype that the body gives it."""
    n = as_dtype(n, form.dtype)
    return n if n.weak == form.weak else Node("reshape", (n,), n.shape, n.shape, n.dtype, form.weak)


def _decision(traced: Traced) -> Graph:
    outputs = traced.graph.outputs
    if not traced.result.is_leaf():
        _refuse_condition(f"a tree of {len(outputs)} values")
    if outputs[0].shape or outputs[0].dtype != np.bool_:
        _refuse_condition(f"{outputs[0].dtype} of shape {outputs[0].shape}")
    return traced.graph


def _refuse_condition(got: str) -> NoReturn:
    raise TraceError(
        f"{here()}the condition of while_loop must give one bool, got {got}. Compare, as in np.all(x > 0), or np.any."
    )


def _check_structure(found: tree.TreeDef, expected: tree.TreeDef) -> None:
    if found != expected:
        raise TraceError(
            f"{here()}the body of while_loop gave a state of structure {found}, but it started with {expected}. "
            "Return the same tree."
        )


def _settled(before: Spec, after: Spec, state: State, k: int) -> Spec:
    """The form of a leaf that both sides of a turn can have. Raises where there is none."""
    if before.shape != after.shape:
        raise ShapeError(
            f"{here()}the body of while_loop turns state{tree.leaf_names(state)[k]} of shape {before.shape} into "
            f"{after.shape}. A state keeps its shapes: start with an array of the final shape."
        )
    if before.dtype == after.dtype:
        return Spec(before.shape, before.dtype, before.weak and after.weak)
    for one, other in ((before, after), (after, before)):
        if one.weak and _ORDER.index(one.dtype.kind) <= _ORDER.index(other.dtype.kind):
            return other
    raise DTypeError(
        f"{here()}the body of while_loop turns state{tree.leaf_names(state)[k]} of {before.dtype} into {after.dtype}. "
        "A state keeps its dtypes: start with the dtype that the body gives, or convert there with .astype."
    )
