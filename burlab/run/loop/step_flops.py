"""Rates of a loop's floating-point operations: those of its kernels, by what the counters of a run count.

A step evaluates its batch, asks the queries at the top of its update's graph, and computes the update: all that is
known before it runs. Queries inside of a loop or a choice of the update, those of clients, and full gradients come as
often as their counters say. Each of these counts as the costliest of its counter.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from burlab.graph import Node
from burlab.graph.executions import every_node
from burlab.graph.query import PART_QUERIES, TARGET_QUERIES, Question
from burlab.optim.batches import ROWS
from burlab.problems.kernels.evaluation_flops import evaluation_flops, flops_of
from burlab.problems.kernels.loss import Loss
from burlab.problems.kernels.query_kernels import counter_of
from burlab.run.record.flop_model import FlopRates
from burlab.run.record.recorder import SAMPLES

from .lazy_step import LazyStep
from .setup import Setup


class _Evaluation(NamedTuple):
    """One evaluation over a batch. counted: by how much its counter grows. always: whether each step does it once."""

    counter: str
    counted: int
    flops: int
    always: bool

    @property
    def rate(self) -> float:
        """Operations for each count."""
        return self.flops / max(self.counted, 1)


def flop_rates(setup: Setup) -> FlopRates:
    """Return the rates of a setup. They are those of formulas, whatever loops compute twice or once for a batch."""
    by_counter = defaultdict[str, list[_Evaluation]](list)
    for one in _evaluations(setup):
        by_counter[one.counter].append(one)
    counts = {name: _rate(those) for name, those in by_counter.items()}
    known = (one for those in by_counter.values() for one in those if one.always)
    beside = sum(one.flops - counts[one.counter] * one.counted for one in known)
    beside += setup.update.flops if isinstance(setup.update, LazyStep) else 0
    graphs = (setup.update.graph, setup.rule.size, setup.stream.graph)
    return FlopRates(beside + sum(flops_of(graph) for graph in graphs if graph is not None), counts)


def _rate(evaluations: list[_Evaluation]) -> float:
    """Return the rate of a counter: what each step does besides at another one is added step by step."""
    unknown = [one.rate for one in evaluations if not one.always]
    return max(unknown) if unknown else evaluations[0].rate


def _evaluations(setup: Setup) -> Iterator[_Evaluation]:
    """The kinds of evaluations of a run."""
    stream, loss, rule = setup.stream, setup.loss, setup.rule
    batch = int(stream.batch)
    if not rule.logs_value or loss.samples.metrics:
        counter = SAMPLES if loss.has_gradient else "values"
        if isinstance(setup.update, LazyStep):
            loss = Loss(setup.update.rows.samples, None)
        yield _Evaluation(counter, batch, evaluation_flops(loss, batch), not stream.varies)
    if setup.full is not None:
        samples = int(setup.full.stream.batch)
        yield _Evaluation(SAMPLES, samples, evaluation_flops(setup.full.loss, samples), False)
    yield from _queries(setup)


def _queries(setup: Setup) -> Iterator[_Evaluation]:
    graph, kernels = setup.update.graph, setup.queries
    always = [n for n in graph.nodes if n.op == "ask"]
    inside = [n for n in every_node(graph)[len(graph.nodes) :] if n.op == "ask"]
    for question, batch, rows, loss in kernels.evaluations:
        multiple = max(question.entries, 1) if question.name == "partial_grad" else 1
        if question.name == "hessian":
            multiple = setup.dimension
        is_known = (question.name == "per_sample_grads" and ROWS in setup.rule.queries) or setup.stream.varies
        each = _Evaluation(
            counter_of(question.name), batch * multiple, evaluation_flops(loss, batch, rows=rows), not is_known
        )
        for _ in range(sum(_is_about(n, question) for n in always)):
            yield each
        if any(_is_about(n, question) for n in inside) or not any(_is_about(n, question) for n in always):
            yield each._replace(always=False)


def _is_about(n: Node, question: Question) -> bool:
    """Return True if a node asks this question."""
    named = n.inputs[2].size if len(n.inputs) > 2 else 0
    if question.name in PART_QUERIES:
        return n.params == question.name and named == question.chosen + 1 and _form_of(n) == question.entries
    listed = question.chosen + (0 if question.name in TARGET_QUERIES else question.entries)
    return n.params == question.name and named == listed


def _form_of(n: Node) -> int:
    """Return the form that a query about a part names, before its samples."""
    _, _, first = n.inputs
    while not first.is_constant:
        first = first.inputs[0]
    return int(np.reshape(first.params, -1)[0])
