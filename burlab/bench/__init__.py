"""`burlab bench`: the experiments of the BurTorch paper (arXiv:2503.13795), proven right before they are timed.

A case computes one thing in several variants: burlab's gears, a kernel written by hand, and other engines (peers), each
in a process of its own. The computation (`problem`, `cases`), its `variants` and `peers`, the check (`gate`), the
timing (`clock`) and the display (`table`, `report`) are modules that do not depend on each other's internals.

>>> from burlab import bench
>>> report = bench.run("tiny", peers=(), quick=True)
>>> all(line.verdict.passed for line in report.lines if line.seconds is not None)
True
"""

from .session import run

__all__ = ["run"]
