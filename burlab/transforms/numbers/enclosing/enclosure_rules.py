"""The table of all enclosures, and why the other operations have none."""

from collections.abc import Callable, Sequence

from burlab.graph.node import Node
from burlab.transforms.numbers.pairs import Pair, Value
from burlab.transforms.numbers.scalar_enclosures import MONOTONE, SCALAR, VALLEYS

from . import cholesky_enclosure, fourier_enclosures, matrix_enclosures, position_enclosures, spectral_enclosures
from .special_enclosures import LIMITED as LIMITED_SPECIAL, SPECIAL

SCALAR_RULES: dict[str, Callable[..., Value]] = {**SCALAR, **SPECIAL}
"""Enclosures of scalar operations, by name."""
STRUCTURAL_RULES: dict[str, Callable[[Node, Sequence[Value]], Value]] = {
    **matrix_enclosures.RULES, "cholesky": cholesky_enclosure.cholesky, "expm": spectral_enclosures.expm,
    **position_enclosures.RULES, **dict.fromkeys(("fft", "rfft", "irfft"), fourier_enclosures.fourier),
}  # fmt: skip
"""Enclosures of structural operations beside those of `tensor_enclosures.py`."""
IMPLIED_RULES: dict[str, Callable[[Value], Pair]] = {
    **matrix_enclosures.OF_MATRICES, "eigenvalues": spectral_enclosures.eigenvalues,
    "singular values": spectral_enclosures.singular_values,
}  # fmt: skip
"""Enclosures of values that a matrix implies (`graph/implied.py`), from that of the matrix."""
LIMITED = frozenset(
    {name for table in (MONOTONE, VALLEYS) for name, row in table.items() if row.start > float("-inf")}
    | {"power", "xlogy", "xlog1py", "power_exp", "scan", "while", "cond", "cholesky"}
    | LIMITED_SPECIAL
)
"""Operations whose domain can be left."""

_BITS = "it works on bits, or jumps everywhere"
_BY_PARAMETER = "no bound of its error is known: it is a derivative by a parameter"
_FACTORS = "the signs and the order of rows and columns may change inside of a box"
_PLANNED = "it stands in plans only"
_SPARSE = "sums of sparse rows have no bound of their error here"
_ERRORS = "it is an error of a computed number, which cancels digits"
_RANDOM = "it makes random numbers of integers"
REFUSED: dict[str, str] = {
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"), _BITS),
    **dict.fromkeys(("gcd", "lcm", "nextafter", "exponent", "mantissa", "signbit", "exponents"), _BITS),
    **dict.fromkeys(("gamma_density_by", "gammainc_by", "beta_density_by", "betainc_by"), _BY_PARAMETER),
    "zeta_derivative": _BY_PARAMETER,
    **dict.fromkeys(("lu", "qr", "svd", "eigh", "eig"), _FACTORS),
    **dict.fromkeys(("matvec", "multiply_add", "squares", "block_results", "of_all_blocks", "blocks"), _PLANNED),
    **dict.fromkeys(("sparse_product", "sampled_product", "row_products", "spread_rows", "row_samples"), _SPARSE),
    **dict.fromkeys(("fold_in", "uniform"), _RANDOM),
    **dict.fromkeys(("sum_error", "product_error", "quotient_error"), _ERRORS),
    **dict.fromkeys(("exp_error", "expm1_error", "sin_error", "cos_error"), _ERRORS),
    "ask": "its answer comes from outside of the function",
    "special": "SciPy computes it, with errors that are not known",
}  # fmt: skip
"""Operations without an enclosure, each with the reason. Messages say it."""
