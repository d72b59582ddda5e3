"""Errors of scalar operations: for each a rule from its result and its operands with their errors to its error.

A choice between numbers, such as a maximum, is that of the exact ones; `where` follows its mask, and what jumps, such
as `floor`, is where the computed number is.
"""

from collections.abc import Callable
from functools import partial

from burlab.graph.node import Node

from . import doubled as d
from .doubled import Doubled
from .pairs import number, op

Rule = Callable[..., Node]
"""(result, *operands) -> its error."""


def _by(name: str, z: Node, x: Doubled, y: Doubled) -> Node:
    return op(name, *x, *y, z)


def _sub(z: Node, x: Doubled, y: Doubled) -> Node:
    return op("sum_error", *x, *d.neg(y), z)


def _neg(_z: Node, x: Doubled) -> Node:
    return op("neg", x.error)


def _square(z: Node, x: Doubled) -> Node:
    return op("product_error", *x, *x, z)


def _cube(z: Node, x: Doubled) -> Node:
    return op("product_error", *d.times(x, x), *x, z)


def _of(name: str, z: Node, x: Doubled) -> Node:
    return op(f"{name}_error", *x, z)


def _by_formula(f: Callable[..., Doubled], z: Node, *xs: Doubled) -> Node:
    """The error of a result that a formula gives, too."""
    return d.finite(d.error_of(f(*xs), z))


def _cbrt(z: Node, x: Doubled) -> Node:
    """(x - z^3) / (z^2 + z t + t^2), where t is the root of x with its error."""
    e = d.exact(z)
    left, root = d.whole(d.minus(x, d.times(d.times(e, e), e))), op("cbrt", d.whole(x))
    sizes = op("add", op("mul", z, z), op("mul", root, op("add", z, root)))
    return d.finite(op("div", left, sizes))


def _logarithm(base: tuple[float, float], x: Doubled) -> Doubled:
    return d.over(d.log(x), d.known(*base, x.value))


def _exp2(x: Doubled) -> Doubled:
    return d.of("exp", d.times(x, d.known(*d.LN2, x.value)))


def _tan(x: Doubled) -> Doubled:
    return d.over(d.of("sin", x), d.of("cos", x))


def _sinh(x: Doubled) -> Doubled:
    e = d.of("expm1", d.magnitude(x))
    return d.with_sign_of(d.half(d.plus(e, d.over(e, d.plus(e, d.known(1.0, 0.0, x.value))))), x.value)


def _cosh(x: Doubled) -> Doubled:
    e = d.of("exp", d.magnitude(x))
    return d.half(d.plus(e, d.over(d.known(1.0, 0.0, x.value), e)))


def _tanh(x: Doubled) -> Doubled:
    e = d.of("expm1", d.twice(d.magnitude(x)))
    return d.with_sign_of(d.over(e, d.plus(e, d.known(2.0, 0.0, x.value))), x.value)


def _sigmoid(x: Doubled) -> Doubled:
    one = d.known(1.0, 0.0, x.value)
    e = d.of("exp", d.neg(d.magnitude(x)))
    return d.over(d.choose(op("less", x.value, number(0.0, x.value)), e, one), d.plus(one, e))


def _softplus(x: Doubled) -> Doubled:
    rest = d.log1p(d.of("exp", d.neg(d.magnitude(x))))
    return d.plus(d.choose(op("less", x.value, number(0.0, x.value)), d.known(0.0, 0.0, x.value), x), rest)


def _silu(x: Doubled) -> Doubled:
    return d.times(x, _sigmoid(x))


def _arctan(z: Node, x: Doubled) -> Node:
    return d.angle_error(x, d.known(1.0, 0.0, z), z)


def _arctan2(z: Node, y: Doubled, x: Doubled) -> Node:
    return d.angle_error(y, x, z)


def _complement(x: Doubled) -> Doubled:
    """The root of 1 - x^2."""
    one = d.known(1.0, 0.0, x.value)
    return d.sqrt(d.times(d.minus(one, x), d.plus(one, x)))


def _arcsin(z: Node, x: Doubled) -> Node:
    return d.angle_error(x, _complement(x), z)


def _arccos(z: Node, x: Doubled) -> Node:
    return d.angle_error(_complement(x), x, z)


def _arcsinh(x: Doubled) -> Doubled:
    """log(1 + (|x| + x^2 / (1 + sqrt(1 + x^2))))."""
    a, one = d.magnitude(x), d.known(1.0, 0.0, x.value)
    square = d.times(a, a)
    return d.with_sign_of(d.log1p(d.plus(a, d.over(square, d.plus(one, d.sqrt(d.plus(one, square)))))), x.value)


def _arccosh(x: Doubled) -> Doubled:
    """log(1 + (u + sqrt(u (u + 2)))), u = x - 1."""
    u = d.minus(x, d.known(1.0, 0.0, x.value))
    return d.log1p(d.plus(u, d.sqrt(d.times(u, d.plus(u, d.known(2.0, 0.0, x.value))))))


def _arctanh(x: Doubled) -> Doubled:
    a = d.magnitude(x)
    ratio = d.over(d.twice(a), d.minus(d.known(1.0, 0.0, x.value), a))
    return d.with_sign_of(d.half(d.log1p(ratio)), x.value)


def _sinc(x: Doubled) -> Doubled:
    turned = d.times(x, d.known(*d.PI, x.value))
    return d.over(d.of("sin", turned), turned)


def _power(z: Node, x: Doubled, y: Doubled) -> Node:
    """Products for a small whole exponent, else e^(y log |x|) with the sign of the result."""
    exponent = y.value.known
    if exponent is not None and exponent.size == 1 and float(exponent) in range(-64, 65):
        product = _whole_power(x, abs(int(exponent)))
        one = d.known(1.0, 0.0, z)
        return _by_formula(lambda: d.over(one, product) if exponent < 0 else product, z)
    size = d.of("exp", d.times(y, d.log(d.magnitude(x))))
    return _by_formula(lambda: d.with_sign_of(size, z), z)


def _whole_power(x: Doubled, n: int) -> Doubled:
    found = d.known(1.0, 0.0, x.value)
    while n:
        if n % 2:
            found = d.times(found, x)
        x, n = d.times(x, x), n // 2
    return found


def _xlogy(x: Doubled, y: Doubled) -> Doubled:
    return d.times(x, d.log(y))


def _xlog1py(x: Doubled, y: Doubled) -> Doubled:
    return d.times(x, d.log1p(y))


def _rel_entr(x: Doubled, y: Doubled) -> Doubled:
    return d.times(x, d.log(d.over(x, y)))


def _power_exp(x: Doubled, y: Doubled, z: Doubled) -> Doubled:
    return d.of("exp", d.plus(d.times(y, d.log(x)), z))


def _exprel(x: Doubled) -> Doubled:
    return d.over(d.of("expm1", x), x)


def _extreme(name: str, z: Node, x: Doubled, y: Doubled) -> Node:
    """The larger or smaller one of two exact numbers, less the computed one."""
    return d.finite(op(name, *(op("add", op("sub", v.value, z), v.error) for v in (x, y))))


def _abs(z: Node, x: Doubled) -> Node:
    return _extreme("maximum", z, x, d.neg(x))


def _relu(z: Node, x: Doubled) -> Node:
    return _extreme("maximum", z, x, d.known(0.0, 0.0, z))


def _where(_z: Node, mask: Doubled, x: Doubled, y: Doubled) -> Node:
    return op("where", mask.value, x.error, y.error)


def _copysign(z: Node, x: Doubled, _y: Doubled) -> Node:
    same = op("equal", op("less", z, number(0.0, z)), op("less", x.value, number(0.0, z)))
    return op("where", same, x.error, op("neg", x.error))


def _rest(z: Node, x: Doubled, y: Doubled) -> Node:
    """The error of a remainder z = x - q y, where q is the whole number that it was computed with."""
    quotient = d.exact(op("rint", op("div", op("sub", x.value, z), y.value)))
    return d.finite(d.error_of(d.minus(x, d.times(quotient, y)), z))


def _first(_z: Node, x: Doubled, *_: Doubled) -> Node:
    return x.error


def _none(z: Node, *_: Doubled) -> Node:
    return number(0.0, z)


def _ldexp(_z: Node, x: Doubled, exponent: Doubled) -> Node:
    return op("ldexp", x.error, exponent.value)


def _mantissa(_z: Node, x: Doubled) -> Node:
    return op("ldexp", x.error, op("neg", op("exponent", x.value)))


FORMULAS: dict[str, Callable[..., Doubled]] = {
    "exp2": _exp2, "log2": partial(_logarithm, d.LN2), "log10": partial(_logarithm, d.LN10), "tan": _tan,
    "sinh": _sinh, "cosh": _cosh, "tanh": _tanh, "sigmoid": _sigmoid, "softplus": _softplus, "silu": _silu,
    "arcsinh": _arcsinh, "arccosh": _arccosh, "arctanh": _arctanh, "sinc": _sinc, "xlogy": _xlogy,
    "xlog1py": _xlog1py, "rel_entr": _rel_entr, "power_exp": _power_exp, "exprel": _exprel,
}  # fmt: skip
"""Functions in terms of others."""
SCALAR: dict[str, Rule] = {
    "add": partial(_by, "sum_error"), "mul": partial(_by, "product_error"), "div": partial(_by, "quotient_error"),
    "sub": _sub, "neg": _neg, "square": _square, "cube": _cube, "cbrt": _cbrt,
    "sqrt": d.root_error, "log": d.log_error,
    "log1p": d.log1p_error, "power": _power,
    **{name: partial(_of, name) for name in ("exp", "expm1", "sin", "cos")},
    **{name: partial(_by_formula, f) for name, f in FORMULAS.items()},
    "arctan": _arctan, "arctan2": _arctan2, "arcsin": _arcsin, "arccos": _arccos,
    "abs": _abs, "relu": _relu, "where": _where, "copysign": _copysign,
    "maximum": partial(_extreme, "maximum"), "fmax": partial(_extreme, "maximum"),
    "minimum": partial(_extreme, "minimum"), "fmin": partial(_extreme, "minimum"),
    "fmod": _rest, "remainder": _rest, "ldexp": _ldexp, "mantissa": _mantissa,
    **dict.fromkeys(("nextafter", "lower_bound", "upper_bound"), _first),
    **dict.fromkeys(("sign", "floor", "ceil", "rint", "trunc", "floor_divide", "exponent", "round_to"), _none),
}  # fmt: skip
"""The rules of scalar operations, by name."""
