"""A kernel for many rows at once: the loop runs in C++ (`kernels/rows.hpp`), on any number of threads."""

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from burlab.errors import ArgumentError
from burlab.runtime.coerce import Array, ArraySpec, check_count, coerce_input
from burlab.runtime.gate import NativeFunction, Workspace, pointers
from burlab.runtime.interruptible import interruptible
from burlab.runtime.kernel_structs import CMappedRows
from burlab.runtime.wait import SLICE, StopFlag, in_threads

_MIN_CHUNK_ROWS = 64  # rows that a thread takes at a time
_CHUNKS_PER_THREAD = 8


def stacked(specs: Sequence[ArraySpec], batched: Sequence[bool], n: int) -> list[ArraySpec]:
    """The specs with a leading axis of size n where `batched`."""
    return [
        ArraySpec((n, *spec.shape), spec.dtype, spec.name) if many else spec
        for spec, many in zip(specs, batched, strict=True)
    ]


def in_tiles(array: Array, size: int) -> Array:
    """Rows of an array, `size` by `size`, as rows of one more axis; no copy. Their number is a multiple of it."""
    return array.reshape(len(array) // size, size, *array.shape[1:])


def map_rows(
    function: NativeFunction,
    arrays: Sequence[Array],
    inputs: Sequence[ArraySpec],
    buffers: Sequence[Array],
    n: int,
    threads: int,
    explain: Callable[[int, int], None],
) -> None:
    """Run a kernel on n rows of `arrays`, each as large as its spec or stacked, and write to n rows of `buffers`.

    Rows do not know of each other, so the number of threads changes no bit. explain(outcome, row): raises the exception
    for a row that did not end well, or returns if it did well enough.
    """
    in_steps = [spec.nbytes if x.ndim > len(spec.shape) else 0 for x, spec in zip(arrays, inputs, strict=True)]
    out_steps = [y.nbytes // n if n else 0 for y in buffers]
    steps = [(ctypes.c_int64 * max(len(s), 1))(*s) for s in (in_steps, out_steps)]
    tables = pointers(arrays), pointers(buffers)
    job = CMappedRows(function.address, function.context, len(arrays), len(buffers))
    job.in_, job.out = map(ctypes.addressof, tables)
    job.in_steps, job.out_steps = map(ctypes.addressof, steps)
    chunk = max(_MIN_CHUNK_ROWS, -(-n // (threads * _CHUNKS_PER_THREAD)))
    chunks = iter(range(0, n, chunk))
    lock = threading.Lock()
    run = _run_rows()

    def work(stop: StopFlag) -> None:
        first, limit = (stop.address, ctypes.addressof(job)), int(SLICE * 1e9)
        workspace = Workspace(function.workspace_bytes)
        scratch = (ctypes.c_void_p * (len(arrays) + len(buffers) + 1))()
        outcome = ctypes.c_int64(0)
        while not stop.is_set():
            with lock:
                row = next(chunks, n)
            if row == n:
                return
            end = min(row + chunk, n)
            while row < end and not stop.is_set():
                row = run(*first, row, end, limit, workspace.address, scratch, outcome)
                if outcome.value and not stop.is_set():
                    explain(outcome.value, row)
                    row += 1

    in_threads(work, min(threads, max(-(-n // chunk), 1)))


def prepare(
    arrays: Sequence[Any], inputs: Sequence[ArraySpec], batched: Sequence[bool], n: int, threads: int
) -> list[Array]:
    """The arrays of a map, checked and converted."""
    check_count(arrays, inputs, "arguments")
    if n < 0 or threads < 1:
        raise ArgumentError(f"map needs n >= 0 rows and threads >= 1, got n={n} and threads={threads}.")
    return [coerce_input(x, spec) for x, spec in zip(arrays, stacked(inputs, batched, n), strict=True)]


@cache
def _run_rows() -> Callable[..., int]:
    """The loop over rows; in a kernel that never ends it handles signals, and stops with the other threads."""
    parameters = (
        "const void* rows, std::int64_t begin, std::int64_t end, std::int64_t nanoseconds, void* workspace,"
        " void** scratch, std::int64_t* outcome"
    )
    arguments = "*static_cast<const MappedRows*>(rows), begin, end, nanoseconds, workspace, scratch, outcome"
    call = f"[&] {{ using namespace burlab::kernels; return run_rows({arguments}); }}()"
    i64, ptr = ctypes.c_int64, ctypes.c_void_p
    return interruptible(
        "burlab/kernels/rows.hpp", parameters, call, (ptr, i64, i64, i64, ptr, ptr, ctypes.POINTER(i64))
    )
