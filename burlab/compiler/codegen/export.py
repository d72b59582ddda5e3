"""A plan as C++ that needs no burlab: one header with everything in it, and a program that runs it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from burlab._version import __version__
from burlab.compiler.ir.descriptor_table import Descriptor
from burlab.compiler.ir.library import BY_SCIPY, LibraryKernel
from burlab.compiler.ir.link import link
from burlab.compiler.ir.plan import KernelPlan, Runnable
from burlab.compiler.ir.spelling import C_TYPES, literal
from burlab.errors import CompileError
from burlab.runtime.coerce import Array, ArraySpec
from burlab.runtime.gate import NativeFunction
from burlab.runtime.interpreter import header_folder

from .emit import emit

_INCLUDE = re.compile(r'\s*#\s*include\s+"(.+)"')
_CLANG_ONLY = re.compile(r"^(\s*#pragma (?:clang|float_control).*)$", re.MULTILINE)
_ROW = re.compile(r"^( *)(alignas\(64\) [\w:]+ \w+\[)", re.MULTILINE)  # the values of a row
_FIRST_ADDRESS = 1 << 61  # no integer of a descriptor is that large


# Names that the function of a kernel cannot have.
_KEYWORDS = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int "
    "long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
    "xor_eq"
)
# What the exported program, its headers and the C library behind <cmath> and <cstdio> already mean by a name.
_LIBRARY = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp2 exp10 expm1 fabs fdim "
    "finite floor fma fmax fmin fmod fpclassify frexp gamma hypot ilogb isfinite isinf isnan isnormal j0 j1 jn ldexp "
    "lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 "
    "remainder remquo rint round scalb scalbln scalbn significand signbit signgam sin sincos sinh sqrt tan tanh tgamma "
    "trunc y0 y1 yn NAN INFINITY EOF NULL FILE abs div labs printf puts putc putchar getc gets getline remove rename "
    "stdin stdout stderr perror linux unix"
)
_RESERVED = "burlab main near std workspace"
_TAKEN = frozenset(f"{_KEYWORDS} {_LIBRARY} {_RESERVED}".split())


def identifier(name: str) -> str:
    """The name itself if C++ accepts it as a namespace, else `kernel`.

    >>> identifier("loss"), identifier("<lambda>"), identifier("double")
    ('loss', 'kernel', 'kernel')
    """
    return name if re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) and name not in _TAKEN else "kernel"


def header(plan: KernelPlan, inputs: Sequence[ArraySpec], outputs: Sequence[ArraySpec], name: str) -> str:
    """A header with one function, `name`, of pointers to the inputs, the outputs and 64-byte aligned workspace.

    plan: with all numbers in the text (`PlanOptions.written_out`).
    """
    parts = _Parts(name)
    unit = parts.add(plan)
    if by_scipy := [call.symbol for call in parts.calls if call.header in BY_SCIPY]:
        raise CompileError(
            f"{name} calls SciPy ({by_scipy[0].removeprefix('burlab_')}), which a program without Python lacks. "
            "Export a function without np.linalg.eig, and without functions of scipy.special that SciPy computes."
        )
    kernels = _amalgamated(dict.fromkeys(call.header for call in parts.calls))
    library = "".join(call.text for call in parts.calls)
    return _HEADER.format(
        name=name,
        version=__version__,
        kernels=kernels,
        library=library,
        units="\n".join(parts.texts),
        bytes=plan.workspace_bytes,
        what="\n".join(_described(inputs, "in") + _described(outputs, "out")),
        parameters=", ".join(_parameters(inputs, outputs)),
        inputs=", ".join(f"in{k}" for k in range(len(inputs))) or "nullptr",
        outputs=", ".join(f"out{k}" for k in range(len(outputs))) or "nullptr",
        unit=unit,
    )


def main(name: str, arrays: Sequence[Array], results: Sequence[Array]) -> str:
    """A program that runs the function of a header on arrays, compares with results, and ends with 0 if they agree."""
    data = [_array(f"in{k}", x) for k, x in enumerate(arrays)] + [_array(f"want{k}", y) for k, y in enumerate(results)]
    room = [f"alignas(64) {C_TYPES[y.dtype]} out{k}[{max(y.size, 1)}];" for k, y in enumerate(results)]
    names = [f"in{k}" for k in range(len(arrays))] + [f"out{k}" for k in range(len(results))]
    checks = [f"  agree &= near(out{k}, want{k}, {y.size}, {_tolerance(y)});" for k, y in enumerate(results)]
    return _MAIN.format(name=name, data="\n".join(data + room), arguments=", ".join(names), checks="\n".join(checks))


@dataclass(slots=True)
class _Parts:
    """The functions of a plan and of its sub-graphs, which come first."""

    name: str
    texts: list[str] = field(default_factory=list[str])
    calls: dict[LibraryKernel, None] = field(default_factory=dict[LibraryKernel, None])
    addresses: dict[int, str] = field(default_factory=dict[int, str])  # stand-in for an address -> the expression

    def add(self, plan: KernelPlan) -> str:
        """Write the functions; the name of the outermost."""

        def part(inner: KernelPlan) -> Runnable:
            unit = self.add(inner)
            run, context = self._address(f"&{unit}::{unit}_run"), self._address(f"{unit}_context")
            return Runnable(NativeFunction(run, lambda _: context, inner.workspace_bytes, None), "")

        plan = link(plan, part)
        unit = f"{self.name}_{len(self.texts)}"
        source = emit(plan)
        self.calls.update(dict.fromkeys(source.calls))
        constants = [c.params for c in plan.constants]
        self.texts.append(
            "\n".join(
                [
                    *(self._descriptor(f"{unit}_d{k}", d) for k, d in enumerate(source.descriptors)),
                    *(_array(f"{unit}_c{k}", c) for k, c in enumerate(constants)),
                    _table(f"{unit}_shapes", "std::int64_t", [f"{unit}_d{k}" for k in range(len(source.descriptors))]),
                    _table(f"{unit}_constants", "void", [f"{unit}_c{k}" for k in range(len(constants))]),
                    _table(f"{unit}_context", "void", [f"{unit}_shapes", f"{unit}_constants"]),
                    f"namespace {unit} {{",  # loops are numbered in each part
                    _portable(source.text.replace("@unit", unit)),
                    "}",
                ]
            )
        )
        return unit

    def _address(self, expression: str) -> int:
        stand_in = _FIRST_ADDRESS + len(self.addresses)
        self.addresses[stand_in] = f"(std::int64_t)({expression})"
        return stand_in

    def _descriptor(self, name: str, descriptor: Descriptor) -> str:
        numbers = ", ".join(self.addresses.get(i, str(i)) for i in descriptor.integers)
        return f"static const std::int64_t {name}[] = {{{numbers or '0'}}};"


def _portable(text: str) -> str:
    """Generated code without Clang's extensions, and without warnings about unused names."""
    text = text.replace(", min_vector_width(512)", "")
    text = _ROW.sub(r"\1[[maybe_unused]] \2", text)
    text = _CLANG_ONLY.sub(r"#if defined(__clang__)\n\1\n#endif", text)
    used = "  char* const w = (char*)workspace;\n"
    return text.replace(used, f"{used}  (void)shapes, (void)constants, (void)w, (void)in, (void)out;\n")


def _amalgamated(headers: Iterable[str]) -> str:
    """The text of headers such as "burlab/kernels/matrix/gemm.hpp", with all that they include, each once."""
    root = Path(header_folder())
    lines: list[str] = []
    seen: set[Path] = set()
    for header in headers:
        _include(root / header, root, seen, lines)
    return "\n".join(lines)


def _include(path: Path, root: Path, seen: set[Path], lines: list[str]) -> None:
    path = path.resolve()
    if path in seen:
        return
    seen.add(path)
    lines.append(f"// ---- {path.relative_to(root.resolve()) if path.is_relative_to(root.resolve()) else path.name}")
    for line in path.read_text(encoding="utf-8").splitlines():
        included = _INCLUDE.match(line)
        if included:
            sibling = path.parent / included[1]
            _include(sibling if sibling.exists() else root / included[1], root, seen, lines)
        elif line.strip() != "#pragma once":
            lines.append(line)


def _array(name: str, x: Array) -> str:
    kind = C_TYPES[x.dtype]
    numbers = [_number(v, x.dtype) for v in x.reshape(-1)]
    rows = (", ".join(numbers[k : k + 8]) for k in range(0, len(numbers), 8))
    body = ",\n  ".join(rows) or "0"
    return f"alignas(64) static const {kind} {name}[] = {{\n  {body}}};"


def _number(value: Any, dtype: "np.dtype[Any]") -> str:
    """A number that is read back to the bit; floats in hexadecimal."""
    if dtype.kind == "f" and np.isfinite(value) and value != 0:
        return float(value).hex() + ("f" if dtype.itemsize == 4 else "")
    return literal(value, dtype)


def _table(name: str, kind: str, entries: Sequence[str]) -> str:
    return f"static const {kind}* const {name}[] = {{{', '.join(entries) or 'nullptr'}}};"


def _described(specs: Sequence[ArraySpec], what: str) -> list[str]:
    return [f"///   {what}{k}: {spec}" for k, spec in enumerate(specs)]


def _parameters(inputs: Sequence[ArraySpec], outputs: Sequence[ArraySpec]) -> list[str]:
    reads = [f"const {C_TYPES[spec.dtype]}* in{k}" for k, spec in enumerate(inputs)]
    return [*reads, *(f"{C_TYPES[spec.dtype]}* out{k}" for k, spec in enumerate(outputs)), "void* workspace"]


def _tolerance(y: Array) -> str:
    return "0" if y.dtype.kind != "f" else "1e-9" if y.dtype.itemsize == 8 else "1e-4"


_HEADER = """\
#pragma once
// Written by burlab {version}; include it in one file of a program. It needs C++20 and nothing else:
//   g++ -std=c++20 -O2 main.cpp
// -march chooses the CPU for which it is fast.
#include <cmath>
#include <cstdint>
{kernels}
{library}
{units}
namespace {name} {{

inline constexpr std::int64_t workspace_bytes = {bytes};

/// Arrays in C order; the workspace has `workspace_bytes` bytes, aligned to 64. 0, or a status (`burlab::Status`).
{what}
inline std::int64_t run({parameters}) {{
  const void* const in[] = {{{inputs}}};
  void* const out[] = {{{outputs}}};
  return {unit}::{unit}_run({unit}_context, in, out, workspace);
}}

}}  // namespace {name}
"""

_MAIN = """\
// Runs {name}.hpp and compares with what burlab computed.
#include "{name}.hpp"

#include <cmath>
#include <cstdio>

{data}
alignas(64) static char workspace[{name}::workspace_bytes + 64];

/// Whether numbers agree, relative to the largest of the array; the same inf and nan do.
template <class T> bool near(const T* got, const T* want, long count, double tolerance) {{
  double scale = 0, worst = 0;
  for (long i = 0; i < count; ++i)
    if (std::isfinite((double)want[i])) scale = std::fmax(scale, std::fabs((double)want[i]));
  for (long i = 0; i < count; ++i) {{
    const double a = (double)got[i], b = (double)want[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double off = std::fabs(a - b);
    worst = off <= worst ? worst : off;  // a nan is the worst
    if (!(off <= worst)) return false;
  }}
  std::printf("%ld numbers differ by at most %g of %g\\n", count, worst, scale);
  return worst <= tolerance * scale;
}}

int main() {{
  const std::int64_t status = {name}::run({arguments}, workspace);
  if (status != 0) return 2;
  bool agree = true;
{checks}
  std::puts(agree ? "agrees" : "DIFFERS");
  return agree ? 0 : 1;
}}
"""
