"""`burlab bench`: the experiments of the BurTorch paper (arXiv:2503.13795), proven right before they are timed.

A case computes one thing in several ways: burlab's gears, a kernel written by hand, and other engines (peers), each in
a process of its own. What is computed (`problem`, `cases`), how (`ways`, `peers`), whether it is right (`gate`), how
long it takes (`clock`) and how it is shown (`table`, `report`) are modules that do not know of each other's inside.

>>> from burlab import bench
>>> report = bench.run("tiny", peers=(), quick=True)
>>> all(line.verdict.passed for line in report.lines if line.seconds is not None)
True
"""

from .session import run

__all__ = ["run"]
