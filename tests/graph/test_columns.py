"""Every column of an operation's row is held by a check: set wrong, it turns that check red."""

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import pytest

import burlab as bl
import burlab.graph.rare
from burlab.compiler.codegen.emit import emit
from burlab.compiler.inspection.account import _bytes
from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.ir.plan import Execute, LoopStep
from burlab.compiler.passes import make_plan
from burlab.compiler.planning.expand_products import expand_products
from burlab.graph import Graph, Node, linear_nodes, operation as table, vjp
from burlab.graph.autodiff.scan_reverse import chosen_residuals
from burlab.graph.control_nodes import ControlOperation, chosen_inputs
from burlab.graph.executions import ENDLESS, work_of
from burlab.graph.node import constant
from burlab.graph.operation import STRUCTURAL, Linearity, Operation, ScalarOperation, make_node
from burlab.graph.query import query
from burlab.graph.rewrite.linear_cut import LinearCut, linear_inputs
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.scalar_row import NOT_SCALAR
from burlab.graph.signatures import ALL
from burlab.graph.tracing.trace import trace
from burlab.problems.kernels import hoisted
from tests.compiler.planning import test_plan
from tests.compiler.trace import traced
from tests.graph import test_signatures, test_tensor_ops
from tests.graph.test_signatures import accepted
from tests.op_cases import LINEAR_CASES, OTHER_CASES

MATRIX, VECTOR = np.zeros((3, 4)), np.zeros(40)


def given(*shape: int, dtype: Any = np.float64) -> Node:
    return Node("input", (), "x", shape, np.dtype(dtype))


def plan_of(function: Any, *examples: Any, **options: Any) -> Any:
    return make_plan(simplify(traced(function, *examples)), PlanOptions(**options))


def assert_steps(wanted: str, function: Any, *examples: Any, **options: Any) -> None:
    plan = plan_of(function, *examples, **options)
    names = ["loop" if isinstance(s, LoopStep) else s.kernel.symbol.removeprefix("burlab_") for s in plan.steps]
    assert " ".join(names) == wanted


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def conditional() -> Graph:
    return trace(lambda x: bl.cond(x[0] > 0, np.sin, np.cos, x), (np.ones(3),)).graph


def axes_that_are_no_integers_are_refused() -> None:
    x = given(3, 4)
    assert not accepted(Graph((x,), (Node("sum", (x,), (1.0,), (3,), x.dtype),)))


def a_check_follows_a_sum_and_no_copy() -> None:
    assert_steps(
        "zero sum_columns_float64 note_float64 gather_64bit_int64 judge",
        lambda x: np.sum(x * 1.0, axis=0)[np.array([1, 1, 0])],
        MATRIX,
        gear="replay",
        check_finite=True,
    )


def an_identity_is_gone() -> None:
    x = given(3)
    assert simplify(Graph((x,), (make_node("stop_gradient", None, x),))).outputs == (x,)


def a_transposed_array_is_copied_before_it_is_sorted() -> None:
    assert_steps("copy_64bit sort_float64", lambda x: np.sort(x.T), MATRIX)


def a_query_stays_in_the_tile() -> None:
    oracle, point = given(dtype=np.int64), given(4)
    asked = query("grad", oracle, point, (4,))
    assert asked in hoisted._later(Graph((oracle, point), (asked,)))


def rows_are_summed_in_a_loop() -> None:
    text = emit(plan_of(softmax, np.zeros((3, 40)))).text  # shorter rows are written out
    assert "row_extremes<true" in text
    assert "row_sums<" in text


def a_softmax_is_one_loop() -> None:
    assert_steps("loop", softmax, MATRIX)


def a_stack_of_numbers_is_part_of_a_loop() -> None:
    assert_steps("loop", lambda x: np.stack([x[0] * x[1], x[1] + 2.0]), VECTOR)


def an_outer_product_is_a_loop() -> None:
    u, v = given(5), given(6)
    graph = expand_products(Graph((u, v), (linear_nodes.contract("a,b->ab", u, v),)))
    assert "contract" not in {n.op for n in graph.nodes}


def the_bytes_of_a_gather_are_those_it_selects() -> None:
    plan = plan_of(lambda x: x[np.array([3, 1])], np.zeros((1000, 4)), gear="kernels")
    assert sum(_bytes(plan, step) for step in plan.steps) == 2 * 2 * 4 * 8 + 2 * 8


def what_is_cheap_is_not_stacked() -> None:
    w, h = given(4, 4), given(4)
    product = linear_nodes.contract("ab,b->a", w, h)
    larger = linear_nodes.pad(product, (1,), (1,), (9,))
    reverse = linear_nodes.contract("ab,a->b", linear_nodes.broadcast(larger, (9, 9), (0,)), larger)
    assert chosen_residuals(Graph((h, w), (larger,)), 1, [reverse, product]) == [product]


def a_sum_is_no_large_value_of_sums() -> None:
    x = given(40, 7)
    y = linear_nodes.sum_over(linear_nodes.contract("ab,cb->ac", x, x), (0,))
    own = {x, *y.inputs, y}
    assert LinearCut(Graph((x,), (y,)), own, 10).shallow([y], {y: list(y.inputs)}) == {}


def running_sums_come_before_the_mean() -> None:
    x = given(4)
    assert linear_inputs(linear_nodes.cumsum(x, 0), {x}) == []


def every_case_of_a_contraction_is_linear() -> None:
    for case in LINEAR_CASES:
        if case.name == "contract":
            test_tensor_ops.test_linear_derivatives(case)


def an_extreme_has_no_derivative() -> None:
    test_tensor_ops.test_others_have_no_derivative(next(c for c in OTHER_CASES if c.name == "reduce_max"))


def a_choice_executes_its_parts() -> None:
    graph = simplify(conditional())
    assert any(isinstance(step, Execute) for step in make_plan(graph, PlanOptions()).steps)


def sides_do_not_take_the_bool() -> None:
    (n,) = conditional().outputs
    assert chosen_inputs(n) == n.inputs[1:]


def rows_stand_under_their_names() -> None:
    assert all(row.name == name for name, row in STRUCTURAL.items())


def a_gather_is_accepted() -> None:
    x, index = given(5), given(2, dtype=np.int64)
    assert accepted(Graph((x, index), (Node("gather", (x, index), 0, (2,), x.dtype),)))


def a_choice_by_a_mask_is_accepted() -> None:
    mask, x = given(3, dtype=bool), given(3)
    assert accepted(Graph((mask, x), (Node("where", (mask, x, x), None, (3,), x.dtype),)))


def a_number_is_no_work_of_its_own() -> None:
    assert_steps("loop", lambda x: x * constant(2.0), VECTOR)


def a_sine_is_computed_by_its_own_function() -> None:
    assert "burlab_sin_float64_lane(" in emit(plan_of(np.sin, VECTOR)).text


def the_partial_derivative_of_a_sine_is_a_cosine() -> None:
    x = given(3)
    (share,) = vjp([make_node("sin", None, x)], [x], [constant(np.ones(3))])
    assert "cos" in {n.op for n in simplify(Graph((x,), (share,))).nodes}


def a_sine_has_a_derivative() -> None:
    x = given(3)
    (share,) = vjp([make_node("sin", None, x)], [x], [constant(np.ones(3))])
    assert "sin'0" in {n.op for n in Graph((x,), (share,)).nodes}


def a_comparison_gives_a_mask() -> None:
    x = given(3)
    assert make_node("less", None, x, x).dtype == bool


def a_loop_that_tests_may_never_end() -> None:
    graph = trace(lambda x: bl.while_loop(lambda s: s > 1, lambda s: s / 2, x), (1.0,)).graph
    assert work_of(graph) == ENDLESS


class Wrong(NamedTuple):
    """An operation, what its column says wrongly, and the check that notices."""

    op: str
    value: Any
    check: Callable[[], None]


WRONG: dict[str, Wrong] = {
    "name": Wrong("sort", "sorted", rows_stand_under_their_names),
    "parameters": Wrong("sum", lambda _: True, axes_that_are_no_integers_are_refused),
    "leaf": Wrong("input", False, a_number_is_no_work_of_its_own),
    "elementwise": Wrong("convert", False, lambda: assert_steps("loop", lambda x: x.astype("float32") * 2.0, VECTOR)),
    "view": Wrong("transpose", False, test_plan.test_transposes_are_free_for_contractions_and_sums),
    "moves_data": Wrong("sum", True, a_check_follows_a_sum_and_no_copy),
    "identity": Wrong("stop_gradient", False, an_identity_is_gone),
    "dense_operands": Wrong("sort", False, a_transposed_array_is_copied_before_it_is_sorted),
    "unbounded": Wrong("ask", False, a_query_stays_in_the_tile),
    "adds_up": Wrong("sum", False, rows_are_summed_in_a_loop),
    "reduction": Wrong("reduce_max", False, a_softmax_is_one_loop),
    "epilogue": Wrong("sum", None, test_plan.test_elementwise_work_is_one_loop_that_reads_through_slices),
    "largest": Wrong("reduce_max", False, rows_are_summed_in_a_loop),
    "joins": Wrong("concatenate", False, a_stack_of_numbers_is_part_of_a_loop),
    "multiplies": Wrong("contract", False, an_outer_product_is_a_loop),
    "windowed": Wrong("pad", False, test_plan.test_the_gradient_of_slices_copies_nothing),
    "selects": Wrong("gather", False, the_bytes_of_a_gather_are_those_it_selects),
    "cheap": Wrong("pad", False, what_is_cheap_is_not_stacked),
    "shrinks": Wrong("sum", False, a_sum_is_no_large_value_of_sums),
    "linearity": Wrong("contract", Linearity.ALL, every_case_of_a_contraction_is_linear),
    "follows_sums": Wrong("cumsum", True, running_sums_come_before_the_mean),
    "constant": Wrong("reduce_max", False, an_extreme_has_no_derivative),
    "parts": Wrong("cond", (), a_choice_executes_its_parts),
    "indexed": Wrong("gather", False, a_gather_is_accepted),
    "dtypes": Wrong("scatter", ALL, test_signatures.test_undefined_dtypes_are_not_accepted),
    "before": Wrong("cond", 0, sides_do_not_take_the_bool),
    "scalar": Wrong("sin", NOT_SCALAR, a_sine_is_computed_by_its_own_function),
    "order": Wrong("sin'0", 0, the_partial_derivative_of_a_sine_is_a_cosine),
    "differentiable": Wrong("sin", False, a_sine_has_a_derivative),
    "_is_mask": Wrong("less", False, a_comparison_gives_a_mask),
    "endless": Wrong("while", False, a_loop_that_tests_may_never_end),
    "chooses": Wrong("where", False, a_choice_by_a_mask_is_accepted),
}


def columns() -> set[str]:
    """Columns of rows: annotated attributes of their base classes, and those of a scalar operation."""
    stated = {name for base in (Operation, linear_nodes.LinearOp) for name in base.__annotations__}
    stated |= {name for name in vars(ControlOperation) if not name.startswith("_")} - {"batched"}
    return (stated | set(vars(ScalarOperation("where")))) - {"op"}


def with_column(row: Operation, column: str, value: Any) -> Operation:
    """The row with another value in a column."""
    if column in vars(row):
        wrong = copy(row)
        setattr(wrong, column, value)
        return wrong
    return type("Wrong", (type(row),), {column: value})()


def test_every_column_has_an_entry() -> None:
    assert set(WRONG) == columns()


@pytest.mark.parametrize("column", sorted(columns()))
def test_a_wrong_column_is_noticed(column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op, value, check = WRONG[column]
    row = table.ROWS[op]
    right = getattr(type(row), column, None) if callable(value) else getattr(row, column)

    def put(value: Any) -> None:
        other = with_column(row, column, value)
        monkeypatch.setitem(table.ROWS, op, other)
        if op in STRUCTURAL:
            monkeypatch.setitem(STRUCTURAL, op, other)

    assert right != value
    put(right)  # a row put there by this test is not what the check notices
    check()
    put(value)
    with pytest.raises(Exception):  # noqa: B017, PT011 - an assertion, or whatever a wrong row makes the product raise
        check()
