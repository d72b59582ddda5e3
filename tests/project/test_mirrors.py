"""Every `ctypes.Structure` and every record dtype of the package is laid out like the C++ struct that it mirrors.

They are found in the package's text, so one that is missing from the list below fails, and so does one that is gone.
"""

import ast
import ctypes
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from burlab.errors import CompileError
from burlab.graph.query import CLIENT_QUERIES, QUERIES
from burlab.problems.kernels import abi
from burlab.problems.sampling import Sampling
from burlab.run.record import breakpoints, stop, tables, traces
from burlab.runtime import declare
from burlab.runtime.status import Status, joined


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
_GOLDEN = str(Path(__file__).parents[2] / "burlab/bench/golden/mlp.hpp")


def _of(header: str, space: str, **names: str) -> dict[str, Struct]:
    return {mirror: Struct(f"burlab::{space}{name}", f"burlab/{header}") for mirror, name in names.items()}


# By module: the Python name, and the C++ struct.
MIRRORS: dict[str, dict[str, Struct]] = {
    "burlab.bench.variants.golden_mlp": {"_Mlp": Struct("burlab::bench::Mlp<double>", _GOLDEN)},
    "burlab.compiler.inspection.timed": _of("kernels/clock.hpp", "kernels::", _Timed="Timed"),
    "burlab.compiler.ir.poison": _of("kernels/poison.hpp", "kernels::", _Poisoned="Poisoned"),
    "burlab.compiler.map": _of("kernels/rows.hpp", "kernels::", _MappedRows="MappedRows"),
    "burlab.compiler.replay.bytecode": _of(
        "kernels/replay/segment.hpp", "kernels::", _Segment="Segment", _GROUP="Group"
    ),
    "burlab.compiler.replay.program": _of(
        "kernels/replay/program.hpp", "kernels::", _Program="Program", _RECORD="Record", _OPERAND="Operand"
    ),
    "burlab.compiler.replay.threaded": _of(
        "kernels/replay/threaded.hpp", "kernels::", _INSTRUCTION="Instruction", _CALL="Call"
    ),
    "burlab.graph.scalar": {
        **_of("ops/table.hpp", "ops::", _CEntry="Entry", _CForms="Forms"),
        **_of("numbers/form.hpp", "", _CForm="Form"),
    },
    "burlab.problems.kernels.abi": {
        **_of("run/abi/outcome.hpp", "run::", Outcome="Outcome"),
        **_of(
            "run/abi/summand.hpp",
            "run::",
            CKernel="Kernel",
            Span="Span",
            Block="Block",
            Summand="Summand",
            CLoss="Loss",
        ),
        **_of("run/abi/sum.hpp", "run::", MeanKernel="MeanKernel", SumCall="SumCall"),
    },
    "burlab.problems.kernels.clients": {
        **_of("kernels/ask.hpp", "kernels::", CQuestion="Question"),
        **_of("run/step/clients.hpp", "run::", CClients="Clients"),
    },
    "burlab.problems.kernels.queries": _of("run/step/query.hpp", "run::", CQuery="Query", CQueries="Queries"),
    "burlab.problems.sampling": _of("run/sum/sampler.hpp", "run::", Stream="Stream"),
    "burlab.run.loop.abi": {
        **_of(
            "run/abi/plan.hpp",
            "run::",
            CValidation="Validation",
            Piece="Piece",
            Fused="Fused",
            Plan="Plan",
            CRowBuffer="RowBuffer",
        ),
        **_of("run/abi/loop.hpp", "run::", CView="View", FeedView="FeedView", Event="Event"),
    },
    "burlab.run.lanes.abi": _of("run/lanes/lanes.hpp", "run::", CLanes="Lanes"),
    "burlab.run.loop.snapshot": _of(
        "run/abi/saved.hpp", "run::", Standing="Standing", SavedTable="SavedTable", CSaved="Saved"
    ),
    "burlab.run.record.breakpoints": _of("run/abi/criteria.hpp", "run::", CBreakpoint="Breakpoint"),
    "burlab.run.record.stop": _of("run/abi/criteria.hpp", "run::", Criteria="Criteria"),
    "burlab.run.record.tables": _of("run/record/trail.hpp", "run::", Extent="Extent"),
    "burlab.runtime.gate": {
        **_of("python/gate.hpp", "python::", _ArgumentSpec="ArgumentSpec", _Gate="Gate", _Guard="Guard"),
        "_MethodDef": Struct("PyMethodDef", "burlab/python/object.hpp"),
    },
    "burlab.runtime.cache.machine_code": {
        "_Entry": Struct("jit_code_entry", "", _JIT),
        "_Descriptor": Struct("jit_descriptor", "", _JIT),
    },
}
LISTED = [(module, name) for module, mirrors in MIRRORS.items() for name in mirrors]


def written(folder: Path) -> set[tuple[str, str]]:
    """Modules and names of the mirrors in the texts of a package; of a dtype without a name of its own, the line."""
    texts = {path: ast.parse(path.read_text()) for path in sorted(folder.rglob("*.py"))}
    found: set[tuple[str, str]] = set()
    before = -1
    while len(found) > before:  # and once more, for the children of those that were found
        before = len(found)
        for path, text in texts.items():
            module = ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
            found |= {(module, name) for name in (*_structures(text, module, found), *_dtypes(text))}
    return found


def _structures(text: ast.Module, module: str, found: set[tuple[str, str]]) -> Iterator[str]:
    """Classes whose base is one of ctypes, or one of these that is written here or imported by name."""
    kinds = {"Structure", "Union", "LittleEndianStructure", "BigEndianStructure"}
    kinds |= {name for where, name in found if where == module}
    for node in ast.walk(text):
        if isinstance(node, ast.ImportFrom):
            last = (node.module or "").rpartition(".")[2]
            known = {name for where, name in found if where.rpartition(".")[2] == last}
            kinds |= {n.asname or n.name for n in node.names if n.name in known}
    for node in ast.walk(text):
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        if isinstance(node, ast.ClassDef) and kinds & {getattr(b, "attr", getattr(b, "id", "")) for b in bases}:
            yield node.name


def _dtypes(text: ast.Module) -> Iterator[str]:
    """Lists of fields, such as [("step", "i8")]."""
    for statement in text.body:
        named = statement.targets[0] if isinstance(statement, ast.Assign) else None
        for node in ast.walk(statement):
            if isinstance(node, ast.List) and any(_is_field(x) for x in node.elts):
                yield named.id if isinstance(named, ast.Name) else f"line {node.lineno}"


def _is_field(node: ast.expr) -> bool:
    words = [x.value for x in node.elts if isinstance(x, ast.Constant)] if isinstance(node, ast.Tuple) else []
    return len(words) == 2 and isinstance(words[1], str) and re.fullmatch(r"[<>=|]?[a-zA-Z]\d+", words[1]) is not None


def claims(struct: str, mirror: Any) -> str:
    """Assertions that only compile if a C++ struct is laid out like its mirror, and ends with its last field."""
    if isinstance(mirror, np.dtype):
        size, places = mirror.itemsize, mirror.fields or {}
        fields = {name: (offset, kind.itemsize, kind.kind == "f") for name, (kind, offset, *_) in places.items()}
    else:
        size, fields = ctypes.sizeof(mirror), {}
        for name, kind, *_ in mirror._fields_:
            place = getattr(mirror, name)
            fields[name] = place.offset, place.size, kind in (ctypes.c_double, ctypes.c_float)
    lines = [f"static_assert(sizeof({struct}) == {size});"]
    for field, (offset, nbytes, real) in fields.items():
        name = field.rstrip("_")  # `in` is a word of Python
        lines.append(f"static_assert(__builtin_offsetof({struct}, {name}) == {offset});")
        lines.append(f"static_assert(sizeof({struct}::{name}) == {nbytes});")
        lines.append(f"static_assert(__is_floating_point(decltype({struct}::{name})) == {str(real).lower()});")
    return "\n".join(lines)


def check(struct: Struct, mirror: Any) -> None:
    declare(f"{struct.text}\n{claims(struct.name, mirror)}", [struct.header] if struct.header else [])


def test_every_mirror_is_listed(root: Path) -> None:
    assert written(root / "burlab") == set(LISTED)


@pytest.mark.parametrize(("module", "name"), LISTED)
def test_a_mirror_is_laid_out_like_its_struct(module: str, name: str) -> None:
    check(MIRRORS[module][name], getattr(import_module(module), name))


@pytest.mark.parametrize("change", ["swapped", "narrower", "real", "short"])
def test_a_layout_that_differs_is_caught(change: str) -> None:
    struct = MIRRORS["burlab.run.loop.snapshot"]["Standing"]
    fields: list[Any] = list(import_module("burlab.run.loop.snapshot").Standing._fields_)
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
        check(struct, type("Changed", (ctypes.Structure,), {"_fields_": fields}))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import ctypes\nclass New(ctypes.Structure): pass\n", "New"),
        ("from ctypes import Structure as Structure\ndef f():\n    class Inner(Structure): pass\n", "Inner"),
        ("from .parent import Parent\nclass Child(Parent): pass\n", "Child"),
        ('import numpy as np\nROW = np.dtype([("a", "i8")])\n', "ROW"),
        ('import numpy as np\ndef f():\n    return np.empty(1, [("a", "<f4"), ("b", "u1")])\n', "line 3"),
    ],
)
def test_a_mirror_that_is_not_listed_is_found(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some/parent.py").write_text("import ctypes\nclass Parent(ctypes.Structure): pass\n")
    (tmp_path / "some/module.py").write_text(text)
    assert written(tmp_path / "some") == {("some.parent", "Parent"), ("some.module", name)}


NUMBERS = {
    "burlab/abi.hpp": [
        *((f"burlab::{''.join(word.title() for word in s.name.split('_'))}", s) for s in Status),
        ("burlab::renumbered(burlab::IndexOutOfRange, 7)", joined(Status.INDEX_OUT_OF_RANGE, 7)),
    ],
    "burlab/run/abi/outcome.hpp": [
        *((f"burlab::run::Part::{part.name.lower()}", part) for part in abi.Part),
        ("burlab::run::kValidation", abi.VALIDATION),
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
    + [("burlab::run::kTraceColumns", len(traces.SAMPLED)), ("burlab::run::kTraces", traces.MOST)],
    "burlab/run/abi/plan.hpp": [
        (f"burlab::run::{name}", k)
        for k, name in enumerate(("value_column", "gradient_norm", "step_norm", "first_extra"))
    ],
    "burlab/run/memory/ledger.hpp": [
        *((f"burlab::run::Kind::{kind}", k) for k, kind in enumerate(tables.KINDS)),
        ("burlab::run::kKinds", len(tables.KINDS)),
    ],
    "burlab/run/step/asked.hpp": [
        ("burlab::run::kQueries", len((*QUERIES, *CLIENT_QUERIES))),
        *((f"burlab::run::asked_{name}", k) for k, name in enumerate((*QUERIES, *CLIENT_QUERIES))),
    ],
    "burlab/run/sum/sampler.hpp": [(f"burlab::run::Sampling::{s.name}", s) for s in Sampling],
}


@pytest.mark.parametrize("header", NUMBERS)
def test_numbers_are_those_of_the_header(header: str) -> None:
    declare("\n".join(f"static_assert(int({name}) == {int(k)});" for name, k in NUMBERS[header]), [header])
