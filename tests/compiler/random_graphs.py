"""Random graphs over all operations and shapes, sizes 0 and 1 included, with inputs that fit."""

import math

import numpy as np
from hypothesis import strategies as st

from burlab.graph import Graph, Node, linear_nodes, vjp
from burlab.graph.node import constant
from burlab.graph.numpy_api.promotion import node
from burlab.graph.scalar import scalar_ops

FLOATS = [np.dtype(np.float64), np.dtype(np.float32)]
INT64, INT32, BOOL = np.dtype(np.int64), np.dtype(np.int32), np.dtype(bool)
INTEGER_OPS = ["add", "sub", "mul", "neg", "square", "cube", "abs", "sign", "maximum", "minimum"]
COMPARISONS = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
FLOAT_OPS = [name for name in scalar_ops() if not name.startswith(("logical", "where")) and name not in COMPARISONS]
# Few numbers mostly; beside them sizes around those at which planner and kernels change, see `tests/thresholds`.
sizes = st.sampled_from([0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 5, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000])
LARGEST = 8192  # elements of a value
shapes = st.lists(sizes, max_size=3).map(tuple).filter(lambda shape: math.prod(shape) <= LARGEST)


class Maker:
    """Draws nodes one after the other, each from those made before."""

    def __init__(self, draw):
        self.draw = draw
        self.inputs = []
        self.nodes = []

    def pick(self, options):
        return self.draw(st.sampled_from(list(options)))

    def input(self, shape, dtype):
        x = Node("input", (), f"x{len(self.inputs)}", shape, np.dtype(dtype))
        self.inputs.append(x)
        self.nodes.append(x)
        return x

    def some(self, accept=lambda n: True):
        """A node made before that is acceptable, or None."""
        good = [n for n in self.nodes if accept(n)]
        if len(good) > 4 and self.draw(st.booleans()):
            good = good[-4:]  # deep rather than wide
        return self.pick(good) if good else None

    def like(self, shape, dtype):
        """A node of this shape and dtype: one made before, a new input, or a constant."""
        known = [n for n in self.nodes if n.shape == shape and n.dtype == dtype]
        if known and self.draw(st.integers(0, 3)):
            return self.pick(known)
        if self.draw(st.booleans()):
            return self.input(shape, dtype)
        value = constant(self.pick([0, 1, 2, -3]) if dtype != BOOL else self.draw(st.booleans()), dtype)
        return linear_nodes.broadcast(value, shape)

    def step(self):
        rule = self.pick(RULES)
        made = rule(self)
        if made is not None and made.size <= LARGEST:
            self.nodes.append(made)


def scalar_op(m):
    x = m.some(lambda n: n.dtype.kind in "fi")
    if x is None:
        return m.input(m.draw(shapes), m.pick(FLOATS))
    name = m.pick(FLOAT_OPS if x.dtype.kind == "f" else INTEGER_OPS)
    return node(name, x, *(m.like(x.shape, x.dtype) for _ in range(scalar_ops()[name].arity - 1)))


def comparison(m):
    x = m.some(lambda n: n.dtype.kind in "fi")
    return None if x is None else node(m.pick(COMPARISONS), x, m.like(x.shape, x.dtype))


def logic(m):
    x = m.some(lambda n: n.dtype == BOOL)
    if x is None:
        return None
    name = m.pick(["logical_and", "logical_or", "logical_not"])
    return node(name, x, *(m.like(x.shape, BOOL) for _ in range(scalar_ops()[name].arity - 1)))


def where(m):
    x = m.some()
    return node("where", m.like(x.shape, BOOL), x, m.like(x.shape, x.dtype)) if x is not None else None


def summed(m):
    x = m.some(lambda n: n.ndim)
    return None if x is None else linear_nodes.sum_over(x, axes_of(m, x))


def axes_of(m, x):
    return tuple(sorted(m.draw(st.sets(st.integers(0, x.ndim - 1), min_size=1))))


def broadcast(m):
    x = m.some(lambda n: n.ndim <= 3)
    if x is None:
        return None
    shape, axes = list(x.shape), list(range(x.ndim))
    for _ in range(m.draw(st.integers(1, 2))):
        at = m.draw(st.integers(0, len(shape)))
        shape.insert(at, m.draw(sizes))
        axes = [a + (a >= at) for a in axes]
    return linear_nodes.broadcast(x, tuple(shape), tuple(axes))


def reshape(m):
    x = m.some()
    if x is None:
        return None
    if not x.size:
        return linear_nodes.reshape(x, m.pick([(0,), (0, 2), (3, 0)]))
    rest, shape = x.size, []
    while rest > 1:
        factor = m.pick([d for d in range(2, rest + 1) if rest % d == 0])
        shape.append(factor)
        rest //= factor
    for _ in range(m.draw(st.integers(0, 1))):
        shape.insert(m.draw(st.integers(0, len(shape))), 1)
    return linear_nodes.reshape(x, tuple(shape))


def transpose(m):
    x = m.some(lambda n: n.ndim > 1)
    return None if x is None else linear_nodes.transpose(x, tuple(m.draw(st.permutations(range(x.ndim)))))


def cut(m, x):
    """Start, step and shape of a slice of x."""
    rows = []
    for d in x.shape:
        step = m.pick([1, 1, 2, -1, -2])
        count = m.draw(st.integers(0, (d + abs(step) - 1) // abs(step)))
        span = (count - 1) * abs(step) + 1 if count else 0
        first = m.draw(st.integers(0, max(d - span, 0))) if count else 0
        rows.append((first if step > 0 or not count else first + span - 1, step, count))
    return tuple(zip(*rows, strict=True))


def sliced(m):
    x = m.some(lambda n: n.ndim)
    return None if x is None else linear_nodes.slice_(x, *cut(m, x))


def pad(m):
    x = m.some(lambda n: n.ndim and n.dtype != BOOL)
    if x is None:
        return None
    start, step, shape = [], [], []
    for d in x.shape:
        stride = m.pick([1, 1, 2, -1])
        span = (d - 1) * abs(stride) + 1 if d else 0
        before, after = m.draw(st.integers(0, 2)), m.draw(st.integers(0, 2))
        start.append(before if stride > 0 else before + max(span - 1, 0))
        step.append(stride)
        shape.append(before + span + after)
    return linear_nodes.pad(x, tuple(start), tuple(step), tuple(shape))


def concatenate(m):
    x = m.some(lambda n: n.ndim)
    if x is None:
        return None
    axis = m.draw(st.integers(0, x.ndim - 1))
    others = []
    for _ in range(m.draw(st.integers(1, 2))):
        shape = list(x.shape)
        shape[axis] = m.draw(sizes)
        if math.prod(shape) > LARGEST:
            return None
        others.append(m.like(tuple(shape), x.dtype))
    return linear_nodes.concatenate([x, *others], axis)


def index_for(m, shape, size):
    """Constant indices between 0 and size."""
    count = int(np.prod(shape))
    values = np.random.default_rng(m.draw(st.integers(0, 99))).integers(0, size, count)
    return constant(np.array(values, m.pick([INT32, INT64])).reshape(shape), None)


def gather(m):
    x = m.some(lambda n: n.ndim)
    if x is None:
        return None
    batch = m.draw(st.integers(0, x.ndim - 1))
    extra = m.draw(st.lists(sizes, max_size=2).map(tuple)) if x.shape[batch] else (0,)
    if math.prod(x.shape[:batch] + extra) > LARGEST:
        return None
    return linear_nodes.gather(x, index_for(m, x.shape[:batch] + extra, max(x.shape[batch], 1)), batch)


def scatter(m):
    y = m.some(lambda n: n.ndim and n.dtype.kind == "f")
    if y is None:
        return None
    batch = m.draw(st.integers(0, y.ndim - 1))
    depth = m.draw(st.integers(batch, y.ndim))
    size = m.pick([1, 2, 5])
    return linear_nodes.scatter(y, index_for(m, y.shape[:depth], size), batch, size)


def cumsum(m):
    x = m.some(lambda n: n.ndim and n.dtype.kind in "fi")
    return None if x is None else linear_nodes.cumsum(x, m.draw(st.integers(0, x.ndim - 1)), m.draw(st.booleans()))


def convert(m):
    x = m.some(lambda n: n.dtype.kind in "ib")
    return None if x is None else linear_nodes.convert(x, m.pick([*FLOATS, INT64]))


def contract(m):
    a = m.some(lambda n: n.dtype.kind in "fi")
    if a is None:
        return None
    letters = "abcdefgh"[: a.ndim]
    shared = [c for c in letters if m.draw(st.booleans())]
    new = "xyz"[: m.draw(st.integers(0, 2))]
    known = dict(zip(letters, a.shape, strict=True)) | {c: m.draw(sizes) for c in new}
    right = m.draw(st.permutations([*shared, *new]))
    if math.prod(known[c] for c in right) > LARGEST or math.prod(known.values()) > 100 * LARGEST:
        return None
    out = [c for c in letters if c not in shared or m.draw(st.booleans())] + list(new)
    b = m.like(tuple(known[c] for c in right), a.dtype)
    spec = f"{letters},{''.join(right)}->{''.join(m.draw(st.permutations(out)))}"
    return linear_nodes.contract(spec, a, b)


def extreme(m):
    x = m.some(lambda n: n.ndim and n.size)
    if x is None:
        return None
    axes = axes_of(m, x)
    shape = tuple(d for i, d in enumerate(x.shape) if i not in axes)
    return Node(m.pick(["reduce_max", "reduce_min"]), (x,), axes, shape, x.dtype)


def argument(m):
    x = m.some(lambda n: n.ndim and n.size)
    if x is None:
        return None
    axis = m.draw(st.integers(0, x.ndim - 1))
    return Node(m.pick(["argmax", "argmin"]), (x,), axis, x.shape[:axis] + x.shape[axis + 1 :], INT64)


RULES = [scalar_op] * 8 + [comparison, logic, where, summed, summed, broadcast, broadcast, reshape, transpose, sliced,
         sliced, pad, concatenate, gather, scatter, cumsum, convert, contract, contract, extreme, argument]  # fmt: skip


def gradients(m):
    """The vector-Jacobian product of a floating value by the floating inputs: partials become nodes."""
    y = m.some(lambda n: n.dtype.kind == "f" and n.op not in ("input", "constant"))
    by = [x for x in m.inputs if x.dtype.kind == "f"]
    if y is None or not by:
        return []
    return vjp([y], by, [linear_nodes.broadcast(constant(1.0, y.dtype), y.shape)])


@st.composite
def graphs(draw, steps=25):
    """A random graph; half of them with a gradient."""
    m = Maker(draw)
    for _ in range(draw(st.integers(1, 2))):
        m.input(draw(shapes), m.pick([*FLOATS, *FLOATS, INT64, BOOL]))
    for _ in range(draw(st.integers(5, steps))):
        m.step()
    used = {x for n in m.nodes for x in n.inputs}
    ends = [n for n in m.nodes if n not in used]  # so that hardly any node is left out
    outputs = [*ends[-6:], *(m.pick(m.nodes) for _ in range(draw(st.integers(0, 2))))]
    if draw(st.booleans()):
        outputs += gradients(m)
    return Graph(tuple(m.inputs), tuple(outputs))


SHORT = [(), (), (), (1,), (16,), (1, 16), (8,)]  # what the replay gear makes segments of


def spread(m):
    """A number in all lanes, or a lane of many."""
    x = m.some(lambda n: n.size == 1 and not n.ndim)
    y = m.some(lambda n: n.ndim == 1 and n.size > 1)
    if x is not None and m.draw(st.booleans()):
        return linear_nodes.broadcast(x, m.pick([s for s in SHORT if s]))
    return None if y is None else linear_nodes.slice_(y, (m.draw(st.integers(0, y.size - 1)),), (1,), (1,))


def turned(m):
    x = m.some(lambda n: n.ndim == 1 and n.size > 1)
    return None if x is None else linear_nodes.slice_(x, (x.size - 1,), (-1,), x.shape)


SHORT_RULES = [*[scalar_op] * 9, comparison, logic, where, convert, spread, turned, reshape, summed]


@st.composite
def short_graphs(draw, steps=60):
    """A random graph of single numbers and short lanes, with a gradient."""
    m = Maker(draw)
    for _ in range(draw(st.integers(1, 4))):
        m.input(m.pick(SHORT), m.pick([*FLOATS, *FLOATS, INT64, BOOL]))
    for _ in range(draw(st.integers(5, steps))):
        made = m.pick(SHORT_RULES)(m)
        if made is not None:
            m.nodes.append(made)
    used = {x for n in m.nodes for x in n.inputs}
    ends = [n for n in m.nodes if n not in used]
    return Graph(tuple(m.inputs), (*ends[-4:], *gradients(m), *gradients(m)))


def inputs_for(graph, seed):
    """Numbers for the inputs: mostly ordinary ones, a few zeros and ties."""
    rng = np.random.default_rng(seed)
    arrays = []
    for x in graph.inputs:
        if x.dtype.kind == "b":
            arrays.append(rng.random(x.shape) < 0.5)
        elif x.dtype.kind == "i":
            arrays.append(rng.integers(-4, 5, x.shape).astype(x.dtype))
        else:
            values = rng.normal(size=x.shape) + 0.5
            arrays.append(np.where(rng.random(x.shape) < 0.2, np.round(values), values).astype(x.dtype))
    return arrays
