"""Write `catalogue.md` from docstrings of optimizers, schedules, problems, data and runs: run it after a change.

The number of test functions in the README is written, too.
"""

import inspect
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import burlab as bl
from burlab.optim import schedule_tables, schedules

NUMBERS = ("interval", "taylor", "precision", "round_to", "Format", "Formats")
CHECKS = ("check_gears", "check_grads", "digits")
LOOPS = ("scan", "associative_scan", "fori_loop", "while_loop")
LOSSES = ("cross_entropy", "kl_divergence", "distillation", "mse", "huber", "hinge", "logistic")
CHANGES = ("lora", "paca", "merge", "with_rule")
SCORES = ("el2n", "grand", "data_scores", "herding", "grad_sign")
PARTS = ("relevance", "prune", "slice_rms")
RUNS = ("minimize", "curve_fit", "sweep", "race", "load_run")
PAGE = Path(__file__).with_name("catalogue.md")
README = Path(__file__).parents[1] / "README.md"
HEAD = """# Catalogue

What can be chosen, and where it comes from. Written by `make pages` from the docstrings, which say more:
`help(bl.optim.Adam)`.
"""


def page() -> str:
    """The whole page."""
    named = {name: getattr(bl.optim, name) for name in sorted(bl.optim.__all__, key=str.lower)}
    kinds = {name: kind for name, kind in named.items() if inspect.isclass(kind) and not inspect.isabstract(kind)}
    rules = {name: kind for name, kind in kinds.items() if issubclass(kind, bl.optim.Optimizer)}
    scipy = {name: kinds.pop(name) for name in ("SciPy",)}
    parts = {name: kind for name, kind in kinds.items() if name not in rules}
    wrappers = {name: kind for name, kind in rules.items() if issubclass(kind, bl.optim.Wrapper)}
    return "\n".join(
        [
            HEAD,
            section("Optimizers", "bl.optim", {n: k for n, k in rules.items() if n not in wrappers} | scipy),
            section("Wrappers, around any optimizer", "bl.optim", wrappers),
            section("Schedules, the value of any live field", "bl.optim", scheduled(parts)),
            section("Sets and penalties", "bl.optim", {n: k for n, k in parts.items() if n not in scheduled(parts)}),
            section("Compressors", "bl.compressors", concrete(bl.compressors)),
            section("Aggregators and attacks", "bl.robust", concrete(bl.robust)),
            functions(),
            section(
                "Finite sums",
                "bl.problems",
                made(bl.problems, bl.problems.Regression)
                | {name: getattr(bl.problems, name) for name in ("federated", "Alternating", "dataset_distillation")},
            ),
            section("Sums of squared residuals", "bl", {"Residuals": bl.Residuals}),
            section("Losses of whole batches", "bl", {"BatchLoss": bl.BatchLoss}),
            section(
                "Curves and test problems",
                "bl.problems",
                made(bl.problems, bl.Residuals)
                | {"synthetic_scene": bl.problems.synthetic_scene, "mgh": bl.problems.mgh},
            ),
            residuals(),
            section("Data", "bl.data", made(bl.data)),
            section("Layers", "bl.nn", layers()),
            section("Normalization of batches", "bl.nn", {"batch_norm": bl.nn.batch_norm}),
            section("Numbers of operations", "bl", {"counts": bl.counts}),
            section("Other numbers", "bl", {name: getattr(bl, name) for name in NUMBERS}),
            section("Checks", "bl", {name: getattr(bl, name) for name in CHECKS}),
            section("Trees of arrays", "bl.tree", made(bl.tree)),
            section("Loops", "bl", {name: getattr(bl, name) for name in LOOPS}),
            section("Losses of one sample", "bl.nn", {name: getattr(bl.nn, name) for name in LOSSES}),
            section("Models with other layers or rules", "bl.nn", {name: getattr(bl.nn, name) for name in CHANGES}),
            section("Scores of samples", "bl.analysis", {name: getattr(bl.analysis, name) for name in SCORES}),
            section("Parts of networks", "bl.analysis", {name: getattr(bl.analysis, name) for name in PARTS}),
            section("Runs", "bl", {name: getattr(bl, name) for name in RUNS}),
        ]
    )


def section(title: str, home: str, kinds: dict[str, Any]) -> str:
    """A table with a row per class or function: its name, what it takes, and the first line of its docstring."""
    rows = (f"| `{name}` | {', '.join(names(kind))} | {summary(kind)} |" for name, kind in kinds.items())
    return table(f"{title}: `{home}`", "| name | fields | what it is, and which version |", rows)


def concrete(home: Any) -> dict[str, Any]:
    """The classes of a module that can be made."""
    kinds = {name: getattr(home, name) for name in home.__all__}
    return {name: kind for name, kind in kinds.items() if not inspect.isabstract(kind)}


def layers() -> dict[str, Any]:
    """The layers of networks."""
    kinds = {name: getattr(bl.nn, name) for name in bl.nn.__all__}
    return {name: kind for name, kind in kinds.items() if inspect.isclass(kind) and issubclass(kind, bl.nn.Layer)}


def functions() -> str:
    """The table of test functions, with what they say about themselves."""
    rows: list[str] = []
    for name, make in made(bl.problems, bl.problems.TestFunction).items():
        f = make()
        free = "any" if "dim" in inspect.signature(make).parameters else str(f.dim)
        rows.append(f"| `{name}` | {free} | {f.minimum:.6g} | {len(f.minima)} | {f.source} |")
    found = table("Test functions: `bl.problems`", "| name | dimension | minimum | minimizers | source |", rows)
    return f"{found}\n`bl.problems.suite()` returns all of them.\n"


def residuals() -> str:
    """The table of the problems of Moré, Garbow and Hillstrom."""
    rows: list[str] = []
    for number, name in enumerate(bl.problems.MGH, 1):
        f = bl.problems.mgh(name)
        size = f.residuals(f.start).size
        rows.append(f"| {number} | `{name}` | {f.start.size} | {size} | {f.minimum:.6g} |")
    return table("Problems of `bl.problems.mgh`", "| number | name | unknowns | residuals | minimum of f |", rows)


def table(title: str, head: str, rows: Iterable[str]) -> str:
    """A heading and a table in Markdown."""
    return "\n".join([f"## {title}", "", head, "|---" * (head.count("|") - 1) + "|", *rows, ""])


def made(module: Any, kind: Any = None) -> dict[str, Any]:
    """The public functions of a module, those that return a `kind` where one is given."""
    found = {name: getattr(module, name) for name in module.__all__}
    return {
        name: f
        for name, f in found.items()
        if inspect.isfunction(f) and kind in (None, inspect.signature(f).return_annotation)
    }


def scheduled(kinds: dict[str, Any]) -> dict[str, Any]:
    """Those that are schedules."""
    return {name: kind for name, kind in kinds.items() if inspect.getmodule(kind) in (schedules, schedule_tables)}


def names(kind: Any) -> list[str]:
    """What a dataclass or a function takes."""
    return [f.name for f in fields(kind)] if is_dataclass(kind) else list(inspect.signature(kind).parameters)


def summary(kind: Any) -> str:
    """The first paragraph of a docstring, fit for a table."""
    text = (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
    return text.replace("|", "\\|").replace("<-", "←")


def counted(readme: str) -> str:
    """The README with the number of test functions that there are.

    >>> counted("99 test functions, each").startswith("99")
    False
    """
    return re.sub(r"\d+ test functions", f"{len(made(bl.problems, bl.problems.TestFunction))} test functions", readme)


if __name__ == "__main__":
    PAGE.write_text(page())
    README.write_text(counted(README.read_text()))
