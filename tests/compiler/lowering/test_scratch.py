"""Large memory of a call is kept for the next: no pages are faulted in anew, and each thread has its own."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import burlab as bl

X = np.random.default_rng(0).normal(size=65_536)
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "rfft": lambda x: np.abs(np.fft.rfft(x)),
    "fft": lambda x: np.fft.fft(x).real,
    "prime": lambda x: np.abs(np.fft.rfft(x[:-15])),  # Bluestein's algorithm: 65,521 is prime
    "sort": np.sort,
    "chain": lambda x: np.cumsum(np.sin(x) * x)[::-1] * np.cumsum(x),
}


COUNT = """
import json, resource
import numpy as np, burlab as bl
from tests.compiler.lowering.test_scratch import PROGRAMS, X
found = {}
for name, f in PROGRAMS.items():
    kernel = bl.compile(f, X, gear="replay")
    for _ in range(3):
        kernel(X)
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(20):
        kernel(X)
    found[name] = (resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before) / 20
print(json.dumps(found))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="faults of one thread are counted by Linux")
def test_a_call_faults_no_pages_in_anew_but_those_of_its_result():
    """malloc maps all blocks above 128 kB here, as it does in a fresh process, whatever ran before."""
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"}
    done = subprocess.run(
        [sys.executable, "-c", COUNT], env=environment, text=True, capture_output=True, timeout=300, check=True
    )
    pages = X.nbytes / resource.getpagesize()
    assert {name: faults for name, faults in json.loads(done.stdout).items() if faults > 1.5 * pages} == {}


def test_concurrent_calls_of_different_sizes_have_their_own_scratch():
    """Blocks of different sizes go from call to call: each call has one for itself."""
    sizes = (65_536, 4096, 32_768, 65_521, 10_007, 16_384)
    kernels = [bl.compile(PROGRAMS["rfft"], X[:size], gear="replay") for size in sizes]
    alone = [kernel(X[:size]) for kernel, size in zip(kernels, sizes, strict=True)]

    def work(first: int) -> bool:
        order = [(first + k) % len(sizes) for k in range(60)]
        return all(np.array_equal(kernels[k](X[: sizes[k]]), alone[k]) for k in order)

    with ThreadPoolExecutor(6) as threads:
        assert all(threads.map(work, range(6)))
