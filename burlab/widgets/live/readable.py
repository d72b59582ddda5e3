"""Numbers and states as people read them."""

import math
import re
from typing import Any

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def number(value: float, digits: int = 4) -> str:
    """A number in at most so many significant digits, whole ones with separators.

    >>> [number(v) for v in (0.0, 1234567.0, 0.012345678, -3.2e-9, float("nan"))]
    ['0', '1.235e6', '0.01235', '−3.2e−9', 'nan']
    """
    if not math.isfinite(value):
        return str(value).replace("-", "−")
    text = f"{value:.{digits}g}"
    if "e" in text:
        digits_part, _, power = text.partition("e")
        text = f"{digits_part}e{int(power)}"
    return text.replace("-", "−")


def exact(value: float) -> str:
    """The shortest text that reads back as the same number, for a field in which it can be changed.

    >>> exact(0.001), exact(1e-8), exact(0.999), exact(3.0)
    ('0.001', '1e-8', '0.999', '3')
    """
    text = repr(float(value)).removesuffix(".0")
    if "e" in text:
        digits, _, power = text.partition("e")
        text = f"{digits}e{int(power)}"
    elif value and abs(value) < 1e-3:
        digits, _, power = f"{value:e}".partition("e")
        short = f"{float(digits):g}e{int(power)}"
        text = short if float(short) == value else text
    return text


def problem(function: Any) -> str:
    """Return the name of what is minimized.

    >>> import burlab as bl
    >>> problem(bl.problems.styblinski_tang()), problem(lambda x: x)
    ('styblinski tang', 'a function')
    """
    name = getattr(function, "__name__", "").strip("<>")
    if function is None or name == "lambda":
        return "a function"
    kind = re.sub("(?<=[a-z])(?=[A-Z])", " ", type(function).__name__).lower()
    return name.replace("_", " ") or kind


def count(value: int) -> str:
    """A count with separators.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{value:,}"


def rate(value: float) -> str:
    """Steps per second.

    >>> rate(12_345_678.0), rate(87.2), rate(0.25)
    ('12.3 M', '87.2', '0.25')
    """
    for size, prefix in _PREFIXES:
        if value >= 0.9995 * size:
            return f"{value / size:.3g} {prefix}"
    return f"{value:.3g}"


def duration(seconds: float) -> str:
    """A time in its unit.

    >>> duration(81e-9), duration(0.0123), duration(75.0)
    ('81 ns', '12.3 ms', '75 s')
    """
    for size, unit in _TIMES:
        if seconds >= 0.9995 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def size(nbytes: int) -> str:
    """Bytes in their unit, powers of ten.

    >>> size(0), size(999), size(12_345_678)
    ('0 B', '999 B', '12.3 MB')
    """
    for unit_size, prefix in _PREFIXES:
        if nbytes >= 0.9995 * unit_size:
            return f"{nbytes / unit_size:.3g} {prefix}B"
    return f"{nbytes} B"
