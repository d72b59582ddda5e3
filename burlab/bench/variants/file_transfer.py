"""Numbers to a file and back: in C++, by NumPy, as parameters."""

import ctypes
import tempfile
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import burlab as bl
from burlab.bench.problem import Answer, Array, Transfer
from burlab.runtime import address, declare

from .task import HERE, Gradient, timed

_MEMORY = "/dev/shm"  # files in memory, where there is such a folder: the libraries are timed, not the disk


class TransferTask(Gradient):
    """A task that saves to one file and loads from it; a subclass says how."""

    def __init__(self, problem: Transfer) -> None:
        self._problem = problem
        where = _MEMORY if Path(_MEMORY).is_dir() else None
        self._folder = tempfile.TemporaryDirectory(prefix="burlab-bench-", dir=where)
        self._path: str = str(Path(self._folder.name) / "numbers.npy")

    @abstractmethod
    def save(self, numbers: Array) -> None:
        """Make the file."""

    @abstractmethod
    def load(self) -> Any:
        """Return the contents of the file."""

    def prepared(self, numbers: Array) -> Any:
        """The numbers as this engine keeps them."""
        return numbers

    def answer(self, point: int, dtype: str) -> Answer:
        """Saved and loaded again."""
        del dtype
        self.save(self.prepared(self._problem.at(point)))
        return Answer(0.0, {"numbers": np.array(self.load(), np.float64)})

    def repeat(self, count: int) -> float:
        """See Task."""
        numbers, save, load = self.prepared(self._problem.numbers), self.save, self.load
        save(numbers)
        start = perf_counter()
        if self._problem.direction == "save":
            for _ in range(count):
                save(numbers)
        else:
            for _ in range(count):
                load()
        return perf_counter() - start


class NumPyTransfer(TransferTask):
    """`ndarray.tofile` and `numpy.fromfile`."""

    def save(self, numbers: Array) -> None:
        """See TransferTask."""
        numbers.tofile(self._path)

    def load(self) -> Any:
        """See TransferTask."""
        return np.fromfile(self._path)


class ParametersTransfer(TransferTask):
    """`bl.save_parameters` and `bl.load_parameters`: safetensors with a checksum, replaced whole or not at all."""

    def save(self, numbers: Array) -> None:
        """See TransferTask."""
        bl.save_parameters(self._path, {"numbers": numbers})

    def load(self) -> Any:
        """See TransferTask."""
        return bl.load_parameters(self._path, {"numbers": self._problem.numbers})["numbers"]


class CppTransfer(TransferTask):
    """The C library's files, in a loop of C++."""

    def __init__(self, problem: Transfer) -> None:
        super().__init__(problem)
        unit = declare(
            """extern "C" std::int64_t @unit_save(std::int64_t times, const char* path, double* x, std::int64_t n) {
              return burlab::bench::save(times, path, x, n);
            }
            extern "C" std::int64_t @unit_load(std::int64_t times, const char* path, double* x, std::int64_t n) {
              return burlab::bench::load(times, path, x, n);
            }""",
            (str(HERE.parent / "golden" / "files.hpp"),),
        )
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64)
        self._save: Callable[..., int] = kind(address(f"{unit}_save"))
        self._load: Callable[..., int] = kind(address(f"{unit}_load"))

    def _times(self, call: Callable[..., int], count: int, numbers: Array) -> None:
        if call(count, self._path.encode(), numbers.ctypes.data, numbers.size):
            raise OSError(f"cannot use {self._path}")

    def save(self, numbers: Array) -> None:
        """See TransferTask."""
        self._times(self._save, 1, numbers)

    def load(self) -> Any:
        """See TransferTask."""
        numbers = np.empty_like(self._problem.numbers)
        self._times(self._load, 1, numbers)
        return numbers

    def repeat(self, count: int) -> float:
        """See Task."""
        call = self._save if self._problem.direction == "save" else self._load
        numbers = self._problem.numbers.copy()
        self.save(numbers)
        return timed(lambda: self._times(call, count, numbers))
