"""Calls of everything public with what no argument can be, and which of their errors are none of burlab's.

`python -m tests.misuse_calls SHARE SEED` makes such a share of all calls (1 is all of them) and prints what is wrong:
an exception that is no BurlabError, or a call that did not end. What a function of the caller's raises is the caller's,
and so is what Python says of a signature.
"""

import faulthandler
import inspect
import math
import os
import random
import re
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import burlab as bl
from burlab.errors import BurlabError

ROOMS = (
    "random tree scipy.linalg scipy.signal scipy.special scipy.stats linalg nn nn.init compressors robust optim "
    "problems data analysis plots"
).split()
APART = ("bl.BurlabError", "bl.bench", "bl.optim.Hyper", "bl.plots.Series", "bl.plots.Problem")  # nothing to call
SECONDS = 30  # in which each call has to end
MAX_CALLS = 24 << 30  # bytes of addresses: an array of more is an error of NumPy's


class NoWords:
    """Object that cannot be printed."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")


class NoTruth:
    """Object without a truth value."""

    def __bool__(self) -> bool:
        raise TypeError("no truth")


LOOP: list[Any] = []
LOOP.append(LOOP)
WRONG: dict[str, Any] = {
    "None": None, "5": 5, "'x'": "x", "10**5000": 10**5000, "-1": -1, "nan": math.nan, "inf": math.inf, "[]": [],
    "{}": {}, "object()": object(), "a lambda": lambda *_: None, "lists of two lengths": [[1.0], [1.0, 2.0]],
    "a structured array": np.zeros(2, [("a", float)]), "texts": np.array(["a", "b"]), "1j": 1j, "b'x'": b"x", "0": 0,
    "2**63": 2**63, "NoWords()": NoWords(), "NoTruth()": NoTruth(), "a list in itself": LOOP, "no entry": np.empty(0),
    "objects": np.array([None, 1], object), "1.5": 1.5, "nan and inf": np.array([math.nan, math.inf]), "True": True,
    "half a character": "\ud800", "a set": {1.0}, "no date": np.datetime64("NaT"), "a class": NoWords,
}  # fmt: skip

X = np.array([1.0, 2.0])
KEY = bl.random.key(0)
GD = bl.optim.GD(0.1)
BOOTH = bl.problems.booth()
LINEAR = bl.nn.Linear(2, 2, key=KEY)
ROWS = np.ones((4, 2))


def squares(x: Any, *_: Any) -> Any:
    """Of all entries, added up."""
    return np.sum(x**2)


RIGHT: dict[str, Any] = {  # by the name of a parameter; 1.0 for all others
    "f": squares, "x": X, "k": KEY, "key": KEY, "lr": 0.1, "steps": 3, "optimizer": GD, "engine": GD, "inner": GD,
    "problem": BOOTH, "objective": BOOTH, "shape": (2,), "name": "a", "tree": {"a": X}, "like": {"a": X}, "xs": [X, X],
    "ws": [X, X], "path": "file.x", "compressor": bl.compressors.TopK(1), "loss": lambda x, a: np.sum((x - a) ** 2),
    "inputs": 2, "outputs": 2, "units": 2, "width": 2, "window": 2, "heads": 1, "rank": 1, "liars": 1, "seed": 0,
    "model": LINEAR, "base": LINEAR, "data": ROWS, "features": ROWS, "examples": X, "labels": np.array([0, 1, 0, 1]),
    "targets": np.ones(4), "x0": X, "start": X, "index": 0, "primals": (X,), "tangents": (X,), "source": squares,
    "points": np.ones((3, 2)), "vectors": np.ones((3, 2)), "body": lambda *s: s[-1], "condition": lambda _: False,
    "parameters": {"w": X}, "low": 0.0, "high": 1.0, "minval": 0, "maxval": 5, "A": np.eye(2), "in1": X, "in2": X,
    "g": lambda x: x, "choice": True, "true": lambda x: x, "false": lambda x: x, "backward": lambda g, _y, _x: g,
    "length": 3, "branches": [lambda x: x], "operands": X, "format": "bfloat16", "t": np.array([0.0, 1.0]), "size": 2,
    "text": "abc", "widths": [2, 2], "onto": bl.optim.box(0.0, 1.0), "penalty": bl.optim.l1(0.1),
    "optimizers": {"a": GD}, "racers": {"a": GD}, "hypers": {"lr": [0.1]}, "d": 2, "n": 3, "p": 0.5, "vector": X,
    "prediction": X, "target": X, "score": X, "logits": X, "title": "a", "fields": {}, "a": X, "b": X, "y": X,
    "structure": bl.tree.structure({"a": X}), "outer": bl.tree.structure([0]), "leaves": [X],
    "y0": 1.0, "values": X, "xdata": X, "ydata": X, "r": lambda x, *_: x,
}  # fmt: skip


class Call(NamedTuple):
    """One call. what: in words."""

    what: str
    do: Callable[..., Any]
    args: list[Any]
    options: dict[str, Any]


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Everything that burlab offers to call, by name."""
    for room in ["", *ROOMS]:
        module: Any = bl
        for part in filter(None, room.split(".")):
            module = getattr(module, part)
        for name in getattr(module, "__all__", vars(module)):
            thing, path = getattr(module, name), ".".join(filter(None, ("bl", room, name)))
            is_own = hasattr(module, "__all__") or getattr(thing, "__module__", "").startswith(module.__name__)
            if callable(thing) and is_own and not name.startswith("_") and path not in APART:
                yield path, thing


def calls(name: str, thing: Callable[..., Any]) -> Iterator[Call]:
    """Yield the right call, one with too few and one with too many arguments, then each wrong value in each place."""
    try:
        taken = [p for p in inspect.signature(thing).parameters.values() if p.kind != p.VAR_KEYWORD]
    except (TypeError, ValueError):  # of C, and tells nothing
        taken = []
    by_place = [p for p in taken if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    args = [RIGHT.get(p.name, 1.0) for p in by_place]
    options = {p.name: RIGHT.get(p.name, 1.0) for p in taken if p.default is p.empty and p.kind == p.KEYWORD_ONLY}
    yield Call(name, thing, args, options)
    yield from (Call(f"{name} of {k} arguments", thing, args[:k], {}) for k in range(len(args)))
    yield Call(f"{name} of many arguments", thing, [*args, *range(30)], options)
    yield Call(f"{name}(unknown=1)", thing, args, {**options, "unknown": 1})
    for value, wrong in WRONG.items():
        for k, p in enumerate(by_place):
            yield Call(f"{name}({p.name}={value})", thing, [*args[:k], wrong, *args[k + 1 :]], options)
        for p in taken:
            if p.kind == p.VAR_POSITIONAL:
                yield Call(f"{name}(*{p.name}={value})", thing, [*args, wrong], options)
            elif p not in by_place:
                yield Call(f"{name}({p.name}={value})", thing, args, {**options, p.name: wrong})


def fault_of(call: Call) -> str:
    """Return the fault in how a call ended, "" for none."""
    signal.alarm(SECONDS)
    try:
        call.do(*call.args, **call.options)
    except BurlabError:
        pass
    except _TooLong:
        return f"{call.what} does not end."
    except Exception as error:
        return "" if _is_the_callers(error) else f"{call.what}: {type(error).__name__}: {str(error)[:200]}"
    finally:
        signal.alarm(0)
    return ""


def _is_the_callers(error: Exception) -> bool:
    """Return True if Python says so of a signature, or a function of this file raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    if type(error) is TypeError and re.search(r"\(\) .*argument|instantiate abstract class", str(error)):
        return True
    return len(frames) > 1 and frames[-1].filename == __file__ and frames[-1].name != "fault_of"


class _TooLong(BaseException):
    pass


def _too_long(*_: Any) -> None:
    raise _TooLong


def main(share: float, seed: int) -> int:
    """Make a share of all calls, and print what is wrong. Gives how many are."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _too_long)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_CALLS, MAX_CALLS))
    draw = random.Random(seed)
    made, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, thing in public():
            for call in calls(name, thing):
                if share < 1 and draw.random() >= share:
                    continue
                made += 1
                if fault := fault_of(call):
                    wrong += 1
                    print(fault, flush=True)  # noqa: T201
        os.chdir("/")
    print(f"{made} calls, {wrong} wrong, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")  # noqa: T201
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(float(sys.argv[1]), int(sys.argv[2])), 100))
