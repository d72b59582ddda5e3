"""Small tables as text: what results look like in a terminal."""

from collections.abc import Sequence


def aligned(rows: Sequence[tuple[str, str]]) -> str:
    """Lines of a name and what it is, side by side.

    >>> print(aligned([("largest", "2.5"), ("trace", "4")]))
    largest  2.5
    trace    4
    """
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {text}".rstrip() for name, text in rows)
