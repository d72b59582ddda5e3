"""The instruction set that generated code is compiled for: found when the process runs, never when it is built."""

import os
import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from burlab.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class InstructionSet:
    """A name (avx512, avx2, neon or plain), the CPU flags it needs, and the `target` attribute that asks for it.

    macros: the names by which headers ask for it, and `register`, the bytes of its widest one: `numbers/isa.hpp`.
    """

    name: str
    flags: tuple[str, ...]
    target: str
    macros: tuple[str, ...]
    register: int

    @property
    def pragmas(self) -> tuple[str, str]:
        """Lines that open and close a region of C++ compiled for this instruction set."""
        if not self.target:
            return "", ""
        attribute = f'__attribute__((target("{self.target}")))'
        return f"#pragma clang attribute push({attribute}, apply_to=function)\n", "#pragma clang attribute pop\n"

    @property
    def definitions(self) -> str:
        """Lines for the compiler before any header: macros of the instruction set, which a region does not define."""
        return "".join(f"#define {name} 1\n" for name in self.macros)


_AVX512 = ("avx512f", "avx512vl", "avx512bw", "avx512dq", "avx2", "fma")
_KNOWN = (
    InstructionSet("avx512", _AVX512, ",".join(_AVX512), ("BURLAB_AVX512", "BURLAB_AVX2"), 64),
    InstructionSet("avx2", ("avx2", "fma"), "avx2,fma", ("BURLAB_AVX2",), 32),
    InstructionSet("neon", ("asimd",), "", ("BURLAB_NEON",), 16),  # part of every 64-bit ARM: no attribute is needed
    InstructionSet("plain", (), "", ("BURLAB_PLAIN",), 16),
)


def cpu_flags() -> frozenset[str]:
    """The feature flags that the operating system reports for this CPU, by Linux's names."""
    if platform.machine() in ("arm64", "aarch64"):
        return frozenset({"asimd"})
    return frozenset(_described().get("flags", "").split())


def cpu_identity() -> tuple[str, ...]:
    """Return what identifies this CPU to a compiler: maker, family, model and flags."""
    found = _described()
    return tuple(found.get(name, "") for name in ("vendor_id", "cpu family", "model", "flags"))


@cache
def _described() -> dict[str, str]:
    """The first CPU in Linux's /proc/cpuinfo."""
    try:
        first = Path("/proc/cpuinfo").read_text().partition("\n\n")[0]
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in first.splitlines())}


@cache
def instruction_set() -> InstructionSet:
    """The widest instruction set of this CPU, or the one that the environment variable BURLAB_ISA names.

    Raises ConfigurationError where BURLAB_ISA is unknown, or names what this CPU cannot run.

    >>> instruction_set().name in ("avx512", "avx2", "neon", "plain")
    True
    """
    flags = cpu_flags()
    able = [known for known in _KNOWN if flags.issuperset(known.flags)]
    wanted = os.environ.get("BURLAB_ISA")
    if not wanted:
        return able[0]
    for known in able:
        if known.name == wanted:
            return known
    raise ConfigurationError(
        f"BURLAB_ISA asks for {wanted!r}, but this CPU runs {', '.join(known.name for known in able)}. "
        "Set it to one of these, or unset it."
    )
