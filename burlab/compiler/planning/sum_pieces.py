"""Sums of arrays that are zero outside of a piece each, as gradients of slices are.

A loop over time reads rows of its weights again and again, and each reading gives the weights a gradient that is zero
in all other rows. Added piece by piece, and put side by side at the end, these sums have no term for zeros.
"""

from collections import Counter
from collections.abc import Iterator, Set
from functools import partial, reduce
from itertools import pairwise

from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import reshape
from burlab.graph.numpy_api.promotion import node
from burlab.graph.origin import derived_from
from burlab.graph.pieces import is_run, position, side_by_side
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.substitute import keep

_Terms = dict[int, list[Node]]  # the terms of each piece, by its first element in row-major order


def sum_pieces(graph: Graph) -> Graph:
    """Return the graph with sums of padded pieces taken piece by piece; the same graph if it has none.

    >>> import numpy as np
    >>> from burlab.graph.linear_nodes import pad
    >>> x, y, z = xs = tuple(Node("input", (), None, (2,), np.dtype(np.float64)) for _ in range(3))
    >>> total = pad(x, (0,), (1,), (4,)) + pad(y, (2,), (1,), (4,)) + pad(z, (0,), (1,), (4,))
    >>> [n.op for n in sum_pieces(Graph(xs, (total,))).nodes if not n.is_input]
    ['add', 'concatenate']
    """
    uses = Counter(x for n in graph.nodes for x in n.inputs)
    uses.update(graph.outputs)
    inner = {x for n in graph.nodes if _places(n) for x in n.inputs if uses[x] == 1 and _places(x)}
    sums: dict[Node, _Terms] = {}
    for n in graph.nodes:
        if _places(n) and n not in inner and (terms := _terms(n, inner)):
            sums[n] = terms
    if not sums:
        return graph
    new: dict[Node, Node] = {}
    for n in graph.nodes:
        with derived_from(n):
            new[n] = _joined(n, sums[n], new) if n in sums else keep(n, tuple(new[x] for x in n.inputs))
    return simplify(Graph(graph.inputs, tuple(new[y] for y in graph.outputs)))


def _places(n: Node) -> bool:
    """Return True if a node adds, or puts the elements of its input elsewhere side by side."""
    return n.size > 0 and (n.op in ("add", "reshape") or is_run(n))


def _terms(top: Node, inner: Set[Node]) -> _Terms | None:
    """Return the terms of the pieces of a sum; None where pieces overlap, or none has two terms."""
    terms: dict[tuple[int, int], list[Node]] = {}
    for at, x in _leaves(top, inner):
        terms.setdefault((at, x.size), []).append(x)
    places = sorted(terms)
    apart = all(at + size <= later for (at, size), (later, _) in pairwise(places))
    repeats = any(len(xs) > 1 for xs in terms.values())
    return {at: terms[at, size] for at, size in places} if apart and repeats and len(places) > 1 else None


def _leaves(top: Node, inner: Set[Node]) -> Iterator[tuple[int, Node]]:
    """The terms of a sum from left to right, each with the element that it starts at."""
    waiting = [(0, top)]
    while waiting:
        at, n = waiting.pop()
        if n is not top and n not in inner:
            yield at, n
            continue
        begin = at + (position(n) if n.op == "pad" else 0)
        waiting.extend((begin, x) for x in reversed(n.inputs))


def _joined(n: Node, terms: _Terms, new: dict[Node, Node]) -> Node:
    pieces = {at: reduce(partial(node, "add"), [_flat(new[x]) for x in xs]) for at, xs in terms.items()}
    return side_by_side(pieces, n)


def _flat(x: Node) -> Node:
    return reshape(x, (x.size,))
