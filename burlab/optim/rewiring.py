"""Sparse training: links of `bl.nn.SparseLinear` that are pruned and grown between steps, inside of the loop."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.functions import top_k
from burlab.graph import tree
from burlab.graph.buffers.buffer_functions import at_set
from burlab.runtime.checks.numbers import real, whole
from burlab.transforms import cond, random, scan

from .missing_links import BLOCKS, block_scores, first_rows, is_sparse, merged, places_of, sparse_layers
from .optimizer import Optimizer, State, Vector
from .per_leaf import OnLeaves
from .queries import Queries
from .wrappers import Wrapper

Array = Any  # traced


@dataclass(frozen=True)
class rewire(Wrapper):
    """Mocanu et al. 2018 (SET), arXiv:1707.04780; with candidates, Heddes et al. 2024 (GSE), arXiv:2401.04898.

    After each step t with (t + 1) % every = 0 and t + 1 < end, in each SparseLinear of x: the n links with the smallest
    |weight| are pruned, and n others grow, with weight and moments 0, so that the number of links stays. n is
    fraction / 2 (1 + cos(pi t / end)) of the links, or fraction of them where end is None. Links that grow are drawn
    from all that the layer did not have, each as likely (SET); or n candidates times as many are drawn, and those grow
    whose gradients, over the batch of the step, are the largest (GSE; GSE scores before it prunes). candidates=None
    takes all, as Evci et al. 2020 (RigL), arXiv:1911.11134, which does no step of the weights then; of equal gradients
    the first place counts, by rows.

    Candidates stand in the places of links that were pruned, n at a time, and the gradient of the whole sparse network
    by these has their scores. For all links, gradients are by 16 blocks of rows of the matrix in turn, the regularizer
    left out. So no array of gradients is as large as the matrix. A draw takes a number for each entry of the matrix, at
    these steps alone. The optimizer inside sees one vector of the floats of x, and may not query the
    problem. Around `rewire` there can be no other wrapper. Cost: that of the optimizer inside; at steps that rewire
    also `candidates` gradients, unless that is 1; for None 16, and the products of a dense gradient.

    Args:
        inner: The optimizer.
        every: Steps from one change of links to the next.
        fraction: Of the links of a layer that change, between 0 and 1.
        candidates: Links that are drawn for each one that grows; 1: those drawn grow, and no gradient is computed.
        end: The step from which on links stay; None: never.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.nn.SparseLinear(8, 4, density=0.25, key=bl.random.key(0))
    >>> loss = lambda layer: np.sum((layer(np.ones(8, np.float32)) - 1) ** 2)
    >>> run = bl.minimize(loss, layer, bl.optim.rewire(bl.optim.GD(0.1), every=5), steps=20)
    >>> run.x.columns.shape, bool(np.any(run.x.columns != layer.columns))
    ((8,), True)
    """

    all_leaves: ClassVar[bool] = True

    every: int = 100
    fraction: float = 0.3
    candidates: int | None = 1
    end: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = type(self).__name__
        whole(self.every, f"every of {kind}", 1)
        if not 0 < real(self.fraction, f"fraction of {kind}") < 1:
            raise ArgumentError(f"fraction of {kind} must be between 0 and 1; got {self.fraction}.")
        if self.candidates is not None:
            whole(self.candidates, f"candidates of {kind}", 1)
        if self.end is not None:
            whole(self.end, f"end of {kind}", 1)
        inside: Any = self.inner
        while isinstance(inside, Optimizer):
            if inside.per_leaf or inside.all_leaves or isinstance(inside, OnLeaves):
                raise ArgumentError(
                    f"{kind} is put around a rule on one flat vector, and {type(inside).__name__} works on the leaves "
                    "of x. Use an optimizer such as bl.optim.Adam or bl.optim.Momentum."
                )
            inside = getattr(inside, "inner", None)

    def init(self, x: Any, *, f: Any = None) -> State:
        """The state of the optimizer inside. Raises ArgumentError where x has no sparse layer."""
        kind = type(self).__name__
        if not sparse_layers(x):
            raise ArgumentError(
                f"{kind} found no bl.nn.SparseLinear in x0 whose links may change. Put one into x0, and no other "
                f"wrapper around {kind}."
            )
        return super().init(_Floats(x).vector(x), f=f)

    def output(self, x: Any, state: State) -> Any:
        """The point that the optimizer inside gives."""
        floats = _Floats(x)
        given = self.inner.output(vector := floats.vector(x), state)
        return x if given is vector else floats.put(x, given)

    def update(self, g: Any, state: State, x: Any, t: int, *, f: Queries) -> tuple[Any, State]:
        """The step of the weights, then perhaps other links."""
        floats = _Floats(x)
        vector, state = self.advance(floats.vector(g), state, floats.vector(x), t, f)
        after = floats.put(x, vector)
        due = (t + 1) % self.every == 0
        if self.end is not None:
            due = due & (t + 1 < self.end)
        change = _Rewiring(self, floats, after, t, f)
        return cond(due, lambda: change.changed(state), lambda: (after, state))


class _Floats:
    """The floats of a tree, in one vector."""

    def __init__(self, x: Any) -> None:
        leaves = tree.flatten(x)[0]
        self._chosen = [leaf.dtype.kind == "f" for leaf in leaves]
        self.size = sum(math.prod(leaf.shape) for leaf, chosen in zip(leaves, self._chosen, strict=True) if chosen)

    def vector(self, x: Any) -> Vector:
        """Return those of a tree of this form."""
        return np.concatenate([np.reshape(leaf, (-1,)) for leaf in self._of(x)])

    def put(self, x: Any, vector: Vector) -> Any:
        """Return the tree with these floats."""
        leaves, structure = tree.flatten(x)
        begin = 0
        for k, leaf in enumerate(leaves):
            if self._chosen[k]:
                end = begin + math.prod(leaf.shape)
                leaves[k], begin = np.reshape(vector[begin:end], leaf.shape), end
        return tree.unflatten(structure, leaves)

    def starts(self, x: Any) -> list[int]:
        """Return where the weights of each sparse layer begin in the vector."""
        found, begin = list[int](), 0
        for part in tree.flatten_to(x, is_sparse)[0]:
            leaves = [leaf for leaf in tree.flatten(part)[0] if leaf.dtype.kind == "f"]
            if is_sparse(part):
                found.append(begin)  # `weight` is its first field
            begin += sum(math.prod(leaf.shape) for leaf in leaves)
        return found

    def _of(self, x: Any) -> list[Any]:
        return [leaf for leaf, chosen in zip(tree.flatten(x)[0], self._chosen, strict=True) if chosen]


@dataclass(frozen=True)
class _Candidates:
    """Links of a layer that may grow.

    slots: of those that are pruned, shape (n,). places: row * outputs + column, shape (rounds, n). valid: which of
    these are candidates, of the same shape.
    """

    slots: Array
    places: Array
    valid: Array


class _Rewiring:
    """One change of links."""

    def __init__(self, rule: rewire, floats: _Floats, x: Any, t: Any, f: Queries) -> None:
        self._rule, self._floats, self._x, self._t, self._f = rule, floats, x, t, f
        self._layers = sparse_layers(x)

    def changed(self, state: State) -> tuple[Any, State]:
        """Return x with other links, and the state without moments of these."""
        rounds = max(map(self._rounds, self._layers))
        drawn = [self._drawn(layer, k, rounds) for k, layer in enumerate(self._layers)]
        if self._rule.candidates is None:
            grown = self._best_of_all(drawn)
        else:
            grown = [one.places[0] for one in drawn] if rounds == 1 else self._best(drawn)
        x = self._with_links(drawn, grown)
        starts = self._floats.starts(self._x)
        at = np.concatenate([start + one.slots for start, one in zip(starts, drawn, strict=True)])
        freed = np.concatenate([one.valid[0] for one in drawn])
        return x, self._without_moments(state, self._floats.size, at, freed)

    def _count(self, layer: Any) -> int:
        """Return the largest number of links that change."""
        links = layer.weight.shape[0]
        return min(max(round(self._rule.fraction * links), 1), layer.inputs * layer.outputs - links)

    def _rounds(self, layer: Any) -> int:
        free = layer.inputs * layer.outputs - layer.weight.shape[0]
        return max(min(self._rule.candidates or 1, -(-free // max(self._count(layer), 1))), 1)

    def _drawn(self, layer: Any, number: int, rounds: int) -> _Candidates:
        """Choose the links with the smallest weights, and draw candidates for their slots."""
        n, size = self._count(layer), layer.inputs * layer.outputs
        slots = top_k(-np.abs(layer.weight), n)[1]
        if self._rule.candidates is None:
            return _Candidates(slots, np.zeros((1, n), np.int64), np.reshape(self._freed(n), (1, n)))
        places = places_of(layer)
        key = random.fold_in(self._f.key, number)
        chance = at_set(random.uniform(key, (size,)), places, -1.0)  # links that there are come last
        free = min(rounds * n, size - layer.weight.shape[0])
        drawn = np.concatenate([top_k(chance, free)[1], np.zeros(rounds * n - free, np.int64)])
        valid = (np.arange(rounds * n) < free).reshape(rounds, n) & self._freed(n)
        return _Candidates(slots, np.reshape(drawn, (rounds, n)), valid)

    def _freed(self, n: int) -> Array:
        """Return which of the n links with the smallest weights are pruned."""
        share = 1.0 if self._rule.end is None else 0.5 * (1 + np.cos(np.pi * self._t / self._rule.end))
        return np.arange(n) < np.rint(share * n)

    def _best_of_all(self, drawn: Sequence[_Candidates]) -> list[Array]:
        """Return for each layer the places without a link that have the largest gradients, the largest first.

        The n best so far meet those of each block of the matrices in turn.
        """
        pruned = self._with_weights(drawn)

        def meet(best: Any, block: Any) -> Any:
            gradients: list[Any] = cast("Any", self._f).link_grads(pruned, block)
            firsts, found = first_rows(self._layers, block), list[tuple[Array, Array]]()
            for k, (layer, gradient) in enumerate(zip(self._layers, gradients, strict=True)):
                scores = block_scores(layer, gradient, firsts[k], block)
                found.append(merged(best[k], scores, firsts[k] * layer.outputs))
            return found, None

        counts = [one.slots.shape[0] for one in drawn]
        start = [
            (np.full(n, -1.0, x.weight.dtype), np.zeros(n, np.int64)) for n, x in zip(counts, self._layers, strict=True)
        ]
        return [places for _, places in scan(meet, start, np.arange(BLOCKS))[0]]

    def _with_weights(self, drawn: Sequence[_Candidates]) -> Any:
        """Return x with weights 0 in the slots that are freed, and the links of before."""
        parts, structure = tree.flatten_to(self._x, is_sparse)
        each = iter(drawn)
        return tree.unflatten(structure, [_without_weights(p, next(each)) if is_sparse(p) else p for p in parts])

    def _best(self, drawn: Sequence[_Candidates]) -> list[Array]:
        """Return for each layer the candidates with the largest gradients, the largest first."""

        def scores(_: Any, places: Any) -> Any:
            gradient = self._f.grad(self._with_links(drawn, places))
            return None, [
                np.abs(layer.weight[one.slots]) for layer, one in zip(sparse_layers(gradient), drawn, strict=True)
            ]

        found = scan(scores, None, [one.places for one in drawn])[1]
        grown: list[Array] = []
        for one, score in zip(drawn, found, strict=True):
            order = top_k(np.where(one.valid, score, -1.0).reshape(-1), one.slots.shape[0])[1]
            grown.append(np.reshape(one.places, (-1,))[order])
        return grown

    def _with_links(self, drawn: Sequence[_Candidates], places: Sequence[Array]) -> Any:
        """Return x with these links, of weight 0, in the slots that are freed."""
        parts, structure = tree.flatten_to(self._x, is_sparse)
        pairs = iter(zip(drawn, places, strict=True))
        return tree.unflatten(structure, [_relinked(p, *next(pairs)) if is_sparse(p) else p for p in parts])

    @staticmethod
    def _without_moments(state: State, size: int, at: Array, freed: Array) -> State:
        """Return the state with 0 at these entries, in each array that has one for each float of x."""
        leaves, structure = tree.flatten(state)
        after = (_cleared(leaf, at, freed) if _is_moment(leaf, size) else leaf for leaf in leaves)
        return tree.unflatten(structure, after)


def _is_moment(leaf: Array, size: int) -> bool:
    return leaf.shape == (size,) and leaf.dtype.kind == "f"


def _cleared(leaf: Array, at: Array, freed: Array) -> Array:
    return at_set(leaf, at, np.where(freed, 0.0, leaf[at]).astype(leaf.dtype))


def _without_weights(layer: Any, one: _Candidates) -> Any:
    return layer.replace(weight=_put(layer.weight, one, np.zeros(one.slots.shape, layer.weight.dtype)))


def _relinked(layer: Any, one: _Candidates, places: Array) -> Any:
    return layer.replace(
        weight=_put(layer.weight, one, np.zeros(one.slots.shape, layer.weight.dtype)),
        rows=_put(layer.rows, one, places // layer.outputs),
        columns=_put(layer.columns, one, places % layer.outputs),
    )


def _put(old: Array, one: _Candidates, new: Array) -> Array:
    """Return an array of a layer with new numbers in the slots that are freed."""
    numbers = cast("Any", np.where(one.valid[0], new, old[one.slots]))
    return at_set(old, one.slots, numbers.astype(old.dtype))
