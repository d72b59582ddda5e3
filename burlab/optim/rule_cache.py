"""Traced updates, found again: a run with an optimizer of an equal program traces nothing."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from burlab.graph import Graph, Node, tree
from burlab.graph.tracing.function_structure import Weak
from burlab.graph.tracing.trace_cache import TraceCache, structure_outside, traced_anew

from .batches import BATCH, PRODUCTS, Batches, SeenBatches
from .optimizer import Optimizer, Vector
from .rule import UpdateRule, planned_sizes, reads_input, rule_alike, trace_rule
from .same_program import program_of

INDICES = -2  # the input of an update that holds the samples of its step
_READ = ("batch", "samples", "products")

RULES = TraceCache[UpdateRule](lambda rule: [g for g in (rule.graph, rule.output, rule.size) if g is not None])
"""Updates, by their programs, the form of x, and what they have read of the batches."""


def find_rule(
    optimizer: Optimizer, x: Vector, batches: Batches, like: tree.Tree, f: Any, logs_estimate: bool = False
) -> tuple[UpdateRule, list[Vector]]:
    """Return what `trace_rule` returns; the update is traced only if no equal one was."""
    planned = batches.planned
    program, schedule = program_of(optimizer), planned if callable(planned) else None
    planned_numbers = (field.start for field in batches.numbers if callable(field.start))
    values = (*program.values, batches.weights, *(batches.tables or ()), schedule, *planned_numbers)
    key = (program.key, *_form(x, like), _facts(batches), logs_estimate)
    structure = structure_outside(values)
    if structure is not None:
        for read in product(*((None, fact) for fact in _readable(batches))):
            rule = RULES.find((key, structure, read))
            if rule is not None and (found := rule_alike(rule, optimizer, x, like, f)) is not None:
                return of_batches(found[0], batches), found[1]
    seen = SeenBatches(*batches)
    (rule, state), lasts = traced_anew(
        values, structure, lambda: trace_rule(optimizer, x, seen, like, f, logs_estimate)
    )
    if lasts:
        names = seen.names | {"batch"} if reads_input(rule.graph.inputs[INDICES], rule.graph) else seen.names
        read = tuple(fact if name in names else None for name, fact in zip(_READ, _readable(batches), strict=True))
        RULES.put((key, structure, read), replace(rule, schedules={}))  # those are functions of a user's
    return rule, state


def _form(x: Vector, like: tree.Tree) -> tuple[Any, ...]:
    leaves, structure = tree.flatten(like)
    return x.shape, x.dtype, structure, *((np.shape(leaf), getattr(leaf, "dtype", None)) for leaf in leaves)


def _facts(batches: Batches) -> tuple[Any, ...]:
    """Return what updates may know of batches without reading it, but for sizes and what counts by its structure."""
    planned = None if callable(batches.planned) else batches.planned
    numbers: Any = tuple((field.name, callable(field.start)) for field in batches.numbers)
    known = batches._replace(batch=0, samples=0, weights=None, planned=planned, tables=None, products=None)
    return tuple(known._replace(numbers=numbers))


def _readable(batches: Batches) -> tuple[int, int, Weak]:
    """Return what an update may have read: the numbers of samples, in its batch and of all, and the loss's products."""
    return batches[0], batches[1], Weak(batches[PRODUCTS])


def of_batches(rule: UpdateRule, batches: Batches) -> UpdateRule:
    """Return a rule for other batches, whose size it does not read, and for other starts of the loss's numbers."""
    hyper = rule.hyper | {field.name: field.number for field in batches.numbers}
    schedules = rule.schedules | {field.name: field.start for field in batches.numbers if callable(field.start)}
    schedules |= {} if batches.planned is None else {BATCH: planned_sizes(batches.planned)}
    return replace(rule, graph=with_indices(rule.graph, batches.batch), hyper=hyper, schedules=schedules)


def with_indices(graph: Graph, batch: int) -> Graph:
    """Return an update that takes the numbers of so many samples, which it does not read."""
    old = graph.inputs[INDICES]
    if old.shape == (batch,):
        return graph
    new = Node("input", (), old.params, (batch,), old.dtype, old.weak)
    return Graph((*graph.inputs[:INDICES], new, *graph.inputs[INDICES + 1 :]), graph.outputs)
