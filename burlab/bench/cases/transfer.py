"""exp3 and exp4: seven float64 numbers go to a file, or come from one."""

import numpy as np

from burlab.bench.problem import Case, Size, Transfer

_NUMBERS = np.random.default_rng(0).normal(size=7)
_VARIANTS = {
    "golden": ("raw bytes, loop in C++",),
    "burlab": ("raw bytes, NumPy", "bl.save_parameters and bl.load_parameters"),
    "torch": ("torch.save and torch.load",),
    "jax": ("numpy.save and numpy.load",),
}


_NOTE = "The files are in memory where the system has /dev/shm: what is timed is the library, not the disk."


def saving(_: Size) -> Transfer:
    """Open, write, close."""
    return Transfer(_NUMBERS, "save")


def loading(_: Size) -> Transfer:
    """Open, read, close."""
    return Transfer(_NUMBERS, "load")


SAVE = Case("save", "exp3: save seven float64 numbers to a file", saving, _VARIANTS, unit="file", note=_NOTE)
LOAD = Case("load", "exp4: load seven float64 numbers from a file", loading, _VARIANTS, unit="file", note=_NOTE)
