"""The elementary operations of a scalar operation, from the formula that its C++ struct states."""

import re

from .scalar import parsed
from .tally import Tally

_CAST = re.compile(r"\{[TU]\}(\([^(){}]*\))?")
_CHOICE = re.compile(r"[<>=!?&|^~]|fabs")
_ROUNDINGS = "rounding"  # the family of roundings, remainders and bits


def scalar_tally(name: str) -> Tally:
    """Return the operations of one element.

    A function without a formula is one transcendental operation, and so is a partial derivative of it; a further
    derivative of a partial that has a formula is one product. A choice with its comparisons is one.

    >>> scalar_tally("mul").multiplications, scalar_tally("tanh").transcendental, scalar_tally("tanh'0").flops
    (1, 1, 2)
    """
    row, by = parsed(name)
    formula = row.formula if not by else row.partials[by[0]] if by[0] < len(row.partials) else ""
    if row.is_mask or row.of_integers or (row.family == _ROUNDINGS and not formula):
        return Tally(logic=1)
    if not formula or "sqrt" in formula:
        return Tally(transcendental=1)
    if len(by) > 1:
        return Tally(multiplications=1)
    text = _CAST.sub("1", formula)
    products = len(re.findall(r"[*/]", text))
    if _CHOICE.search(text):
        return Tally(products, logic=1)
    return Tally(products, len(re.findall(r"[+-]", text)))
