"""Plans: what is fused, what is a view and costs nothing, what is written in place, and what a plan says of itself."""

import numpy as np
import pytest

import burlab as bl
from burlab.compiler import build, executable
from burlab.compiler.codegen.emit import emit
from burlab.compiler.ir.descriptor_table import Contexts, Descriptor
from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.ir.plan import LoopStep, MemoryKind
from burlab.compiler.ir.strides import StrideAxis, joined, merged, reshaped
from burlab.compiler.passes import make_plan
from burlab.graph import linear_nodes, vjp
from burlab.graph.node import constant
from burlab.graph.rewrite.simplify import simplify
from tests.compiler.trace import traced


def plan_of(function, *examples, gear="compiled"):
    return make_plan(simplify(traced(function, *examples)), PlanOptions(gear))


def kinds(plan):
    return ["loop" if isinstance(s, LoopStep) else s.kernel.symbol.removeprefix("burlab_") for s in plan.steps]


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_elementwise_work_is_one_loop_that_reads_through_slices():
    plan = plan_of(rosenbrock, np.zeros(9))
    assert kinds(plan) == ["loop"]
    assert len(plan.steps[0].nodes) == 8
    assert plan.memory == {"inputs": 72, "outputs": 8, "constants": 0, "workspace": 0}


def test_a_gradient_stays_within_few_steps():
    def gradient(x):
        y = rosenbrock(x)
        return tuple(vjp([y], [x], [constant(1.0)]))

    names = kinds(plan_of(gradient, np.zeros(9)))
    assert names.count("loop") == 2, names


def test_views_of_views_cost_nothing():
    plan = plan_of(lambda x: x.T[::-1].reshape(3, 2)[None].sum(0) + 1.0, np.zeros((2, 3)))
    assert kinds(plan)[-1] == "loop"
    plan = plan_of(lambda x: np.broadcast_to(x[:, None, :], (4, 5, 6))[::2].transpose(2, 0, 1) * 2.0, np.zeros((4, 6)))
    assert kinds(plan) == ["loop"]
    assert plan.workspace_bytes == 0


def test_reshape_without_strides_is_copied():
    assert kinds(plan_of(lambda x: x.T.reshape(6) * 2.0, np.zeros((2, 3)))) == ["copy_64bit", "loop"]
    assert kinds(plan_of(lambda x: x.reshape(6) * 2.0, np.zeros((2, 3)))) == ["loop"]


def test_transposes_are_free_for_contractions_and_sums():
    assert kinds(plan_of(lambda a, b: a.T @ b.T, np.zeros((4, 3)), np.zeros((5, 4)))) == ["contract_float64"]
    assert kinds(plan_of(lambda a: a.T.sum(0), np.zeros((4, 3)))) == ["sum_float64"]
    assert kinds(plan_of(lambda a: a.sum(0), np.zeros((9, 8)))) == ["sum_columns_float64"]


def test_single_numbers_are_variables_whatever_their_axes():
    plan = plan_of(lambda a, x: np.exp(a * 2.0).reshape(1, 1) * x, 1.0, np.zeros((2, 3)))
    assert kinds(plan) == ["loop", "loop"]
    assert [s.shape for s in plan.steps] == [(), (2, 3)]
    assert plan.workspace_bytes == 0


def test_a_scalar_that_only_loops_need_is_not_stored():
    plan = plan_of(lambda a, x: (np.exp(a) * x, np.sum(x * a)), 1.0, np.zeros(4))
    assert plan.steps[0].stores == ()


def test_a_chain_is_written_in_place():
    def chain(x, w):
        for _ in range(6):
            x = np.tanh(np.cumsum(x) * 2.0)
        return x @ w

    assert plan_of(chain, np.zeros(100), np.zeros(100)).workspace_bytes == 2 * 832
    # A loop that reads its operand shifted must not write over it.
    plan = plan_of(lambda x: np.cumsum(np.cumsum(x)[::-1] * 2.0 + np.cumsum(x)), np.zeros(100))
    assert plan.workspace_bytes == 2 * 832


def test_rows_are_put_where_the_old_array_was():
    def update(x, i, rows):
        return np.sum(bl.at_set(bl.at_add(x * 2.0, i, rows), i, rows) ** 2)

    plan = plan_of(update, np.zeros((50, 4)), np.array([3, 5]), np.ones((2, 4)))
    put = ["scatter_accumulate_float64_int64", "put_64bit_int64"]
    assert kinds(plan) == ["loop", "loop", *put, "loop"]  # the index, x * 2, ..., the sum


def test_an_array_that_is_read_later_is_copied():
    def update(x, i):
        y = x * 2.0
        return y @ np.ones(4), bl.at_set(y, i, 1.0) @ np.ones(4), bl.at_set(x, i, 1.0)

    names = kinds(plan_of(update, np.zeros((50, 4)), np.array([3, 5])))
    assert names.count("copy_64bit") == 2, names


def test_outputs_are_computed_where_the_caller_wants_them():
    plan = plan_of(lambda x: (x * 2.0, (x + 1.0).reshape(2, 3), x), np.zeros(6))
    assert kinds(plan) == ["loop", "copy_64bit"]
    assert plan.workspace_bytes == 0
    assert [plan.allocations[n].kind for n in plan.steps[0].stores] == [MemoryKind.OUTPUT] * 2


def test_one_output_twice_is_computed_once():
    plan = plan_of(lambda x: (y := np.exp(x), y, y.T), np.zeros((2, 3)))
    assert kinds(plan) == ["loop", "copy_64bit", "copy_64bit"]


def test_replay_has_one_kernel_for_each_node_and_no_loop():
    plan = plan_of(rosenbrock, np.zeros(9), gear="kernels")
    names = kinds(plan)
    assert "loop" not in names
    assert names[-1] == "sum_float64"


def test_a_plan_prints_its_steps_and_bytes():
    text = str(plan_of(rosenbrock, np.zeros(9)))
    assert text.splitlines()[0].startswith("0: loop [8] %")
    assert text.splitlines()[0].endswith("=sum")
    assert text.endswith("bytes: 72 inputs, 8 outputs, 0 constants, 0 workspace")


def test_source_names_the_users_line_and_is_equal_for_equal_work():
    sources = [emit(plan_of(rosenbrock, np.zeros(9))) for _ in range(2)]
    assert "test_plan.py:" in sources[0].text
    assert sources[0].bare == sources[1].bare
    assert "test_plan.py" not in sources[0].bare
    other = emit(plan_of(lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), np.zeros(9)))
    assert other.bare == sources[0].bare, "what it computes is the same, on another line"


def test_known_numbers_are_not_part_of_the_text():
    texts = {
        emit(plan_of(lambda x, c=c: np.sum(x * np.full(50, c) @ np.ones((50, 3))), np.zeros(50))).bare
        for c in (1.0, 2.0)
    }
    assert len(texts) <= 2
    texts = {emit(plan_of(lambda x, c=c: x * np.arange(c, c + 50), np.zeros(50))).bare for c in (1.0, 2.0)}
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("shape", "strides", "new", "expected"),
    [
        ((2, 3), (3, 1), (6,), (1,)),
        ((2, 3), (1, 2), (6,), None),
        ((2, 3), (0, 1), (3, 2), None),
        ((4, 6), (12, 2), (4, 2, 3), (12, 6, 2)),
        ((4, 6), (0, 0), (2, 12), (0, 0)),
        ((6,), (-1,), (2, 3), (-3, -1)),
        ((1, 5, 1), (9, 1, 9), (5, 1), (1, 1)),
        ((0, 3), (3, 1), (3, 0, 7), (0, 7, 1)),
    ],
)
def test_reshaped_strides(shape, strides, new, expected):
    assert reshaped(shape, strides, new) == expected


@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 1, 2), (1,), (), (2, 2, 2, 2)])
@pytest.mark.parametrize("seed", range(5))
def test_reshaped_strides_read_what_numpy_reads(shape, seed):
    rng = np.random.default_rng(seed)
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape).transpose(rng.permutation(len(shape)))
    for new in [(x.size,), (2, x.size // 2), (x.size // 2, 2), x.shape[::-1], (1, *x.shape)]:
        if np.prod(new) != x.size:
            continue
        strides = reshaped(x.shape, tuple(s // 8 for s in x.strides), new)
        if strides is not None:
            seen = np.lib.stride_tricks.as_strided(x, new, [8 * s for s in strides])
            np.testing.assert_array_equal(seen, x.reshape(new))


def test_axes_are_joined_where_all_operands_allow_it():
    assert merged((2, 3, 4), (12, 4, 1), (12, 4, 1)) == ([24], [[1], [1]])
    assert merged((2, 3), (3, 1), (0, 1)) == ([2, 3], [[3, 1], [0, 1]])
    assert merged((1, 1), (5, 1)) == ([], [[]])
    assert joined([StrideAxis(2, 3, 3), StrideAxis(3, 1, 1)]) == [StrideAxis(6, 1, 1)]
    assert joined([StrideAxis(2, 3, 6, 0), StrideAxis(3, 1, 2, 0), StrideAxis(1, 7, 7, 7)]) == [StrideAxis(6, 1, 2, 0)]


def test_a_long_compile_is_announced(monkeypatch, capsys):
    graph = traced(rosenbrock, np.zeros(21))
    build(graph)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(executable, "MAX_SILENT_SECONDS", 0.0)
    build(graph)
    assert "operations, about 0 s" in capsys.readouterr().err


def test_the_estimate_grows_with_what_is_compiled():
    small, large = (plan_of(lambda x, n=n: chain(x, n), 0.5) for n in (10, 1000))
    assert 0.1 < large.seconds < 1
    assert small.seconds < 0.01


def chain(x, n):
    for k in range(n):
        x = x * 1.5 + k
    return x


def test_the_gradient_of_slices_copies_nothing():
    def gradient(x):
        y = rosenbrock(x)
        return tuple(vjp([y], [x], [constant(1.0)]))

    plan = plan_of(gradient, np.zeros(9))
    assert kinds(plan) == ["loop", "loop"]
    loops = [line.strip() for line in emit(plan).text.splitlines() if "for (" in line]
    assert [line[line.index("= ") : line.index("; ++")] for line in loops[-3:]] == [
        "= 0; i0 < 1", "= 1; i0 < 8", "= 8; i0 < 9",
    ], "cut where the slices begin and end, so that no element asks where it is"  # fmt: skip


def test_a_pad_that_a_kernel_reads_is_an_array():
    def padded(x):
        return linear_nodes.pad(x, (1, 2), (1, 1), (5, 7))

    assert kinds(plan_of(lambda x: np.exp(padded(x)) + 1.0, np.zeros((3, 4)))) == ["loop"]
    assert kinds(plan_of(lambda x: (np.exp(padded(x)), padded(x)), np.zeros((3, 4)))) == ["zero", "copy_64bit", "loop"]
    assert "zero" in kinds(plan_of(lambda x: np.exp(padded(x)) @ padded(x).T, np.zeros((3, 4))))
    assert "zero" in kinds(plan_of(lambda x: padded(x).T + 1.0, np.zeros((3, 4))))


def test_a_loop_waits_for_the_numbers_it_needs():
    def decayed(x, y, rate):
        factor = 1.0 - rate ** (rate + 1.0)
        return x * y + factor * (x + y)

    plan = plan_of(decayed, np.zeros(50), np.zeros(50), 0.5)
    assert [bool(step.shape) for step in plan.steps] == [False, True]
    assert plan.workspace_bytes == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_loop_with_square_roots_has_lanes_and_their_bits(dtype):
    def scaled(x):
        return x / (np.sqrt(np.abs(x)) + 1.0)

    plan = plan_of(scaled, np.zeros(100, dtype))
    assert "vectorize(assume_safety)" in emit(plan).text
    x = np.random.default_rng(0).normal(size=100).astype(dtype)
    x[:3] = 0.0, -0.0, np.nan
    for gear in ("compiled", "replay"):
        np.testing.assert_array_equal(build(plan.graph, gear=gear)(x)[0], scaled(x))


def test_context_created_first_by_another_thread_stays():
    def link(addresses):
        if len(made) < 2:
            made.append(None)
            others.append(contexts(3))  # as from another thread
        made.append(np.array([*addresses.values()]))
        return made[-1].ctypes.data, made[-1]

    made, others = [], []
    contexts = Contexts([Descriptor((1, 2), 1, 5)], link)
    assert contexts(3) == contexts(3) == others[0] == others[1]
