"""Machine and versions of a measurement, without which a number means nothing."""

import importlib.metadata
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import burlab
from burlab.runtime import instruction_set, interpreter

_PACKAGES = ("numpy", "cppyy", "torch", "jax", "jaxlib", "autograd", "micrograd", "optax")


def describe(quick: bool) -> dict[str, str]:
    """Machine, commit, flags, versions and method, as words.

    >>> describe(quick=True)["burlab"].startswith(burlab.__version__)
    True
    """
    interpreter()  # which chooses its flags as it starts
    isa = instruction_set()
    method = (
        "minimum over measurements of repeats by powers of two; one thread on one core, or as a table says; in turns"
    )
    return {
        "time": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{_cpu()}, {os.cpu_count()} cores, {_memory()}",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "load": ", ".join(f"{x:.1f}" for x in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown",
        "burlab": f"{burlab.__version__}, {_commit()}",
        "flags": f"Cling {os.environ.get('EXTRA_CLING_ARGS', '').strip()}; {isa.name} {isa.target}",
        "versions": ", ".join(f"{name} {version}" for name in _PACKAGES if (version := _version(name))),
        "method": method + ("; short measurements: a first look, no result" if quick else ""),
    }


def _cpu() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _memory() -> str:
    names = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" not in names:
        return "memory unknown"
    return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.1f} GiB"


def _commit() -> str:
    """The commit of a checkout, and whether files differ from it."""
    root = Path(burlab.__file__).parents[1]
    if not (root / ".git").exists():
        return "an installed package"
    try:
        name = _git(root, "rev-parse", "--short=12", "HEAD")
        return f"commit {name}{', with changes' if _git(root, 'status', '--porcelain', 'burlab', 'cpp') else ''}"
    except (OSError, subprocess.SubprocessError):
        return "commit unknown"


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
