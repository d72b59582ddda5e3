"""Where the plots of a panel stand."""

from dataclasses import dataclass

from .model import Plot

_GAP, _TITLE, _SMALL, _WIDE, _FOOT = 0.09, 22, 92, 300, 40  # share of the width between columns; pixels


@dataclass(frozen=True, slots=True)
class Place:
    """A plot over steps with its axes. domain: bottom and top as shares of the height; points: that it can show."""

    plot: Plot
    x: str
    y: str
    domain: tuple[float, float]
    points: int


@dataclass(frozen=True, slots=True)
class Arrangement:
    """height: pixels. columns: axes over steps, each with its share of the width and the y axis that it stands on.

    square: the axes of a plot of two parameters on the right, or nothing.
    """

    height: int
    places: tuple[Place, ...]
    columns: dict[str, tuple[tuple[float, float], str]]
    square: tuple[str, str] | tuple[()]


RIGHT = (0.5 + _GAP / 2, 1.0)


def arranged(plots: list[Plot], *, square: bool) -> Arrangement:
    """The value large on the left, the others in a stack on the right; with `square`, all in a stack on the left."""
    groups = [plots] if square else [plots[:1], plots[1:]]
    split = [(0.0, 0.5 - _GAP / 2), RIGHT]
    heights = [[_SMALL * (2 if square and k == 0 else 1) for k in range(len(group))] for group in groups]
    inner = max(_WIDE, *(sum(column) + _TITLE * (len(column) - 1) for column in heights))
    places: list[Place] = []
    columns: dict[str, tuple[tuple[float, float], str]] = {}
    for c, (group, wanted, across) in enumerate(zip(groups, heights, split, strict=False)):
        x = "x" if c == 0 else f"x{c + 1}"
        free = inner - _TITLE * (len(group) - 1)
        top = float(inner)
        for plot, share in zip(group, wanted, strict=True):
            tall = free * share / sum(wanted)
            y = "y" if not places else f"y{len(places) + 1}"
            places.append(Place(plot, x, y, ((top - tall) / inner, top / inner), 1200 if tall > _WIDE / 2 else 800))
            top -= tall + _TITLE
        columns[x] = (across, places[-1].y)
    axes = ("x2", f"y{len(places) + 1}") if square else ()
    return Arrangement(inner + _TITLE + _FOOT, tuple(places), columns, axes)
