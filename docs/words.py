"""Write `numpy.md`, the words of NumPy and SciPy that can be traced, from the tables: run it after a change."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special

import burlab as bl
from burlab.graph import rare  # noqa: F401 - its modules fill the tables
from burlab.graph.complex import array
from burlab.graph.node import ACCUMULATIONS, FUNCTIONS, METHODS, REDUCTIONS, SEGMENTS, SPECIAL, UFUNCS
from burlab.graph.numpy_api.refused import REFUSED
from burlab.graph.scipy_words import WORDS

PAGE = Path(__file__).with_name("numpy.md")
HEAD = """# NumPy and SciPy in traced functions

The functions that can be called with traced arrays. `make pages` writes this page from the tables of rules.
All have NumPy's arguments and results, and derivatives of every order unless their values are integers or masks.

The following can be traced, too: Python's operators; indexing by anything but traced masks; assignment to entries of
arrays that the function creates (by a traced mask only one number for all chosen entries), also of complex arrays;
`x.flat`, `np.r_` and `np.c_`, `np.poly1d`, `np.vectorize`; and the functions of `burlab` itself, such as `bl.scan`,
`bl.softmax` and `bl.random.normal`. Where NumPy takes a list or a tuple of numbers, traced values may be among them:
`np.max([x, y])`.

Where eigenvalues or singular values are equal, derivatives exist up to the third order for functions of these alone,
and up to the second for functions of a symmetric matrix by its eigenvalues and of any matrix by its singular values.
Such functions have to be written as `(v * f(w)) @ v.T`, `v @ np.diag(f(w)) @ v.T`, `v[:, :k] @ v[:, :k].T` or, of
singular values, `(u * f(s)) @ vt`, `(u * f(s)) @ u.T` and `(vt.T * f(s)) @ vt`, where f has no branches that read other
eigenvalues. Where singular values are 0, f has to continue smoothly to negative values: as an odd function between u
and vt, else as an even one. Results that depend on the choice of the basis, and all higher derivatives, are nan there.

`np.linalg.eig` and `eigvals` of matrices that are not symmetric give complex arrays, whatever the numbers, and have the
derivatives of vectors with norm 1 and a real largest entry.

All ufuncs of `scipy.special` can be traced: about sixty by loops of burlab's own, the others by SciPy's own loops, of
real and complex numbers, with derivatives by published formulas; those of functions that are not analytic, `jve`,
`yve`, `ive` and `airye` of complex numbers, too. Derivatives that have no formula in functions of
SciPy, by the order of a Bessel function, or by the degrees of freedom of a noncentral distribution, are refused by
name.

Traced arrays have the array API standard's namespace, `x.__array_namespace__()`, so code for any library of arrays,
such as `einops.array_api`, runs on them; `einops.rearrange`, `reduce`, `repeat` and `einsum` do, too. Arguments and
captured arrays may be those of another library, PyTorch's and JAX's too, by `__array__` or DLPack; results are NumPy's,
which `torch.from_dlpack` and `jax.numpy.from_dlpack` take without a copy.

The last list names the functions that accept complex arrays. A graph has the dtypes float32, float64, int8 to int64,
uint8 to uint64 and bool. Integers promote as NumPy's do, and wrap around at the ends of their range. Arrays of float16
and bfloat16 (of ml_dtypes) are read as they are, and are float32 for all that follows; `astype` to float16 rounds to
the numbers of float16, and the result is float32.
"""


def page() -> str:
    """The whole page."""
    rows = [
        f"| {', '.join(f'`{name}`' for name in names)} | {why} | {use} |" for (why, use), names in grouped().items()
    ]
    return "\n".join(
        [
            HEAD,
            section("Elementwise: `np`", (name for name in UFUNCS if hasattr(np, name))),
            section("`ufunc.reduce`", REDUCTIONS),
            section("`ufunc.accumulate`", ACCUMULATIONS),
            section("`ufunc.reduceat`", SEGMENTS),
            section("Arrays: `np`", home(np)),
            section("Linear algebra: `np.linalg`", home(np.linalg)),
            section("`np.fft`", home(np.fft)),
            section("`np.lib.stride_tricks`", home(np.lib.stride_tricks)),
            section("Methods of arrays", (name for name in METHODS if not name.startswith("_"))),
            section("`scipy.special`, called as it is", special()),
            section("`bl.scipy.linalg`", bl.scipy.linalg.__all__),
            section("`bl.scipy.special`, beside those that are called as they are", bl.scipy.special.__all__),
            section("`bl.scipy.stats`", (name.removeprefix("stats.") for name in WORDS if name.startswith("stats."))),
            section("`bl.scipy.signal`", bl.scipy.signal.__all__),
            section("Of complex arrays", complex_words()),
            "## Refused\n",
            "| function of `np` | why | use |",
            "|---|---|---|",
            *rows,
            "",
            "Masked arrays, arrays of objects and `np.matrix` are refused wherever they meet a traced array.",
            "",
        ]
    )


def section(title: str, names: Iterable[str]) -> str:
    """A heading, and names in order."""
    return f"## {title}\n\n{' '.join(f'`{name}`' for name in sorted(set(names)))}\n"


def home(module: Any) -> list[str]:
    """The functions of a module that have a rule."""
    named = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return [name for name, function in named.items() if callable(function) and function in FUNCTIONS]


def special() -> list[str]:
    """The ufuncs of `scipy.special` that have a rule, by their public names."""
    return [name.lstrip("_") for name in SPECIAL if hasattr(scipy.special, name.lstrip("_"))]


def complex_words() -> list[str]:
    """What takes complex arrays."""
    modules = {"": np, "linalg.": np.linalg, "fft.": np.fft}
    names = [
        f"{prefix}{name}"
        for prefix, module in modules.items()
        for name in dir(module)
        if callable(getattr(module, name)) and getattr(module, name) in array.FUNCTIONS
    ]
    return [*names, *(name for name in array.UFUNCS if hasattr(np, name))]


def grouped() -> dict[tuple[str, str], list[str]]:
    """Refused functions that have one reason and one remedy."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, reason in REFUSED.items():
        found.setdefault(reason, []).append(name)
    return found


if __name__ == "__main__":
    PAGE.write_text(page())
