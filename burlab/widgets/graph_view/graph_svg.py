"""A still picture of a GraphView: SVG made in Python, with all that is open."""

from html import escape

from burlab.charts.palette import INK

from .encode_graph import marks_of, picture_of
from .graph_model import GraphModel
from .graph_picture import LINE, PAD

_MARGIN = 12.0  # pixels around the picture
# Style sheets inside of an SVG hold for the whole page: each rule names the picture.
_STYLE = "".join(
    f".burlab-still {rule}"
    for rule in (
        "text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:currentColor}",
        ".head{font-weight:600}",
        ".more{opacity:.75}",
        "path{fill:none;stroke:currentColor;opacity:.5;stroke-width:1.2}",
        "path.back{stroke:#d55e00;opacity:.8}",
        "path.wide{stroke-width:2.2}",
        "rect{rx:6;stroke:#0072b2;fill:#0072b2;fill-opacity:.1;stroke-width:1.2}",
        ".moves rect{stroke-opacity:.4;fill-opacity:.04}",
        ".input rect{stroke:#0fa95f;fill:#0fa95f}",
        ".output rect{stroke-width:2.4}",
        ".back rect{stroke:#d55e00;fill:#d55e00}",
        ".group rect{fill-opacity:.2;stroke-width:1.8}",
        ".frame rect{fill-opacity:.04;stroke-dasharray:none}",
        ".added rect{stroke:#0fa95f;fill:#0fa95f;stroke-width:2.4}",
        ".removed rect{stroke:#c62828;fill:#c62828;stroke-dasharray:5 3;stroke-width:2.4}",
        ".affected rect{stroke:#b58900;fill:#b58900}",
        ".fault rect{stroke:#c62828;stroke-width:3}",
        ".hot rect{fill:#e69f00;fill-opacity:var(--heat)}",
    )
)


def svg_of(model: GraphModel) -> str:
    """The picture in its own size, in the colours of the page that it stands in."""
    picture, marks = picture_of(model), marks_of(model)
    lines, heat, faults = marks["lines"], marks["heat"], marks["faults"]

    def box(
        item: int, x: float, y: float, width: float, height: float, kind: str, hint: str, lines_of_text: list[str]
    ) -> str:
        hot = heat.get(str(item))
        kinds = " ".join(filter(None, (kind, "hot" if hot else "", "fault" if str(item) in faults else "")))
        style = f' style="--heat:{hot[0]:.2f}"' if hot else ""
        text = "".join(
            f'<text class="{"more" if k else "head"}" x="{PAD:.0f}" y="{(k + 1) * LINE + 1:.0f}">{escape(line)}</text>'
            for k, line in enumerate(lines_of_text)
        )
        return (
            f'<g class="{kinds}" transform="translate({x} {y})"{style}><title>{escape(hint)}</title>'
            f'<rect width="{width}" height="{height}"/>{text}</g>'
        )

    parts = [
        box(item, x, y, w, h, f"frame {kind}", title, [title]) for item, x, y, w, h, kind, title in picture["frames"]
    ]
    parts += [f'<path class="{kind}" d="{d}"/>' for d, _, _, kind, *_ in picture["links"]]
    parts += [box(item, x, y, w, h, kind, hint, lines[str(item)]) for item, x, y, w, h, kind, hint in picture["boxes"]]
    width, height = picture["width"] + 2 * _MARGIN, picture["height"] + 2 * _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" class="burlab-still" '
        f'style="max-width:none" viewBox="{-_MARGIN} {-_MARGIN} {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{escape(model.network.title)}: {len(picture["boxes"])} boxes">'
        f"<style>{_STYLE}</style>{''.join(parts)}</svg>"
    )


def with_ink(svg: str) -> str:
    """Return a picture with a colour of its own for text, which is legible on white and on black pages."""
    return svg.replace("<svg ", f'<svg color="{INK}" ', 1)
