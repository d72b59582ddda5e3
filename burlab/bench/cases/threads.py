"""exp6 again, against the number of threads."""

import os
from dataclasses import replace

from . import paper_gpt

CASE = replace(
    paper_gpt.CASE,
    name="threads",
    title="threads: a step of the GPT of exp6 with a batch of 64 (float32)",
    sizes=tuple({"batch": 64, "threads": k} for k in (1, 2, 4, 8) if k <= (os.cpu_count() or 1)),
    quick=({"batch": 8, "threads": 1},),
    axis="threads",
)
