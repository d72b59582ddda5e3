"""The colours of burlab's pictures, on white and on black."""

# On white and on #111 the contrast of each is 3:1 or more; with normal vision and with each kind of colour blindness
# (Machado, Oliveira and Fernandes 2009) any two differ by 20 in CIELAB or more. Blue and vermilion: Okabe and Ito 2008.
PALETTE = ("#0072b2", "#d55e00", "#0fa95f", "#ad29ed", "#9a4b21", "#dc6fa3", "#5d705c")
TINTS = ("#80b8d8", "#eaae80", "#87d4af", "#d694f6")  # the first colours half way to white, for more shares of a stack
INK = "#757a80"
BREAK = "#d32f2f"  # where a run was stopped, or a number is nan; contrast as above
FAINT = "rgba(117, 122, 128, 0.3)"
CLEAR = "rgba(0, 0, 0, 0)"
SHADES = ((0.0, "rgba(100, 135, 190, 0)"), (1.0, "rgba(100, 135, 190, 0.45)"))  # from low to high, over any ground
LOW, HIGH = "#dee7f3", "#26548f"  # of a surface, which nothing shines through


DASHES = ("", "5 4", "2 3", "9 3 2 3")  # of lines that have one colour, in pixels; "" for none; as in chart/lines.js


def dash_of(k: int) -> int:
    """The position in DASHES of the k-th line: colours come again after the last, and lines of one differ by it.

    >>> [dash_of(k) for k in (-1, 0, 6, 7, 14, 21, 28)]
    [0, 0, 0, 1, 2, 3, 0]
    """
    return max(k, 0) // len(PALETTE) % len(DASHES)


def colour(k: int) -> str:
    """The k-th colour, from the first again after the last."""
    return PALETTE[k % len(PALETTE)]


def faded(written: str, opacity: float = 0.2) -> str:
    """Return a colour of six hexadecimal digits with an opacity.

    >>> faded("#0072b2")
    'rgba(0, 114, 178, 0.2)'
    """
    red, green, blue = bytes.fromhex(written[1:])
    return f"rgba({red}, {green}, {blue}, {opacity})"
