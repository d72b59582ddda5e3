"""Small tables as text: what results look like in a terminal."""

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]], sides: str = "") -> list[str]:
    """Return a line for each row, its cells in straight columns; a shorter row is not as wide.

    sides: "<" or ">" for each column; left for all.

    >>> columns([("name", "bytes"), ("x", "8")], "<>")
    ['name  bytes', 'x         8']
    """
    count = len(rows[0])
    widths = [max(len(row[k]) for row in rows if len(row) == count) for k in range(count)]
    places = [f"{{:{side}{width}}}" for side, width in zip(sides or "<" * count, widths, strict=True)]
    return ["  ".join(places[: len(row)]).format(*row).rstrip() for row in rows]


def aligned(rows: Sequence[tuple[str, str]]) -> str:
    """Lines of a name and what it is, side by side.

    >>> print(aligned([("largest", "2.5"), ("trace", "4")]))
    largest  2.5
    trace    4
    """
    return "\n".join(columns(rows))
