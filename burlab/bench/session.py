"""`run`: cases, sizes and engines, row by row."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

from . import cases
from .clock import Effort
from .machine import describe
from .measure import Entrant, VariantResult, measure
from .pool import ProcessPool
from .problem import Case, Size, Task, Unavailable, label
from .report import Report

PEERS = ("torch", "jax", "autograd", "micrograd", "optax", "mpmath", "pychop")
_BUILT_IN = ("golden", "burlab", "numpy")  # engines that need no further package
QUICK = Effort(shortest=0.001, rounds=10, most=0.5)


def run(
    case: str | None = None,
    *,
    peers: Sequence[str] = PEERS,
    quick: bool = False,
    sizes: Sequence[Size] | None = None,
    quiet: bool = True,
) -> Report:
    """Compute, judge and time one case, or all of them.

    Args:
        case: Its name; None for all.
        peers: Other engines that take part; one that is not installed is a named gap.
        quick: True for small sizes and short measurements.
        sizes: Of one case, in place of its own.
        quiet: False to write the progress to the standard error.

    Returns:
        The report, with a line for each case, size and engine.

    Raises:
        ArgumentError: A case or a peer is unknown, or sizes are given without a case.

    >>> from burlab import bench
    >>> [line.engine for line in bench.run("tiny", peers=["nobody"]).lines]
    Traceback (most recent call last):
        ...
    burlab.errors.ArgumentError: a peer must be one of torch, jax, autograd, micrograd, optax, ...; got 'nobody'.
    """
    peers = list(dict.fromkeys(peers))
    for peer in peers:
        if peer not in PEERS:
            raise ArgumentError(f"a peer must be one of {', '.join(PEERS)}; got {shown(peer)}.")
    if sizes and not case:
        raise ArgumentError("sizes are those of one case. Name it: run('mlp', sizes=[{'hidden': 16, 'batch': 1}]).")
    chosen = [cases.find(name) for name in ((case,) if case else cases.NAMES)]
    write: Callable[[str], object] = (lambda _: None) if quiet else sys.stderr.write
    lines = list[VariantResult]()
    for one in chosen:
        wanted = sizes or (one.quick if quick else one.sizes)
        gaps = dict.fromkeys(one.missing(size) for size in wanted if one.missing(size))
        lines += [VariantResult(one.name, {}, engine, "", gap) for gap in gaps for engine in one.variants]
        for size in wanted:
            if one.missing(size):
                continue
            write(f"{one.name} {label(size)}\n")
            lines += row(one, size, peers, QUICK if quick else Effort())
    return Report(tuple(chosen), tuple(lines), describe(quick))


def row(case: Case, size: Size, peers: Sequence[str], effort: Effort) -> list[VariantResult]:
    """One size of a case, in processes of its own."""
    with ProcessPool(size.get("threads", 1), size.get("device", "cpu")) as pool:

        def entrant(engine: str, variant: str, timed: bool = True) -> Entrant:
            def open_task() -> Task:
                if reason := case.skip(size, engine, variant):
                    raise Unavailable(reason)
                return pool.open(engine, case.name, size, variant)

            return Entrant(engine, variant, open_task, timed)

        chosen = [name for name in (*_BUILT_IN, *peers) if name in case.variants]
        entrants = [entrant(name, variant) for name in chosen for variant in case.variants[name]]
        entrants.append(entrant("complex step", "", timed=False))
        problem = case.problem(size)
        lines = measure(case.name, size, problem, case.dtype, entrants, effort)
        found = [replace(x, facts={**pool.resident(x.engine), **x.facts}) if x.timing else x for x in lines]
    return [_weighed(case, x) if case.alone and x.timing else x for x in found]


def _weighed(case: Case, line: VariantResult) -> VariantResult:
    """Return the result with the memory of processes in which only this variant works, at this and a small size."""
    whole = _peak(case, line.size, line.engine, line.variant)
    small = {} if line.size == case.quick[0] else _peak(case, case.quick[0], line.engine, line.variant)
    added = {"added": whole["peak_rss"] - small["peak_rss"]} if whole and small else {}
    return replace(line, facts={**line.facts, **whole, **added})


def _peak(case: Case, size: Size, engine: str, variant: str) -> dict[str, float]:
    """Memory of a process that has opened a task and repeated it a few times: what is timed, and no gate."""
    with ProcessPool(size.get("threads", 1), size.get("device", "cpu")) as pool:
        pool.open(engine, case.name, size, variant).repeat(3)
        return pool.resident(engine)
