"""The GPT of exp6 on a GPU, in PyTorch and JAX, beside burlab on the CPU: from which batch on the GPU pays."""

import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from burlab.bench.problem import Size, Timed, Training
from burlab.bench.worker import WITH_GPU
from burlab.runtime.thread_limit import usable_cores

from . import paper_gpt

OURS = {"minimize, 1 thread": "burlab with 1 thread", "minimize": "burlab with all threads"}
_PEERS = {"torch": ("eager", "CUDA graph"), "jax": ("20 steps in a scan",)}
_NAMES = {"torch": "PyTorch", "jax": "JAX"}
# The name of the GPU that an engine sees; it fails where there is none.
_SEEN = {
    "torch": "import torch; print(torch.cuda.get_device_name(0))",
    "jax": "import jax; print(jax.devices('gpu')[0].device_kind)",
}


def problem(size: Size) -> Training:
    """The problem of exp6 on the device of the size."""
    return replace(paper_gpt.problem(size), device=size["device"])


@cache
def gpu(engine: str) -> str:
    """The name of the GPU that PyTorch or JAX sees, in a process of its own; "" for none."""
    environment = {**os.environ, **WITH_GPU}
    done = subprocess.run(
        [sys.executable, "-c", _SEEN[engine]], capture_output=True, text=True, check=False, env=environment
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def missing(size: Size) -> str:
    """The reason why nothing is timed: no engine has the device. "" if one has."""
    if size["device"] == "cpu" or any(gpu(engine) for engine in _PEERS):
        return ""
    return "skipped: neither PyTorch nor JAX sees a GPU here"


def conclusions(lines: Sequence[Timed]) -> list[str]:
    """Sentences: which GPU it was, and from which batch on each variant of an engine is faster on it than burlab."""
    return list(_sentences(lines))


def _sentences(lines: Sequence[Timed]) -> Iterator[str]:
    for engine, variants in _PEERS.items():
        if any(line.engine == engine and line.seconds and line.size["device"] != "cpu" for line in lines):
            yield f"{_NAMES[engine]} has computed on {gpu(engine)}."
        for variant in variants:
            theirs = _times(lines, engine, variant)
            for ours, words in OURS.items():
                both = {b: (theirs[b], t) for b, t in _times(lines, "burlab", ours).items() if b in theirs}
                if both:
                    yield f"{_NAMES[engine]}, {variant}, {pays(both)} against {words}."


def pays(times: dict[int, tuple[float, float]]) -> str:
    """From which batch on the first of two times is the shorter one, for it and for every larger batch.

    Between two batches that were timed, the ratio of the times is taken for a power of the batch.

    >>> pays({1: (8094, 58), 64: (7959, 3045), 512: (7266, 19_671)})
    'pays from a batch of about 180 on'
    >>> pays({1: (8094, 58)}), pays({1: (40, 58)})
    ('pays at no batch up to 1', 'pays at every batch from 1 on')
    """
    batches = sorted(times)
    ratio = {batch: times[batch][0] / times[batch][1] for batch in batches}
    losing = [batch for batch in batches if ratio[batch] >= 1]
    if not losing:
        return f"pays at every batch from {batches[0]:,} on"
    if losing[-1] == batches[-1]:
        return f"pays at no batch up to {batches[-1]:,}"
    low = losing[-1]
    high = batches[batches.index(low) + 1]
    part = math.log(ratio[low]) / math.log(ratio[low] / ratio[high])
    batch = low * (high / low) ** part
    digits = 10 ** max(math.floor(math.log10(batch)) - 1, 0)
    return f"pays from a batch of about {round(batch / digits) * digits:,} on"


def _times(lines: Sequence[Timed], engine: str, variant: str) -> dict[int, float]:
    found = [line for line in lines if (line.engine, line.variant) == (engine, variant)]
    return {line.size["batch"]: line.seconds for line in found if line.seconds is not None}


CASE = replace(
    paper_gpt.CASE,
    name="device",
    title="device: a step of the GPT of exp6 on a GPU, in PyTorch and JAX, beside burlab on this CPU (float32)",
    problem=problem,
    variants={"burlab": tuple(OURS), **_PEERS},
    sizes=tuple({"batch": b, "device": "cuda", "threads": usable_cores()} for b in (1, 8, 32, 64, 128, 512, 4096)),
    quick=({"batch": 1, "device": "cuda", "threads": usable_cores()},),
    note="Matrix products of float32 are not rounded to TF32. Samples are on the device before the clock starts.",
    missing=missing,
    conclusions=conclusions,
)
