"""The parts of a chart. They hold numbers and text; renderers decide how they are drawn."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from burlab.typing import Numbers

DotShape = Literal["dot", "ring", "cross", "star", "triangle", "word", "none"]
"""How dots are drawn; "word": each hint is written out; "none": hints only, nothing is drawn."""
MarkKind = Literal["rule", "cursor", "break"]
"""What a line across a plot shows: a value, a chosen place, or where something broke off."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a plot.

    label: what it measures. unit: "s", "B" or the like, written after each number with an SI prefix. log: True if it is
    logarithmic. low, high: its ends; None where the data decide. floor: where a logarithmic axis shows the values that
    are exactly 0, as a line labelled 0; None if there are none.
    """

    label: str = ""
    unit: str = ""
    log: bool = False
    low: float | None = None
    high: float | None = None
    floor: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A line through points.

    x, y: float64, shape (n,); NaN interrupts it. label: its name in the legend, "" for none. colour: a position in the
    palette, or -1 for ink. faint: whether it lies behind the others, as raw data do behind their median.
    dashed: 0 for a solid line, from 1 on a pattern of `palette.DASHES`. right: whether y is read on the right axis of
    its plot.
    """

    x: Numbers
    y: Numbers
    label: str = ""
    colour: int = 0
    faint: bool = False
    dashed: int = 0
    right: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """The region between two curves: a range, a share of a stack. x, low, high: float64, shape (n,).

    solid: whether it is filled like a share of a stack, and not faintly like a range.
    """

    x: Numbers
    low: Numbers
    high: Numbers
    label: str = ""
    colour: int = 0
    solid: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Dots:
    """Single points. x, y: float64, shape (n,). hints: the text of each point under the mouse; () for none."""

    x: Numbers
    y: Numbers
    label: str = ""
    colour: int = 0
    shape: DotShape = "dot"
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across a plot. at: where on the axis `axis`."""

    at: float
    label: str = ""
    axis: Literal["x", "y"] = "x"
    kind: MarkKind = "rule"


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    """Curves over a common axis. name: what a program calls it. note: text next to the title, in italics.

    tall: its height, times that of an ordinary plot. x axes of the plots of a chart with the same label are one: zoomed
    and read together. right: a second axis upwards, its labels inside, for curves that would flatten all others.
    section: the heading under which a page may fold it away; "" for what is always in sight.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    curves: tuple[Curve, ...] = ()
    bands: tuple[Band, ...] = ()
    dots: tuple[Dots, ...] = ()
    marks: tuple[Mark, ...] = ()
    note: str = ""
    tall: float = 1.0
    right: Axis | None = None
    section: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """A function of two variables as shades and level lines, with curves and dots over it, in equal or free scales.

    heights: float64, shape (rows, columns): the function at y[rows], x[columns], low to high; None as long as it is not
    known. shade: what the colours follow where that is not the height, as its logarithm may be; of the same shape.
    middle: a height from which two colours part, those of the first two curves, below and above; None for one colour.
    x, y: axes with both ends given. equal: whether a unit is as long on both axes. version: changes with `heights`, so
    that an image is made once.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    heights: Numbers | None = None
    version: int = 0
    curves: tuple[Curve, ...] = ()
    dots: tuple[Dots, ...] = ()
    note: str = ""
    equal: bool = False
    shade: Numbers | None = None
    middle: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Plots and maps side by side, or one above the other where the place is narrow. about: text for screen readers."""

    parts: tuple[Plot | Map, ...]
    title: str = ""
    about: str = ""

    def to_plotly(self) -> Any:
        """Return it as a figure of plotly, its parts one below the other.

        Returns:
            A `plotly.graph_objects.Figure`, with curves thinned to 2,500 points that keep their extremes.

        Raises:
            ConfigurationError: The extra `burlab[plots]` is not installed.

        >>> import burlab as bl
        >>> f = bl.problems.booth()
        >>> type(bl.analysis.landscape(f, f.start, resolution=9).chart().to_plotly()).__name__
        'Figure'
        """
        return import_module("burlab.plots.plotly_chart").to_plotly(self)  # above this room, imported when asked for

    def to_matplotlib(self, axes: Any = None) -> list[Any]:
        """Draw it with Matplotlib, for PDF, SVG and PGF.

        Args:
            axes: A `matplotlib.axes.Axes`, or one for each part; None for a new figure with the parts one below the
                other.

        Returns:
            The Axes, one for each part; `axes[0].figure.savefig("loss.pdf")` writes the file.

        Raises:
            ArgumentError: There are more or fewer Axes than parts.
            ConfigurationError: The extra `burlab[figures]` is not installed.

        >>> import burlab as bl, matplotlib.pyplot as plt
        >>> f = bl.problems.booth()
        >>> axes = bl.analysis.landscape(f, f.start, resolution=9).chart().to_matplotlib()
        >>> axes[0].figure.savefig("/dev/null", format="pdf"); plt.close(axes[0].figure)
        """
        return import_module("burlab.plots.matplotlib_chart").to_matplotlib(self, axes)
