"""Nodes of two graphs that belong together: they compute the same, or the same operation at the same place."""

from collections.abc import Iterator, Mapping, Sequence

from burlab.graph import Graph, Node
from burlab.graph.structural_hash import structural_keys

from .inside import CAPTURED, CARRY, ELEMENT, Inside

Entries = Mapping[Node, tuple[Node, str]]
"""Inputs of a sub-graph: what each is at first, outside, and how it goes on; see `Inside.entries`."""

Twins = dict[Node, tuple[Node, bool]]
"""For nodes of a second graph their twins in the first, and whether they compute the same."""


def twins_of(before: Graph, after: Graph, old: Sequence[Inside], new: Sequence[Inside]) -> Twins:
    """The twins of two graphs and of what their control flow executes. old, new: their executions, opened.

    >>> import burlab as bl
    >>> first, second = (bl.compile(f, 0.5).graph for f in (lambda x: (x * x + 1) / 3, lambda x: (x * x - 1) / 3))
    >>> [(n.op, exact) for n, (_, exact) in twins_of(first, second, (), ()).items() if n.op != "constant"]
    [('input', True), ('mul', True), ('div', False)]
    """
    named = bool({x.params for x in before.inputs} & {x.params for x in after.inputs})  # else they go by position
    names = [{x: str(x.params) if named else str(k) for k, x in enumerate(g.inputs)} for g in (before, after)]
    return _twins(before, after, names[0], names[1], old, new)


def _twins(
    before: Graph,
    after: Graph,
    old_names: Mapping[Node, str],
    new_names: Mapping[Node, str],
    old: Sequence[Inside],
    new: Sequence[Inside],
    given: Twins | None = None,
) -> Twins:
    """names: of the inputs; those that are the same in both have one name. given: twins that are known before."""
    keys = structural_keys(before, old_names), structural_keys(after, new_names)
    there = {key: n for n, key in keys[0].items()}
    pairs = {n: (there[key], True) for n, key in keys[1].items() if key in there} | (given or {})
    _at_the_same_place(before, after, pairs)
    owner = {m: inside for inside in old for m in inside.execution.nodes}
    for inside in new:
        twins = (pairs[n][0] for n in inside.execution.nodes if n in pairs)
        other = next((owner[m] for m in twins if m in owner), None)
        if other is not None:
            pairs |= dict(_inner(other, inside, pairs))
    return pairs


def _inner(before: Inside, after: Inside, pairs: Twins) -> Iterator[tuple[Node, tuple[Node, bool]]]:
    """The twins in the sub-graphs of two executions that belong together."""
    exact = all(n in pairs and pairs[n][1] for n in after.execution.nodes)
    parts = zip(before.graphs, after.graphs, before.nested, after.nested, strict=True)
    for old_graph, new_graph, old_nested, new_nested in parts:
        given = _inputs(before.entries(old_graph), after.entries(new_graph), pairs, exact)
        old_names = {x: f"first {k}" for k, x in enumerate(old_graph.inputs)}
        new_names = {x: f"second {k}" for k, x in enumerate(new_graph.inputs)}
        new_names |= {x: old_names[y] for x, (y, same) in given.items() if same}
        yield from _twins(old_graph, new_graph, old_names, new_names, old_nested, new_nested, given).items()


def _inputs(before: Entries, after: Entries, pairs: Twins, exact: bool) -> Twins:
    """The twins of inputs: carries and elements by their position, what is captured by what it is outside.

    exact: whether the executions are the same; else carries are other numbers, from the second iteration on.
    """
    given: Twins = {}
    for rule in (CARRY, ELEMENT, CAPTURED):
        old, new = ([(x, outside) for x, (outside, own) in e.items() if own == rule] for e in (before, after))
        if rule == CAPTURED:
            at = {outside: (x, outside) for x, outside in old}
            old = [at.get(pairs[outside][0] if outside in pairs else outside) for _, outside in new]
        for (x, outside), other in zip(new, old, strict=False):
            if other is not None and (x.shape, x.dtype) == (other[0].shape, other[0].dtype):
                same = pairs.get(outside) == (other[1], True)
                given[x] = other[0], same and (exact or rule != CARRY)
    return given


def _at_the_same_place(before: Graph, after: Graph, pairs: Twins) -> None:
    """Add those that do the same as their twins on other numbers."""
    taken = {m for m, _ in pairs.values()}

    def pair(n: Node, m: Node) -> bool:
        if n in pairs or m in taken or _own(n) != _own(m):
            return False
        pairs[n] = m, False
        taken.add(m)
        return True

    stack = list(zip(after.outputs, before.outputs, strict=False))
    while stack:  # from the outputs down, as long as the operations are the same
        n, m = stack.pop()
        if pair(n, m):
            stack.extend(zip(n.inputs, m.inputs, strict=False))
    for n in after.nodes:  # and from the inputs up
        near = (m for x in n.inputs if x in pairs for m in before.users[pairs[x][0]])
        for m in near:
            if pair(n, m):
                break


def _own(n: Node) -> object:
    """Return what identifies a node without its operands; sub-graphs of control flow are compared separately."""
    if n.row.parts:
        return n.op, n.params.item, n.params.batch, n.shape, n.dtype
    params = n.params.tobytes() if n.is_constant else n.params
    return n.op, repr(params), n.shape, n.dtype, len(n.inputs)
