"""The formulas that operations write of themselves compute what the operations compute."""

import math

import numpy as np
import pytest

from burlab.compiler.executable import build
from burlab.graph.formula import formulas, load_formulas
from burlab.graph.graph import Graph
from burlab.graph.node import Node
from burlab.graph.operation import make_node
from burlab.graph.scalar import arity, is_differentiable, scalar_ops

NAMES = {
    **{name: getattr(math, name) for name in "sqrt exp expm1 log log1p sin cos tan sinh cosh tanh erf erfc".split()},
    "arctan": math.atan, "arctan2": math.atan2, "arctanh": math.atanh, "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}  # fmt: skip
POINTS = {"a": 0.3, "b": 0.7, "c": -1.2}
MASKS = {"a": True, "b": False}


def computed(op, arguments):
    """By the kernel of one node."""
    inputs = [Node("input", (), f"x{k}", (), np.asarray(x).dtype) for k, x in enumerate(arguments)]
    graph = Graph(tuple(inputs), (make_node(op, None, *inputs),))
    return build(graph, gear="replay")(*map(np.asarray, arguments))[0]


@pytest.fixture(scope="module", autouse=True)
def all_formulas():
    load_formulas(scalar_ops())


@pytest.mark.parametrize("name", scalar_ops())
def test_the_formula_of_an_operation_computes_its_value_and_its_partials(name):
    logic = name.startswith("logical_")
    letters = "abc"[: arity(name)]
    points = {k: MASKS[k] if logic or (name == "where" and k == "a") else POINTS[k] for k in letters}
    found = formulas(name)
    value = computed(name, list(points.values()))
    assert float(eval(found.value, NAMES, points)) == pytest.approx(float(value), rel=1e-3)
    assert len(found.partials) == (len(letters) if is_differentiable(name) else 0)
    for k, formula in enumerate(found.partials):
        if name == "where" and k == 0:
            assert formula == "0"
            continue
        by_kernel = computed(f"{name}'{k}", [*points.values(), float(value)])
        assert float(eval(formula, NAMES, {**points, "y": float(value)})) == pytest.approx(float(by_kernel), rel=1e-3)


def test_parentheses_stand_where_they_are_needed_and_nowhere_else():
    assert formulas("arctanh").partials == ("1 / ((1 - a) * (1 + a))",)
    assert formulas("sub").partials == ("1", "-1")
    assert formulas("erfc").partials == ("-(1.128 * exp(-a**2))",)
