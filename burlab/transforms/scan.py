"""`scan`: a loop of known length, with derivatives of every order."""

from collections.abc import Callable
from math import isqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from burlab.errors import ArgumentError, ShapeError, TraceError
from burlab.graph import Node, tree
from burlab.graph.graph import ScanIterations
from burlab.graph.origin import location, recording
from burlab.graph.regions import scan_nodes
from burlab.graph.tracing.trace import Spec, Traced, is_tracing, trace
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import shown
from burlab.runtime.memory import check_fits
from burlab.runtime.plain import as_array
from burlab.typing import Tree

from .checkpoint_function import checkpoint
from .forms import bit, example, form_of, in_form, in_forms, node_of, settled

_CARRY, _ELEMENT, _RESULT = "a leaf of the carry of scan", "a leaf of xs of scan", "a stacked result of scan"
_BODY = "the body of scan"


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]], init: Tree, xs: Tree = None, length: int | None = None, *,
    reverse: bool = False, remat: bool | int | Literal["sqrt"] = False,
) -> tuple[Tree, Tree]:  # fmt: skip
    """Return the last carry and the stacked results of `carry, y = f(carry, x)`, x running through xs: JAX's scan.

    On plain arrays this is a Python loop. Inside a traced function it is one C++ loop, whatever the length, which may
    read values from the surrounding function. It has derivatives of every order, and vmap runs all samples through the
    loop together. Reverse mode stores the carries of all iterations, and what goes into matrix products; it computes
    the rest of each iteration again.

    Args:
        f: a function of carry and element. It returns a carry of the same structure, shapes and dtypes, and any tree,
            or None.
        init: the first carry: an array or number, or any tree of them.
        xs: a tree of arrays whose leading axes have the length; None where `length` gives it.
        length: the number of iterations, where it is not that of xs.
        reverse: run from the last element to the first; each result stays at the place of its element.
        remat: what reverse mode stores, for less memory and up to one more forward pass. True: the carries alone. A
            number k of iterations: the carries of every k-th iteration, from which it computes k iterations again.
            "sqrt": the same with k near the square root of the length, for long loops.

    Returns:
        The last carry, and the tree of results, each with a leading axis of the length.

    Raises:
        ArgumentError: if there is no length, or remat is something else.
        TraceError, ShapeError, DTypeError: if f returns anything else, or lengths differ.

    >>> import numpy as np, burlab as bl
    >>> def horner(c, a): return c * 0.5 + a, c
    >>> total, before = bl.scan(horner, 0.0, np.array([1.0, 2.0, 3.0]))
    >>> float(total), before
    (4.25, array([0. , 1. , 2.5]))
    >>> bl.grad(lambda a: bl.scan(horner, 0.0, a)[0])(np.array([1.0, 2.0, 3.0]))
    array([0.25, 0.5 , 1.  ])
    """
    check_takes(f, _BODY, "a carry and an element", "It takes both: def f(carry, x).", 2, where=location)
    leaves, structure = tree.flatten(xs)
    work = _Work(f, *tree.flatten(init), leaves, structure, _length(leaves, xs, length), bool(reverse))
    size = _iterations_per_chunk(remat, work.length)
    if size and (is_tracing() or any(isinstance(leaf, Node) for leaf in (*work.start, *leaves))):
        if 1 < size < work.length:
            return _in_chunks(work, init, size)
        if size == 1:
            work = work._replace(f=checkpoint(f))
    if any(isinstance(leaf, Node) for leaf in (*work.start, *leaves)):
        return _traced(work)[0]
    if is_tracing():
        results, captures = _traced(work)
        if captures:  # it reads a traced value from around it
            return results
    return _plain(work)


class _Work(NamedTuple):
    f: Callable[[Any, Any], tuple[Any, Any]]
    start: list[Any]
    carry: tree.TreeDef
    xs: list[Any]
    element: tree.TreeDef
    length: int
    reverse: bool


def _length(leaves: list[Any], xs: Tree, length: int | None) -> int:
    sizes: list[tuple[int, ...]] = [np.shape(leaf)[:1] for leaf in leaves]
    names = [f"xs{name}" for name in tree.leaf_names(xs)]
    if length is not None:
        if type(length) is not int or not 0 <= length < 1 << 63:
            raise ArgumentError(f"{location()}length={shown(length)} must be an integer from 0 to 2**63 - 1.")
        sizes.append((length,))
        names.append("length")
    if not sizes:
        raise ArgumentError(f"{location()}scan got neither xs nor a length. Pass xs, or length= with xs=None.")
    if () in sizes:
        raise ShapeError(
            f"{location()}{names[sizes.index(())]} of scan is a number, expected an array with a leading axis."
        )
    if len(set(sizes)) > 1:
        lengths = ", ".join(f"{name}: {size[0]}" for name, size in zip(names, sizes, strict=True))
        raise ShapeError(f"{location()}scan needs one length, got {lengths}. Give arrays of xs one leading axis.")
    return sizes[0][0]


def _iterations_per_chunk(remat: object, length: int) -> int:
    """Return the number of iterations that reverse mode computes again at a time; 0 for none."""
    if isinstance(remat, bool):
        return int(remat)
    if isinstance(remat, int) and remat > 0:
        return remat
    if isinstance(remat, str) and remat == "sqrt":
        return max(isqrt(length), 1)
    raise ArgumentError(
        f'{location()}remat of scan must be True, False, "sqrt" or a positive number of iterations, got {shown(remat)}.'
    )


def _in_chunks(work: _Work, init: Tree, size: int) -> tuple[Tree, Tree]:
    """A scan over chunks of so many iterations, each a scan that keeps nothing but its carries at the start."""
    full, left = divmod(work.length, size)

    def iterations(carry: Tree, xs: Tree, length: int) -> tuple[Tree, Tree]:
        return scan(work.f, carry, xs, length, reverse=work.reverse)

    @checkpoint
    def chunk(carry: Tree, xs: Tree) -> tuple[Tree, Tree]:
        return iterations(carry, xs, size)

    def chunks(carry: Tree) -> tuple[Tree, Tree]:
        xs: list[Any] = [np.reshape(x[: full * size], (full, size, *np.shape(x)[1:])) for x in work.xs]
        carry, ys = scan(chunk, carry, tree.unflatten(work.element, xs), full, reverse=work.reverse)
        return carry, _map(unchunked, ys)

    def unchunked(y: Any) -> Any:
        return np.reshape(y, (full * size, *y.shape[2:]))

    def tail(carry: Tree) -> tuple[Tree, Tree]:
        return iterations(carry, tree.unflatten(work.element, [x[full * size :] for x in work.xs]), left)

    if not left:
        return chunks(init)
    first, second = (tail, chunks) if work.reverse else (chunks, tail)
    carry, ys = first(init)
    carry, more = second(carry)
    ys, more = (more, ys) if work.reverse else (ys, more)
    return carry, _map(lambda *parts: np.concatenate(parts), ys, more)


def _map(function: Callable[..., Any], *trees: Tree) -> Tree:
    """A function of the leaves, which may be halves of complex ones."""
    leaves = [tree.flatten(t)[0] for t in trees]
    return tree.unflatten(tree.flatten(trees[0])[1], [function(*row) for row in zip(*leaves, strict=True)])


def _pair(work: _Work, result: Tree) -> tuple[Any, Any]:
    """Return the carry and the result of f. Raises TraceError for anything but a pair."""
    if type(result) not in (tuple, list) or len(result) != 2:
        raise TraceError(
            f"{location()}{_BODY} returned something else than a pair (carry, y). Return (carry, None) to stack "
            "nothing."
        )
    carry, y = result
    found = tree.flatten(carry)[1]
    if found != work.carry:
        raise TraceError(
            f"{location()}{_BODY} gave a carry of structure {found}, but it started with {work.carry}. "
            "Return the same tree."
        )
    return carry, y


def _iteration(work: _Work, start: list[Node], elements: list[Node]) -> tuple[Traced, tree.TreeDef]:
    """f under trace for inputs of these forms, and the structure of what it stacks."""
    carry = tree.unflatten(work.carry, [example(n) for n in start])

    def iteration(carry: Tree, x: Tree) -> tuple[Tree, Tree]:
        return _pair(work, work.f(carry, x))

    traced = trace(iteration, (carry, tree.unflatten(work.element, elements)))
    return traced, traced.result.children()[1]


def _traced(work: _Work) -> tuple[tuple[Tree, Tree], bool]:
    """The results as nodes, and whether the body reads values of the trace around it."""
    start = [node_of(leaf, _CARRY) for leaf in work.start]
    xs = [node_of(leaf, _ELEMENT) for leaf in work.xs]
    elements = [Node("input", (), None, x.shape[1:], x.dtype) for x in xs]
    while True:
        with recording() as recorded:
            traced, stacked = _iteration(work, start, elements)
            count, outputs = len(start), traced.graph.outputs
            pairs = ((form_of(n, _CARRY), form_of(y, _CARRY)) for n, y in zip(start, outputs, strict=False))
            forms = settled(pairs, tree.unflatten(work.carry, start), "carry", _BODY)
            if all(form_of(n, _CARRY) == form for n, form in zip(start, forms, strict=True)):
                forms += [_strong(form_of(y, _RESULT)) for y in outputs[count:]]
                body = in_forms(traced.graph, forms)
                break
        start = [in_form(n, form) for n, form in zip(start, forms, strict=True)]  # and once more from these
    nodes = scan_nodes(body, ScanIterations(count, len(xs), work.length, work.reverse), start, xs, recorded)
    results = tree.unflatten(work.carry, nodes[:count]), tree.unflatten(stacked, nodes[count:])
    return results, any(len(n.inputs) > count + len(xs) for n in nodes)


def _strong(form: Spec) -> Spec:
    """Return the form of a stacked number: an array like any other."""
    return Spec(form.shape, form.dtype)


def _plain(work: _Work) -> tuple[Tree, Tree]:
    """The Python loop."""
    state = [bit(leaf) for leaf in work.start]
    forms = [form_of(leaf, _CARRY) for leaf in state]
    xs = [as_array(leaf, _ELEMENT) for leaf in work.xs]
    rows: list[list[Any]] = []
    stacked: Any = None
    for t in reversed(range(work.length)) if work.reverse else range(work.length):
        x = tree.unflatten(work.element, [leaf[t] for leaf in xs])
        carry, y = _pair(work, work.f(tree.unflatten(work.carry, state), x))
        state = [bit(leaf) for leaf in tree.flatten(carry)[0]]
        pairs = zip(forms, (form_of(leaf, _CARRY) for leaf in state), strict=True)
        forms = settled(pairs, carry, "carry", _BODY)
        row, stacked = tree.flatten(y)
        if not rows:
            nbytes = work.length * sum(np.asarray(leaf).nbytes for leaf in row)
            check_fits(nbytes, f"{location()}what a scan of {work.length} turns stacks")
        rows.append(row)
    if not rows:
        return _nothing(work)
    stacks = [
        np.stack([np.asarray(y) for y in column]) for column in zip(*rows[:: -1 if work.reverse else 1], strict=True)
    ]
    return tree.unflatten(work.carry, state), tree.unflatten(stacked, stacks)


def _nothing(work: _Work) -> tuple[Tree, Tree]:
    """No iteration at all: the carry as it was, and empty stacks of the results of f for an element of zeros."""
    zeros = [np.zeros(np.shape(x)[1:], form_of(x, _ELEMENT).dtype)[()] for x in work.xs]
    start = tree.unflatten(work.carry, map(bit, work.start))
    with np.errstate(all="ignore"):
        _, y = _pair(work, work.f(start, tree.unflatten(work.element, zeros)))
    leaves, stacked = tree.flatten(y)
    empty = [np.empty((0, *np.shape(leaf)), form_of(leaf, _RESULT).dtype) for leaf in leaves]
    return tree.unflatten(work.carry, work.start), tree.unflatten(stacked, empty)
