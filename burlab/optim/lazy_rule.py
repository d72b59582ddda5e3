"""Updates that touch the entries of one sparse row only: those of GD, SAGA and SVRG, alone or with a penalty."""

from dataclasses import replace
from typing import Any

import numpy as np

from burlab.graph import Graph, Node, tree
from burlab.graph.tracing.trace import trace

from .estimators.saga import SAGA
from .estimators.svrg import SVRG
from .gradient_descent import GD
from .lazy_form import TOTALS, Correction, LazyForm
from .live_fields import live_fields
from .optimizer import Optimizer, Vector
from .penalties import elastic_net, l1, l2, proximal
from .rule import UpdateRule

_DENSE_STEP, _DENSE_TABLE = 16, 4  # times the entries of a row: an x below it steps as fast without, or with a table
_STEP = Node("input", (), "t", (), np.dtype(np.int64), weak=True)


def lazy_rule(
    optimizer: Optimizer, x: Vector, f: Any, weight: float, entries: int
) -> tuple[UpdateRule, list[Vector]] | None:
    """Return the rule of a run on sparse rows, and the leaves of its state; None where it has none, or a slower one.

    x: start, shape (d,), float64. f: answers the queries of the start. weight: of the regularizer weight |x|^2 / 2.
    entries: of a row of the data, about.
    """
    live = live_fields(optimizer)
    form = _form(optimizer, weight)
    if form is None or any(callable(field.start) for field in live):
        return None
    if x.size < (_DENSE_STEP if form.correction is Correction.NONE else _DENSE_TABLE) * entries:
        return None
    state = _start(form, x, f)
    leaves, structure = tree.flatten(state)
    hyper = {field.name: field.number for field in live}
    forms = tuple((leaf.shape, leaf.dtype) for leaf in leaves)
    return UpdateRule(_graph(x, hyper, leaves), hyper, {}, forms, structure, lazy=form), leaves


def lazy_alike(rule: UpdateRule, optimizer: Optimizer, x: Vector, f: Any) -> tuple[UpdateRule, list[Vector]]:
    """Return the rule with the numbers of an optimizer of the same program, and the leaves of its state at x."""
    assert rule.lazy is not None
    hyper = {field.name: field.number for field in live_fields(optimizer)}
    return replace(rule, hyper=hyper), list(_start(rule.lazy, x, f).values())


def restarted(form: LazyForm, x: Vector, leaves: list[Vector]) -> list[Vector]:
    """Return the leaves of a state from which a run starts at x: no entry lags."""
    state = dict(zip(form.leaves, leaves, strict=True))
    if form.lags:
        mean = state.get("mean", np.zeros_like(x))
        numbers = [x @ x, x @ mean, mean @ mean]
        state |= {
            "carried": np.array([*numbers, *[0.0] * (TOTALS - len(numbers))]),
            "last": np.zeros(x.size, np.int64),
        }
    return list(state.values())


def _form(optimizer: Optimizer, weight: float) -> LazyForm | None:
    """weight: see `lazy_rule`. A penalty with l1 needs a loss without one."""
    penalty, inner = (optimizer.penalty, optimizer.inner) if type(optimizer) is proximal else (None, optimizer)
    shrinks = type(penalty) in (l1, elastic_net)
    if type(penalty) not in (l1, l2, elastic_net, type(None)) or (shrinks and weight):
        return None
    lags = penalty is not None or weight != 0
    if type(inner) is GD:
        return LazyForm(Correction.NONE, 0, lags)
    if type(inner) is SAGA:
        return LazyForm(Correction.TABLE, 0, True)
    return LazyForm(Correction.SNAPSHOT, inner.every, True) if type(inner) is SVRG else None


def _start(form: LazyForm, x: Vector, f: Any) -> dict[str, Vector]:
    """Return the state at step 0. The table of SAGA has the numbers of the rows at x; a snapshot fills that of SVRG."""
    zeros = [np.zeros(shape, dtype) for shape, dtype in form.state(x.size, f.samples)]
    state = dict(zip(form.leaves, zeros, strict=True))
    if form.correction is Correction.TABLE:
        state |= {"mean": f.mean_row(x), "table": f.row_factors(x)}
    return dict(zip(form.leaves, restarted(form, x, list(state.values())), strict=True))


def _graph(x: Vector, hyper: dict[str, float], leaves: list[Vector]) -> Graph:
    """Return a graph with the inputs and outputs of an update. It changes nothing: C++ does the step."""

    def step(*inputs: Any) -> list[Any]:
        _, x, _, _, state, *_ = inputs
        return [x, *state]

    problem = (np.zeros((), x.dtype), np.zeros(2, np.uint64), np.zeros(1, np.int64), np.int64(0))
    return trace(step, (x, x, _STEP, tuple(hyper.values()), leaves, *problem)).graph
