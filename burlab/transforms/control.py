"""Control flow that NumPy's protocols cannot see, for arrays as for traced values: `while_loop` and `cond`."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError, TraceError
from burlab.graph import Node, tree
from burlab.graph.origin import location, recording
from burlab.graph.regions import cond_nodes, while_nodes
from burlab.graph.tracing.trace import Spec, is_tracing, trace
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.plain import as_array
from burlab.typing import ArrayLike, Tree

from .forms import bit, common, example, form_of, in_form, in_forms, node_of, settled

Leaves = list[Any]
_STATE = "a leaf of the state of while_loop"


def while_loop(condition: Callable[[Tree], Any], body: Callable[[Tree], Tree], start: Tree) -> Tree:
    """Return the state after `while condition(state): state = body(state)`, from `start`.

    On plain arrays this is a Python loop. Inside a traced function it is one C++ loop, which may read values from the
    surrounding function; it has no derivative.

    Args:
        condition: a function of the state that returns one bool.
        body: a function of the state that returns a state of the same structure, shapes and dtypes; a Python number in
            the start gets the dtype that body gives it.
        start: an array or number, or any tree of them.

    Returns:
        The last state.

    Raises:
        TraceError, ShapeError, DTypeError: if condition or body return anything else.

    >>> import numpy as np, burlab as bl
    >>> def root(a):  # Newton's iteration for the square root
    ...     return bl.while_loop(lambda x: np.abs(x * x - a) > 1e-12 * a, lambda x: (x + a / x) / 2, a)
    >>> float(root(2.25)), float(bl.jit(root)(2.25))
    (1.5, 1.5)
    """
    for f, what in ((condition, "condition"), (body, "body")):
        advice = "It takes one argument, which is a tuple where start is one."
        check_takes(f, f"the {what} of while_loop", "the state alone", advice, where=location)
    leaves, structure = tree.flatten(start)
    if not leaves:
        raise TraceError(f"{location()}while_loop got a start without arrays or numbers. Pass at least one.")
    if any(isinstance(leaf, Node) for leaf in leaves):
        return tree.unflatten(structure, _traced_loop(condition, body, leaves, structure))
    if is_tracing():
        results = _traced_loop(condition, body, leaves, structure)
        if len(results[0].inputs) > len(leaves):  # it reads a traced value from around it
            return tree.unflatten(structure, results)
    return _plain_loop(condition, body, leaves, structure)


def cond(choice: ArrayLike, true: Callable[..., Any], false: Callable[..., Any], *operands: Tree) -> Tree:
    """Return true(*operands) if choice else false(*operands), executing only one of them, even if choice is traced.

    Inside a traced function both are traced. The result can be differentiated.

    Args:
        choice: one bool.
        true: a function of the operands, which may also read values from the surrounding function.
        false: another one. In a trace both return the same structure, shapes and dtypes; a Python number gets the dtype
            of the other result.
        operands: arrays, numbers or trees of them.

    Returns:
        The result of the function that is executed.

    Raises:
        TraceError, ShapeError, DTypeError: if the results differ in form.

    >>> import numpy as np, burlab as bl
    >>> grow = bl.jit(lambda x: bl.cond(np.sum(x) < 0, np.exp, lambda x: x + 1.0, x))
    >>> grow(np.array([-1.0, 0.0])).round(2), grow(np.array([1.0, 0.0]))
    (array([0.37, 1.  ]), array([2., 1.]))
    """
    for f, what in ((true, "true"), (false, "false")):
        if not callable(f):
            raise ArgumentError(
                f"{location()}the {what} side of cond is a {type(f).__name__}, expected a function. Pass two functions "
                "of the operands, or use np.where for two values."
            )
    if not isinstance(choice, Node):
        return (true if _decided(choice, "choice of cond") else false)(*operands)
    _check_bool([choice], "choice of cond")
    leaves, structure = tree.flatten(operands)
    nodes = [node_of(leaf, "an operand of cond") for leaf in leaves]
    examples = tree.unflatten(structure, [example(n) for n in nodes])
    with recording() as recorded:
        yes, no = (trace(f, examples) for f in (true, false))
        if yes.result != no.result:
            raise TraceError(
                f"{location()}the two sides of cond return different structures, {yes.result} and {no.result}. "
                "Return the same tree from both."
            )
        forms = [
            _agreed(form_of(a, "a result of cond"), form_of(b, "a result of cond"), k)
            for k, (a, b) in enumerate(zip(yes.graph.outputs, no.graph.outputs, strict=True))
        ]
        graphs = (in_forms(yes.graph, forms), in_forms(no.graph, forms))
    return tree.unflatten(yes.result, cond_nodes(choice, *graphs, nodes, recorded))


# Loops.


def _plain_loop(
    condition: Callable[[Tree], Any], body: Callable[[Tree], Tree], leaves: Leaves, structure: tree.TreeDef
) -> Tree:
    state = tree.unflatten(structure, map(bit, leaves))
    forms = [form_of(leaf, _STATE) for leaf in leaves]
    while _decided(condition(state), "condition of while_loop"):
        leaves, found = tree.flatten(body(state))
        _check_structure(found, structure)
        pairs = zip(forms, (form_of(leaf, _STATE) for leaf in leaves), strict=True)
        forms = settled(pairs, state, "state", "the body of while_loop")
        state = tree.unflatten(structure, map(bit, leaves))
    return state


def _traced_loop(
    condition: Callable[[Tree], Any], body: Callable[[Tree], Tree], leaves: Leaves, structure: tree.TreeDef
) -> list[Node]:
    start = [node_of(leaf, _STATE) for leaf in leaves]
    while True:
        state = tree.unflatten(structure, [example(n) for n in start])
        with recording() as recorded:
            after = trace(body, (state,))
            _check_structure(after.result, structure)
            pairs = zip(start, after.graph.outputs, strict=True)
            both = ((form_of(n, _STATE), form_of(y, _STATE)) for n, y in pairs)
            forms = settled(both, state, "state", "the body of while_loop")
            if all(form_of(n, _STATE) == form for n, form in zip(start, forms, strict=True)):
                decision = trace(condition, (state,)).graph
                _check_bool(decision.outputs, "condition of while_loop")
                return while_nodes(decision, in_forms(after.graph, forms), start, recorded)
        start = [in_form(n, form) for n, form in zip(start, forms, strict=True)]  # and once more from these


# What is refused.


def _decided(answer: ArrayLike, what: str) -> bool:
    value = as_array(answer, what)
    if value.shape or value.dtype != np.bool_:
        _refuse(what, f"{value.dtype} of shape {value.shape}")
    return bool(value)


def _check_bool(outputs: "list[Node] | tuple[Node, ...]", what: str) -> None:
    if len(outputs) != 1:
        _refuse(what, f"a tree of {len(outputs)} values")
    if outputs[0].shape or outputs[0].dtype != np.bool_:
        _refuse(what, f"{outputs[0].dtype} of shape {outputs[0].shape}")


def _refuse(what: str, got: str) -> NoReturn:
    raise TraceError(
        f"{location()}the {what} must be one bool, got {got}. Compare, as in np.all(x > 0), or use np.any."
    )


def _check_structure(found: tree.TreeDef, expected: tree.TreeDef) -> None:
    if found != expected:
        raise TraceError(
            f"{location()}the body of while_loop gave a state of structure {found}, but it started with {expected}. "
            "Return the same tree."
        )


def _agreed(yes: Spec, no: Spec, k: int) -> Spec:
    form = common(yes, no)
    if form is not None:
        return form
    if yes.shape != no.shape:
        raise ShapeError(
            f"{location()}result {k} of cond has shape {yes.shape} on one side and {no.shape} on the other. "
            "Return the same shapes from both."
        )
    raise DTypeError(
        f"{location()}result {k} of cond is {yes.dtype} on one side and {no.dtype} on the other. "
        "Return the same dtypes from both: convert one with .astype."
    )
