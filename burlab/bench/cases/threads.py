"""exp6 again, against the number of threads: few samples, which share each kernel, and many, which share the sum."""

from dataclasses import replace

from burlab.runtime.thread_limit import usable_cores

from . import paper_gpt

_COUNTS = tuple(k for k in (1, 2, 4, 8, 16, 32, 64) if k <= usable_cores())

CASE = replace(
    paper_gpt.CASE,
    name="threads",
    title="threads: a step of the GPT of exp6 with batches of 64 and 512 (float32)",
    sizes=tuple({"batch": batch, "threads": k} for batch in (64, 512) for k in _COUNTS),
    quick=({"batch": 8, "threads": 1},),
    axis="threads",
)
