"""Every `ctypes.Structure` of the package is laid out like the C++ struct that it mirrors, and written from its header.

Those that are written by hand are found in the package's text: they may only mirror structs of others.
"""

import ctypes
import re
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from burlab.errors import CompileError
from burlab.graph.query import CLIENT_QUERIES, QUERIES
from burlab.problems.kernels import sum_abi
from burlab.problems.sampling import Sampling
from burlab.run.record import breakpoints, stop, tables, traces
from burlab.runtime import declare
from burlab.runtime.status import Status, joined
from burlab.runtime.structs import CStanding
from tests.project.programs import program

ROOT = Path(__file__).parents[2]
structs = program("structs", ROOT / "cpp/generate")


class Struct(NamedTuple):
    """A struct of C++: its name, and the header that has it, or its text where it is nobody's header."""

    name: str
    header: str
    text: str = ""


# GDB's manual, "JIT Compilation Interface": what Cling links its object files into.
_JIT = """
struct jit_code_entry {
  jit_code_entry *next_entry, *prev_entry;
  const char* symfile_addr;
  std::uint64_t symfile_size;
};
struct jit_descriptor { std::uint32_t version, action_flag; jit_code_entry *relevant_entry, *first_entry; };
"""
SHARED = {
    (f"burlab.runtime.{structs.target(struct).stem}", struct.mirror): Struct(struct.name, struct.header)
    for struct in structs.shared()
}
# Structs that are in no header of `cpp/burlab`: mirrored by hand.
FOREIGN = {
    ("burlab.bench.variants.golden_mlp", "_Mlp"): Struct(
        "burlab::bench::Mlp<double>", str(ROOT / "burlab/bench/golden/mlp.hpp")
    ),
    ("burlab.runtime.gate", "_MethodDef"): Struct("PyMethodDef", "burlab/python/object.hpp"),
    ("burlab.runtime.object_reports", "_Entry"): Struct("jit_code_entry", "", _JIT),
    ("burlab.runtime.object_reports", "_Descriptor"): Struct("jit_descriptor", "", _JIT),
}
MIRRORS = SHARED | FOREIGN


def claims(struct: str, mirror: Any) -> str:
    """Assertions that only compile if a C++ struct is laid out like its mirror, and ends with its last field."""
    lines = [f"static_assert(sizeof({struct}) == {ctypes.sizeof(mirror)});"]
    for field, kind, *_ in mirror._fields_:
        name, place = field.rstrip("_"), getattr(mirror, field)  # `in` is a word of Python
        real = kind in (ctypes.c_double, ctypes.c_float)
        lines.append(f"static_assert(__builtin_offsetof({struct}, {name}) == {place.offset});")
        lines.append(f"static_assert(sizeof({struct}::{name}) == {place.size});")
        lines.append(f"static_assert(__is_floating_point(decltype({struct}::{name})) == {str(real).lower()});")
    return "\n".join(lines)


def check(struct: Struct, mirror: Any) -> None:
    declare(f"{struct.text}\n{claims(struct.name, mirror)}", [struct.header] if struct.header else [])


def written(folder: Path) -> set[tuple[str, str]]:
    """Modules and names of the classes with fields of ctypes, and of the lines that list fields of a NumPy dtype."""
    found: set[tuple[str, str]] = set()
    for path in sorted(folder.rglob("*.py")):
        module = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        name = ""
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := re.match(r" *class (\w+)|(\w+)\._fields_ =", line):
                name = match[1] or match[2]
            if re.search(r"\b_fields_ = ", line):
                found.add((module, name))
            if re.search(r"""\(["']\w+["'], ["'][<>=|]?[a-zA-Z]\d+["']\)""", line):
                found.add((module, f"line {number}"))
    return found


def test_structs_are_written_from_the_headers() -> None:
    for path, text in structs.modules().items():
        assert path.read_text() == text, "run: make pages"


def test_no_mirror_is_written_by_hand_but_of_foreign_structs(root: Path) -> None:
    assert written(root / "burlab") == set(MIRRORS)


@pytest.mark.parametrize(("module", "name"), MIRRORS)
def test_a_mirror_is_laid_out_like_its_struct(module: str, name: str) -> None:
    check(MIRRORS[module, name], getattr(import_module(module), name))


@pytest.mark.parametrize("change", ["swapped", "narrower", "real", "short"])
def test_a_layout_that_differs_is_caught(change: str) -> None:
    fields: list[Any] = list(CStanding._fields_)
    match change:
        case "swapped":
            fields[:2] = fields[1::-1]
        case "narrower":
            fields[1] = fields[1][0], ctypes.c_int32  # what follows is where it was
        case "real":
            fields[0] = fields[0][0], ctypes.c_double
        case _:
            fields.pop()
    with pytest.raises(CompileError, match="static assertion failed"):
        check(SHARED["burlab.runtime.structs", "CStanding"], type("Changed", (ctypes.Structure,), {"_fields_": fields}))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import ctypes\nclass New(ctypes.Structure):\n    _fields_ = ()\n", "New"),
        ("class Entry(Parent): pass\nEntry._fields_ = ()\n", "Entry"),
        ('import numpy as np\nROW = np.dtype([("a", "i8")])\n', "line 2"),
        ('def f():\n    return np.empty(1, [("a", "<f4"), ("b", "u1")])\n', "line 2"),
    ],
)
def test_a_mirror_that_is_written_by_hand_is_found(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some/module.py").write_text(text)
    assert written(tmp_path / "some") == {("some.module", name)}


NUMBERS = {
    "burlab/abi.hpp": [
        *((f"burlab::{''.join(word.title() for word in s.name.split('_'))}", s) for s in Status),
        ("burlab::renumbered(burlab::IndexOutOfRange, 7)", joined(Status.INDEX_OUT_OF_RANGE, 7)),
    ],
    "burlab/run/abi/outcome.hpp": [
        *((f"burlab::run::Part::{part.name.lower()}", part) for part in sum_abi.Part),
        ("burlab::run::kValidation", sum_abi.VALIDATION),
    ],
    "burlab/run/abi/criteria.hpp": [
        (f"burlab::run::{name}", stop.REASONS.index(reason))
        for reason, name in {
            "": "no_reason",
            "steps": "enough_steps",
            "seconds": "enough_seconds",
            "grad_norm": "small_gradient",
            "value": "small_value",
            "non_finite": "not_finite",
            "when": "predicate_holds",
            "breakpoint": "breakpoint_hit",
        }.items()
    ]
    + [
        (f"burlab::run::{name}", breakpoints.WATCHED.index(field))
        for field, name in {
            "rises": "watched_rise",
            "grad_norm": "watched_norm",
            "non_finite": "watched_non_finite",
            "every": "watched_every",
        }.items()
    ],
    "burlab/run/record/traces.hpp": [
        (f"burlab::run::trace_{column}", traces.SAMPLED.index(name))
        for column, name in {
            "step": "step",
            "time": "time",
            "laps": "data",
            "cost": "watching",
            "resident": "resident",
            "kinds": tables.KINDS[0],
        }.items()
    ]
    + [
        (f"burlab::run::trace_laps + burlab::run::lap_{lap}", traces.SAMPLED.index(name))
        for lap, name in {"data": "data", "gradient": "function", "update": "update", "other": "other"}.items()
    ]
    + [("burlab::run::kTraceColumns", len(traces.SAMPLED)), ("burlab::run::kTraces", traces.MAX_SAMPLES)],
    "burlab/run/abi/plan.hpp": [
        (f"burlab::run::{name}", k)
        for k, name in enumerate(("value_column", "gradient_norm", "step_norm", "first_extra"))
    ],
    "burlab/run/memory/ledger.hpp": [
        *((f"burlab::run::Kind::{kind}", k) for k, kind in enumerate(tables.KINDS)),
        ("burlab::run::kKinds", len(tables.KINDS)),
    ],
    "burlab/run/step/query_kind.hpp": [
        ("burlab::run::kQueries", len((*QUERIES, *CLIENT_QUERIES))),
        *((f"burlab::run::query_{name}", k) for k, name in enumerate((*QUERIES, *CLIENT_QUERIES))),
    ],
    "burlab/run/sum/sampler.hpp": [(f"burlab::run::Sampling::{s.name}", s) for s in Sampling],
}


@pytest.mark.parametrize("header", NUMBERS)
def test_numbers_are_those_of_the_header(header: str) -> None:
    declare("\n".join(f"static_assert(int({name}) == {int(k)});" for name, k in NUMBERS[header]), [header])
