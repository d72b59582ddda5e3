"""Threaded code: the order of its instructions, its bits, and what is put side by side instead of added to zeros."""

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.plan import LoopStep, MemoryKind
from burlab.compiler.replay import segments
from burlab.compiler.replay.instructions import Instruction, SegmentValues, ThreadedCode
from burlab.compiler.replay.opcodes import Opcode
from burlab.compiler.replay.segments import segments_of
from burlab.compiler.replay.threaded import in_chains, paired
from burlab.graph.tracing.trace import trace

OTHER = LibraryKernel("other", "", "")


def random_instructions(rng, count):
    values, instructions = SegmentValues(), []
    for k in range(count):
        operation = [Opcode.MUL, Opcode.ADD, Opcode.SUB, OTHER][rng.integers(4)]
        operands = tuple(int(x) for x in rng.integers(max(0, k - 4), k, size=2)) if k else ()
        instructions.append(Instruction(operation, values.new(8), operands))
    for k, table in enumerate([MemoryKind.WORKSPACE, MemoryKind.OUTPUT] * 4):
        instructions.append(Instruction(Opcode.STORE, -1, (int(rng.integers(count)),), (table | k << 2, 0, 8)))
    return instructions


@pytest.mark.parametrize("seed", range(20))
def test_chains_hold_every_instruction_after_its_operands_and_fill_the_workspace_last(seed):
    instructions = random_instructions(np.random.default_rng(seed), 60)
    order = in_chains(instructions)
    assert sorted(map(str, order)) == sorted(map(str, instructions))
    made = set()
    for i in order:
        assert made.issuperset(i.operands)
        made.add(i.result)
    late = [i.result < 0 and i.immediates[0] & 3 == MemoryKind.WORKSPACE for i in order]
    assert late == sorted(late)


@pytest.mark.parametrize("seed", range(20))
def test_pairs_compute_what_their_instructions_did(seed):
    instructions = [
        i
        for i in random_instructions(np.random.default_rng(seed), 60)
        if i.operation is not OTHER and len(i.operands) == 2
    ]
    uses = {}
    for x in (x for i in instructions for x in i.operands):
        uses[x] = uses.get(x, 0) + 1
    start = np.random.default_rng(seed).uniform(0.5, 1.5, 100)
    plain = {"mul": lambda x, y: x * y, "add": lambda x, y: x + y, "sub": lambda x, y: x - y}

    def values(instructions):
        v = list(start)
        for i in instructions:
            first, _, second = i.operation.partition("_")
            x, y, *z = (v[k] for k in i.operands)
            result = plain[first](x, y)
            if z:
                result = z[0] - result if second == "from" else plain[second](result, z[0])
            v[i.result] = result
        return v

    together = paired(instructions, uses)
    assert len(together) < len(instructions)
    expected, found = values(instructions), values(together)
    for i in together:
        assert found[i.result] == expected[i.result]


def mixed(x, w, key):
    """Sums, products and differences of either order, other functions, and several dtypes."""
    y = np.sin(x) * w - x
    for k in range(6):
        y = [y * y - w, w - y * x, (y + x) * w, (y - w) * (x + y), y + y, y * x * w + np.exp(-y)][k]
    z = np.where(y > x, y, np.tanh(w) - x)
    return z, y - w + x, y + w - x, y - w - x, y + w + x, (z + z) * w, z * z, key + 1, y > x


def is_threaded(executable):
    (answer,) = {isinstance(segment, ThreadedCode) for segment in segments_of(executable.plan)[1]}
    return answer


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(), (8,), (16,)])
def test_threads_groups_and_compiled_code_have_the_same_bits(monkeypatch, shape, dtype, strict):
    rng = np.random.default_rng(3)
    arrays = [rng.uniform(0.5, 1.5, shape).astype(dtype) for _ in "xw"] + [np.full(shape, 3)]
    graph = trace(mixed, tuple(arrays)).graph
    threaded = build(graph, gear="replay", strict=strict)
    assert is_threaded(threaded)
    monkeypatch.setattr(segments, "suits", lambda *_: False)
    in_groups = build(graph, gear="replay", strict=strict)
    assert not is_threaded(in_groups)
    compiled = build(graph, strict=strict)
    for a, b, c in zip(threaded(*arrays), in_groups(*arrays), compiled(*arrays), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=0 if strict else 1e-6)
        assert a.dtype == b.dtype == c.dtype


def long_graph(operations):
    """An operation after the other: as many nodes as names."""

    def f(x):
        y = x
        for name in operations:
            y = {"mul": lambda y: y * x, "add": lambda y: y + x, "sub": lambda y: x - y, "sin": np.sin}[name](y)
        return y

    return f


REGULAR = ["mul", "sub", "mul", "add"] * 1500
RANDOM = np.random.default_rng(0).choice(["mul", "sub", "add"], 6000).tolist()


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        (REGULAR, True),
        (RANDOM[:2000], True),
        (RANDOM, False),
        (RANDOM[:500] * 12, True),
        (["mul", "sub", "sin"] * 2000, False),
    ],
)
@pytest.mark.parametrize("shape", [(), (16,)])
def test_long_loops_are_threaded_where_few_sequences_come_again_and_again(monkeypatch, shape, operations, expected):
    x = np.linspace(0.2, 0.7, max(shape, default=1)).reshape(shape)
    graph = trace(long_graph(operations), (x,)).graph
    first = build(graph, gear="replay")
    assert is_threaded(first) == expected
    monkeypatch.setattr(segments, "suits", lambda *_: not expected)
    second = build(graph, gear="replay")
    assert is_threaded(second) != expected
    for a, b in zip(first(x), second(x), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, long_graph(operations)(x), rtol=1e-12)


def test_lanes_with_a_stride_are_loaded_and_stored():
    def f(x):
        return x[3] * x[0] * x[3] + x[1]

    X = np.random.default_rng(0).normal(size=(16, 5))
    both = bl.vmap(bl.value_and_grad(f))
    kernel = bl.compile(both, X, gear="replay")
    for found, expected in zip(kernel(X), both(X), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(kernel(X)[1], [bl.grad(f)(x) for x in X])


def elements(x, w):
    return x[4] * x[0] + w[1, 0] * np.sin(x[4]) + np.sum(x[1:3]) * w[0, 1] * w[1, 0]


@pytest.mark.parametrize("gear", ["replay", "compiled"])
def test_gradients_of_single_elements_are_stored_where_they_belong(gear):
    x, w = np.linspace(0.5, 1.5, 6), np.arange(4.0).reshape(2, 2) + 1
    kernel = bl.compile(elements, x, w, argnums=(0, 1), gear=gear)
    _, (dx, dw) = kernel.value_and_grad(x, w)

    def slope(index, of_w=False):
        step = [x.astype(complex), w.astype(complex)]
        step[of_w][index] += 1e-30j
        return elements(*step).imag * 1e30

    np.testing.assert_allclose(dx, [slope(k) for k in range(6)], rtol=1e-14)
    np.testing.assert_allclose(dw, [[slope((i, j), True) for j in range(2)] for i in range(2)], rtol=1e-14)


@pytest.mark.parametrize("gear", ["replay", "compiled"])
def test_a_gradient_of_numbers_in_an_array_is_one_loop(gear):
    def f(x):
        return x[0] * x[2] - x[2] * x[1] * x[2]

    kernel = bl.compile(f, np.ones(4), gear=gear)
    kernel.value_and_grad(np.ones(4))
    (step,) = kernel._programs["value_and_grad"].executable.plan.steps
    assert isinstance(step, LoopStep)
    assert len(step.extra_stores) == 4


@pytest.mark.parametrize("gear", ["replay", "compiled"])
def test_results_that_are_constants_arguments_or_each_other_need_no_further_step(gear):
    def f(x, y):
        z = x * y
        return z, x, np.float64(2.5), z, y - z

    kernel = bl.compile(f, 1.5, 2.0, gear=gear)
    assert kernel(1.5, 2.0) == (3.0, 1.5, 2.5, 3.0, -1.0)
    assert len(kernel._programs["value"].executable.plan.steps) == 1


def test_results_that_are_views_of_lanes_are_copied_when_these_are_in_memory():
    def f(x):
        y = x * x - 1.0
        return y, y[::-1], y.reshape(2, 4), y[3]

    x = np.linspace(0.0, 1.0, 8)
    for found, expected in zip(bl.compile(f, x, gear="replay")(x), f(x), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_product_that_is_a_result_twice_is_not_taken_in_by_a_sum():
    def f(x, y):
        z = x * y
        return z + x, z * np.ones(8), z, z

    found = bl.compile(f, 1.5, 2.0, gear="replay")(1.5, 2.0)
    np.testing.assert_array_equal(np.hstack(found), [4.5, *[3.0] * 8, 3.0, 3.0])


def test_a_stack_may_be_read_again():
    def f(x):
        y = np.stack([x[0] * x[1], x[1] - x[0], x[0] + 1.0])
        return np.sum(y * y), y[1] * y[2]

    x = np.array([0.5, 2.0])
    for gear in ("replay", "compiled"):
        kernel = bl.compile(f, x, gear=gear)
        np.testing.assert_allclose(kernel(x), (1.0 + 2.25 + 2.25, 2.25))


def parts_of(kernel):
    plan = kernel._programs["value"].executable.plan
    return [step for part in plan.parts for step in part.steps]


def bouncing(x, m):
    """Numbers, lanes and matrices in the body and in the condition of a loop."""

    def body(state):
        k, x, y, v = state
        y = np.where(y > 9.0, y * 0.5, 3.0 * y + 1.0)
        v = np.tanh(m @ v) * 0.5 + y / (1.0 + y)
        return k + 1, x + np.sin(y) * np.sum(v), y, v

    return bl.while_loop(lambda s: (s[2] > 1.0) & (s[0] < 200), body, (0, x, 2.0 + 0.0 * x, np.ones(8)))


def test_sub_graphs_are_replayed_in_segments_next_to_kernels():
    m = np.random.default_rng(0).normal(size=(8, 8))
    kernel = bl.compile(bouncing, 0.5, m, gear="replay")
    for found, expected in zip(kernel(0.5, m), bouncing(0.5, m), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert sum(isinstance(step, LoopStep) for step in parts_of(kernel)) >= 3
    assert any(not isinstance(step, LoopStep) for step in parts_of(kernel))


def test_a_scan_of_scans_is_replayed_in_segments():
    def row(total, x):
        inner, ys = bl.scan(lambda s, z: (s * 0.9 + np.sin(z), s * z), total, x)
        return inner * 0.5, np.sum(ys) * inner

    def f(x):
        last, ys = bl.scan(row, 0.1 * x[0, 0], x)
        return last + np.sum(ys * ys)

    x = np.random.default_rng(1).normal(size=(6, 5))
    kernel = bl.compile(f, x, gear="replay")
    value, gradient = kernel.value_and_grad(x)
    expected = bl.compile(f, x).value_and_grad(x)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-12)
    step = x.astype(complex)
    for i, j in ((0, 0), (2, 3), (5, 4)):
        step[i, j] += 1e-6
        high, low = f(step.real), f(2 * x - step.real)
        np.testing.assert_allclose(gradient[i, j], (high - low) / 2e-6, rtol=1e-6)
        step[i, j] -= 1e-6


@pytest.mark.parametrize("shape", [(), (16,)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nonfinite_values_in_segments_are_found(shape, dtype):
    def f(x, y):
        hidden = np.log(x - y)  # nobody sees it in the result
        return np.where(x > y, hidden, y) * 2 + (x - x), np.exp(y) + np.sum(x)

    good, bad = np.full(shape, 2.0, dtype), np.full(shape, 1.0, dtype)
    kernel = bl.compile(f, good, bad, gear="replay", check_finite=True)
    assert any(isinstance(step, LoopStep) for step in _plan(kernel, good, bad).steps)
    assert np.all(np.isfinite(kernel(good, bad)[0]))
    one = np.array(bad)
    one.reshape(-1)[-1] = 3.0
    with pytest.raises(bl.errors.NonFiniteError, match="log"):
        kernel(good, one)
    with pytest.raises(bl.errors.NonFiniteError):
        kernel(good, np.full(shape, 1.99, dtype) * dtype(1000))


def _plan(kernel, *arrays):
    kernel(*arrays)
    return kernel._programs["value"].executable.plan
