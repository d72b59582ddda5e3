"""Requirement of a changed file: an error of burlab's when it is read, or a working object that runs nothing foreign.

`python -m tests.written.hostile graphs|runs SEED COUNT` tries so many mutations and says what went wrong, line by line.
"""

import json
import os
import random
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import burlab as bl
from burlab.compiler.codegen.emit import emit
from burlab.compiler.executable import build
from burlab.compiler.passes import make_plan
from burlab.compiler.planning.expand_products import expand_products
from burlab.errors import BurlabError, CompileError
from burlab.graph import Graph
from burlab.graph.file.verify import verify
from burlab.graph.rewrite.simplify import simplify
from burlab.run.file import container
from tests.run.saved_cases import CASES
from tests.written.graphs import PROGRAMS
from tests.written.mutations import MARK, RUN, dumped, mutated

FOLDER = Path(__file__).parent / "1"
SECONDS = 20.0  # what takes long here would take hours: machines that are busy with other things are no matter
LARGE = 1 << 24  # elements that are worth a call here


class TooLong(Exception):
    """Something did not end, and heard the alarm."""


@contextmanager
def limit(seconds: float = SECONDS) -> Iterator[None]:
    """Raise TooLong where the block is not done in time."""

    def alarm(_: int, __: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@cache
def graphs() -> dict[str, Any]:
    """Graphs as documents."""
    return {name: json.loads(text) for name, text in json.loads((FOLDER / "graphs.json").read_text()).items()}


def try_graph(rng: random.Random) -> str | None:
    """Change a graph; what went wrong with it, if anything."""
    name = rng.choice(list(PROGRAMS))
    document, what = mutated(graphs()[name], rng)
    return _judged(f"{name}: {what}", lambda: _accepted(dumped(document)))


def _judged(what: str, work: Callable[[], str | None]) -> str | None:
    try:
        wrong = work()
    except TooLong:
        wrong = "hangs"
    except Exception:  # any of them is what is looked for
        wrong = " | ".join(traceback.format_exc().strip().splitlines()[-5:])
    if Path("sentinel").exists():
        Path("sentinel").unlink()
        wrong = f"RAN; {wrong}"
    return wrong and f"{what} -> {wrong}"


def _accepted(text: str) -> str | None:
    with limit():
        try:
            graph = Graph.from_json(text)
        except BurlabError:
            return None
    return _works(graph, text)


def _works(graph: Graph, text: str) -> str | None:
    """Return True if an accepted graph is well-formed, can be written, and executed."""
    with limit():
        verify(graph)
        assert Graph.from_json(graph.to_json()).key == graph.key
        plan = make_plan(expand_products(simplify(graph)))
        code = "".join(line.partition("//")[0] for line in emit(plan).text.splitlines())
        if MARK in code or RUN in code:
            return "a text of the file stands in code"
    if sum(n.size for n in plan.graph.nodes) > LARGE:
        return None
    arrays = [np.ones(x.shape, x.dtype) for x in graph.inputs]
    try:
        executable = build(graph, gear="compiled" if MARK in text else "replay")
        with limit(2.0):
            executable(*arrays)
    except CompileError as error:
        return f"C++: {str(error)[:300]}"
    except TooLong:
        return None  # a loop without an end, which hears an interrupt
    except BurlabError:
        return None
    return None


@cache
def run_file(name: str) -> tuple[Any, dict[str, Any]]:
    """The document and the arrays of a run."""
    return container.read(FOLDER / f"{name.replace(' ', '_')}.burlab", "run")


@cache
def data_of(name: str) -> Any:
    """Return the data of a run."""
    return CASES[name]()[1]


def try_run(rng: random.Random) -> str | None:
    """Change the document, a graph or an array of a run; what went wrong, if anything."""
    name = rng.choice(list(CASES))
    document, arrays = run_file(name)
    arrays = dict(arrays)
    part = rng.choice(["document", "document", "graph", "array"])
    if part == "document":
        document, what = mutated(document, rng)
    elif part == "graph":
        key = rng.choice([key for key in arrays if key.startswith("graph/")])
        changed, what = mutated(json.loads(arrays[key].tobytes()), rng)
        arrays[key] = np.frombuffer(dumped(changed).encode("utf-8", "surrogatepass"), np.uint8)
    else:
        what = _other_array(arrays, rng)
    return _judged(f"{name}: {part}: {what}", lambda: _goes_on(name, document, arrays))


def _other_array(arrays: dict[str, Any], rng: random.Random) -> str:
    key = rng.choice(list(arrays))
    old = arrays[key]
    choices: list[Any] = [
        old[:0], old.reshape(-1)[:-1], old[None], old.astype(rng.choice(["f4", "f8", "i8", "i4", "u8", "?"])),
        np.zeros_like(old), np.full_like(old, rng.choice([1, 2, 255])), np.concatenate([old.reshape(-1)] * 2),
    ] if old.ndim else [old[None], np.zeros(3)]  # fmt: skip
    if old.dtype.kind == "f":
        choices += [np.full_like(old, np.nan), np.full_like(old, np.inf)]
    if old.dtype == np.int64:
        choices += [np.full_like(old, 2**62), np.full_like(old, -1), old[::-1].copy()]
    which = rng.randrange(len(choices) + 1)
    if which == len(choices):
        del arrays[key]
        return f"{key} gone"
    arrays[key] = choices[which]
    return f"{key}: {old.dtype}{old.shape} becomes {choices[which].dtype}{choices[which].shape} (choice {which})"


def _goes_on(name: str, document: Any, arrays: dict[str, Any]) -> str | None:
    path = Path("changed.burlab")
    try:
        container.write(path, "run", document, arrays)
    except ValueError:
        return None  # nan has no place in such a header, nor have halves of characters
    data = data_of(name)
    with limit(60.0):
        try:
            run = bl.load_run(path, data)
        except CompileError as error:
            return f"C++: {str(error)[:300]}"
        except BurlabError:
            return None
        try:
            run.step(3)
            run.seek(0)
            run.step(1)
            list(run.history.items()), run.path, run.events, run.x, run.state, dict(run.hyper)
        except CompileError as error:
            return f"C++: {str(error)[:300]}"
        except BurlabError:
            return None
    return None


TRIES = {"graphs": try_graph, "runs": try_run}


def main(kind: str, seed: int, count: int) -> int:
    """Try mutations, each by a seed of its own; how many went wrong."""
    wrong = 0
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        bl.load_run(FOLDER / "function.burlab")  # the compiler and its tables are there before anything is timed
        for k in range(seed, seed + count):
            if said := TRIES[kind](random.Random(k)):
                wrong += 1
                sys.stdout.write(f"{kind} {k}: {said}\n")
                sys.stdout.flush()
        os.chdir("/")
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])), 99))
