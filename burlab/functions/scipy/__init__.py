"""SciPy's functions for traced values, arrays and numbers, under SciPy's names.

SciPy's own functions that are written in Python cannot be traced: they ask for the numbers of an array.
"""

from . import linalg as linalg, signal as signal, special as special, stats as stats
