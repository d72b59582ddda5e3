"""`burlab doctor`: whether this machine can compile and compute, and what to do where it cannot.

The checks run in the order in which they depend on each other and stop at the first that fails: what comes after it
would fail too, and cppyy without its precompiled header ends the process.
"""

import importlib.metadata
import importlib.util
import os
import platform
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import burlab
from burlab import runtime
from burlab.errors import BurlabError
from burlab.runtime.cache.store import cache_file, read_index
from burlab.runtime.files import read_text
from burlab.typing import Array


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check; `remedy` is the advice, empty if all is well."""

    topic: str
    found: str
    remedy: str = ""


def main() -> int:
    """Print every finding; return 0, or 1 where one needs a remedy."""
    failed = False
    for finding in examine():
        failed = bool(finding.remedy)
        print(f"{'FAIL' if failed else 'ok':>4}  {finding.topic:<18} {finding.found}", flush=True)
        if failed:
            print(f"      remedy: {finding.remedy}")
    print("burlab cannot compute here yet." if failed else "burlab works here.")
    return int(failed)


def examine() -> Iterator[Finding]:
    """Run the checks one by one, up to the first that fails.

    >>> all(finding.remedy == "" for finding in examine())
    True
    """
    checks: list[Callable[[], Finding]] = [
        _versions, _compiler, _python_headers, _precompiled_header, _headers, _instruction_set, _interpreter, _kernel,
        _row_sums, _product, _training_step, _value, _cached_code,
    ]  # fmt: skip
    for check in checks:
        try:
            finding = check()
        except BurlabError as error:
            finding = Finding(check.__name__.strip("_").replace("_", " "), type(error).__name__, str(error))
        except ImportError as error:
            remedy = "install it again: pip install --force-reinstall --no-cache-dir burlab"
            finding = Finding(check.__name__.strip("_").replace("_", " "), str(error), remedy)
        yield finding
        if finding.remedy:
            return


def _versions() -> Finding:
    packages = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy", "cppyy", "cppyy-cling")
    )
    return Finding("versions", f"burlab {burlab.__version__}, Python {platform.python_version()}, {packages}")


def _compiler() -> Finding:
    # The interpreter takes the path of the standard library's headers from it.
    compiler = runtime.host_compiler()
    remedy = "" if compiler else "install a C++ compiler: apt-get install g++, or your system's counterpart."
    return Finding("C++ compiler", str(compiler) if compiler else "there is no c++ on the PATH", remedy)


def _python_headers() -> Finding:
    header = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if header.is_file():
        return Finding("Python headers", str(header.parent))
    return Finding(
        "Python headers", f"{header} is missing", "install them: apt-get install python3-dev, or your system's."
    )


def _precompiled_header() -> Finding:
    topic = "precompiled header"
    chosen = os.environ.get("CLING_STANDARD_PCH", "")
    if chosen.lower() == "none":
        return Finding(topic, "switched off", "cppyy needs it: unset CLING_STANDARD_PCH.")
    spec = importlib.util.find_spec("cppyy_backend")
    packages = Path(spec.origin).parents[1] if spec and spec.origin else Path(sysconfig.get_path("purelib"))
    built = [Path(chosen)] if chosen else [*packages.glob("cppyy/*.pch*"), *packages.glob("cppyy_backend/etc/*.pch*")]
    present = next((file for file in built if file.is_file()), None)
    if present:
        return Finding(topic, str(present))
    folder = Path(chosen).parent if chosen else packages / "cppyy_backend" / "etc"
    if folder.is_dir() and os.access(folder, os.W_OK):
        return Finding(topic, f"will be built in {folder}")
    remedy = 'choose a file in a folder that you can write to: export CLING_STANDARD_PCH="$HOME/cling.pch"'
    return Finding(topic, f"there is none, and {folder} cannot be written", remedy)


def _headers() -> Finding:
    return Finding("burlab headers", str(runtime.header_folder()))


def _instruction_set() -> Finding:
    chosen = runtime.instruction_set()
    why = "asked for by BURLAB_ISA" if os.environ.get("BURLAB_ISA") else "the widest of this CPU"
    return Finding("instruction set", f"{chosen.name}, {why}; target {chosen.target or 'default'}")


def _interpreter() -> Finding:
    before = "cppyy" in sys.modules and not runtime.started()
    runtime.interpreter()
    flags = os.environ.get("EXTRA_CLING_ARGS", "").strip()
    return Finding("C++ interpreter", f"C++20, flags {flags}" + (", started by other code" if before else ""))


def _compared(topic: str, what: str, got: Sequence[Any], wanted: Sequence[Any], tolerance: float) -> Finding:
    """Numbers of burlab beside NumPy's; a nan is as wrong as can be."""
    error = np.max([np.max(np.abs(np.subtract(x, y))) for x, y in zip(got, wanted, strict=True)])
    wrong = "the compiler made wrong code: please report this page as an issue of burlab."
    return Finding(topic, f"{what}; differs from NumPy by at most {error:.1e}", "" if error < tolerance else wrong)


def _cached_code() -> Finding:
    file = cache_file()
    if file is None:
        return Finding("kept code", "none: BURLAB_CACHE says so, or the system is not Linux on x86-64")
    if read_index(file):
        return Finding("kept code", f"{file}, {file.stat().st_size / 2**20:.1f} MB")
    note = file.with_suffix(".failed")
    if note.is_file():
        return Finding("kept code", f"none, and sessions start slower: {read_text(note).strip()}")
    return Finding("kept code", f"none yet in {file.parent}: the end of a session makes it, or `burlab warm`")


def _function(x: Array) -> Any:
    return np.sum(np.tanh(x) * np.exp(-(x**2)))


def _kernel() -> Finding:
    return check_kernel(burlab.compile)


def check_kernel(compiler: Callable[..., Any]) -> Finding:
    """Compile a function of eight numbers and compare value and gradient with NumPy and its central differences."""
    x, step = np.linspace(-1.5, 2.0, 8), 1e-6
    value, gradient = compiler(_function, x).value_and_grad(x)
    differences = [(_function(x + step * e) - _function(x - step * e)) / (2 * step) for e in np.eye(x.size)]
    return _compared("kernel", "compiled and run", [value, gradient], [_function(x), differences], 1e-8)


def _sums(x: Array) -> Any:
    """Rows of 37 numbers fill no register; a sum of everything ends a loop."""
    return np.sum(np.cos(x) + x, axis=-1), np.mean(x * x)


def _row_sums() -> Finding:
    return check_sums(burlab.jit)


def check_sums(compiler: Callable[..., Any]) -> Finding:
    """Sums of single precision."""
    x = np.linspace(-1.0, 3.0, 9 * 37, dtype=np.float32).reshape(9, 37)
    return _compared("row sums", "of 37 numbers", compiler(_sums)(x), _sums(x.astype(np.float64)), 1e-4)


def _products(a: Array, b: Array) -> Any:
    """In register blocks, and in lanes and phases."""
    return a @ b, a @ b[:, 0], a[0] @ b


def _product() -> Finding:
    return check_product(burlab.jit)


def check_product(compiler: Callable[..., Any]) -> Finding:
    """Products of matrices, and of a matrix and a vector, of single precision."""
    a, b = np.sin(np.arange(1190, dtype=np.float32)).reshape(17, 70), np.ones((70, 33), np.float32) / 3
    return _compared("product", "17 x 70 by 70 x 33", compiler(_products)(a, b), _products(a, b), 1e-4)


def _residual(x: Array, a: Array, b: Array) -> Any:
    return 0.5 * (a @ x - b) ** 2


def _training_step() -> Finding:
    return check_step(burlab.minimize)


def check_step(minimizer: Callable[..., Any]) -> Finding:
    """A step of gradient descent on the squares of eight residuals."""
    a, b, x = np.cos(np.arange(24.0)).reshape(8, 3), np.arange(8.0), np.array([0.5, -1.0, 2.0])
    run = minimizer(burlab.FiniteSum(_residual, (a, b)), x, burlab.optim.GD(0.1), steps=1, progress=False)
    return _compared("training step", "of gradient descent", [run.x], [x - 0.1 * a.T @ (a @ x - b) / 8], 1e-12)


def _value() -> Finding:
    return check_value(burlab.Value)


def check_value(kind: Callable[..., Any]) -> Finding:
    """Gradients of numbers on a tape."""
    x, y = kind(0.7), kind(-1.3)
    z = x * y + x.tanh()
    z.backward()
    wanted = [0.7 * -1.3 + np.tanh(0.7), -1.3 + 1 - np.tanh(0.7) ** 2, 0.7]
    return _compared("Value", "on a tape", [z.data, x.grad, y.grad], wanted, 1e-12)
