"""exp7: energy, from the counters of the processor (RAPL), where they can be read."""

from dataclasses import replace

from . import paper_gpt

CASE = replace(
    paper_gpt.CASE,
    name="energy",
    title="exp7: energy of a step of the GPT of exp6 (float32)",
    sizes=({"batch": 1}, {"batch": 64}),
    axis="",
    note="The counters are those of whole processors: whatever else they do counts as well.",
)
