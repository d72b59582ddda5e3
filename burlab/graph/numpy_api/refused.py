"""NumPy's functions that have no meaning on traced arrays: reasons and alternatives."""

from difflib import get_close_matches

import numpy as np

from burlab.graph.node import FUNCTIONS, UFUNCS

_SIZES = "how many entries there are would depend on numbers"
_FILES = "a traced array has no numbers yet"
_LATER = "it on the numbers that the traced function gives"

# Names -> why, and what does the same.
REFUSED: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("argwhere", "nonzero", "flatnonzero"), (_SIZES, "np.where(condition, x, y), or a known mask as an index")
    ),
    **dict.fromkeys(
        (
            "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "intersect1d", "setdiff1d",
            "setxor1d", "union1d", "trim_zeros",
        ),
        (_SIZES, "np.sort, and np.where to mark entries that repeat"),
    ),
    "roots": (
        "how many roots there are depends on leading and trailing coefficients that are 0",
        "np.linalg.eigvals of the companion matrix",
    ),
    "sort_complex": ("complex numbers have no order", "np.sort of np.abs(z), z.real or z.imag"),
    "histogramdd": ("histograms have rules in one and two dimensions only", "np.histogram or np.histogram2d"),
    "histogram_bin_edges": ("with bins='auto', " + _SIZES, "np.histogram(x, bins)[1] with a number of bins"),
    "polydiv": (_SIZES, "np.convolve with the inverse series, or a loop over known degrees"),
    **dict.fromkeys(("save", "savez", "savez_compressed", "savetxt"), (_FILES, _LATER)),
    **dict.fromkeys(("array2string", "array_repr", "array_str"), (_FILES, _LATER)),
    **dict.fromkeys(("packbits", "unpackbits"), ("no operation packs bits", "&, << and >> of integers")),
    **dict.fromkeys(("shares_memory", "may_share_memory"), ("a traced array has no memory yet", _LATER)),
}  # fmt: skip


def why_not(name: str) -> str:
    """The reason why a NumPy function cannot be traced, and its alternative, as the end of a sentence.

    name: without "np.".

    >>> why_not("sort_complex")
    'complex numbers have no order; use np.sort of np.abs(z), z.real or z.imag'
    """
    if name not in REFUSED:
        near = _nearest(name)
        return f"it has no rule here; the nearest name that has one is {near}" if near else "it has no rule here"
    why, instead = REFUSED[name]
    return f"{why}; use {instead}"


def _nearest(name: str) -> str:
    """The traced NumPy function with the most similar name, or "".

    >>> _nearest("lib.scimath.sqrt"), _nearest("einsum_path")
    ('np.sqrt', 'np.einsum')
    """
    known = {f.__name__: f"{f.__module__.replace('numpy', 'np', 1)}.{f.__name__}" for f in FUNCTIONS}
    known |= {ufunc: f"np.{ufunc}" for ufunc in UFUNCS if hasattr(np, ufunc)}
    found = get_close_matches(name.rpartition(".")[2], known, 1)
    return known[found[0]] if found else ""
