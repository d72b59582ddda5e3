"""A `GraphModel` as JSON for the page that draws it: the picture, what is marked in it, and the words around it."""

from typing import Any

from burlab.widgets.drawing import curve, shifts, tip

from .collapse import End
from .detail import detail
from .graph_model import GraphModel
from .graph_picture import Link


def picture_of(model: GraphModel) -> dict[str, Any]:
    """Return the places of all boxes, frames and links, in rows.

    boxes, frames: item, x, y, width, height, class, hint or title. links: path, the two items, class, x, y, width and
    height of the rectangle that they lie in.
    """
    picture, groups, vertices = model.picture, model.groups, model.network.vertices
    backward = {g: all(vertices[k].backward for k in members) for g, members in groups.members.items()}

    def kind(item: int) -> str:
        if groups.is_group(item):
            return "group back" if backward[item] else "group"
        v = vertices[item]
        return " ".join(
            filter(None, (v.kind, "back" if v.backward else "", "moves" if v.moves else "", *_fate(model, item)))
        )

    return {
        "width": picture.width,
        "height": picture.height,
        "boxes": [
            [b.item, *_rounded(b.x, b.y, b.width, b.height), kind(b.item), _hint(model, b.item)] for b in picture.boxes
        ],
        "frames": [
            [f.item, *_rounded(f.x, f.y, f.width, f.height), kind(f.item), groups.titles[f.item]]
            for f in picture.frames
        ],
        "links": [row for link in picture.links for row in _links(model, link, backward)],
    }


def marks_of(model: GraphModel) -> dict[str, Any]:
    """Return the state of each item that changes while places stay.

    lines: of each box; heat: shares; faults: nan or inf. now: the item that is stepped to; flows: those that it gives
    gradients to; waits: those that are not computed yet; found: those that a search found.
    """
    boxes = [box.item for box in model.picture.boxes]
    shown = {*boxes, *(frame.item for frame in model.picture.frames)}
    step = model.step_now if model.done is not None else None
    opened = model.opened

    def box_of(vertex: int) -> int:
        return model.groups.shown(vertex, opened)

    waits: set[int] = set()
    if model.done is not None and model.numbers:
        computed = model.sweep.computed(model.done)
        waits = {k for k in boxes if not model.groups.is_group(k) and k not in computed}
    heats = model.heats
    return {
        "lines": {str(item): model.lines(item) for item in boxes},
        "heat": {str(item): [round(h.share, 3), h.text] for item, h in heats.items() if item in shown},
        "faults": {str(item): fault for item, fault in model.faults.items() if item in shown},
        "selected": model.selected if model.selected is None else box_of(model.selected),
        "now": box_of(step.vertex) if step else None,
        "phase": step.phase if step else "",
        "flows": sorted({box_of(flow.operand) for flow in step.flows}) if step else [],
        "waits": sorted(waits),
        "found": sorted({box_of(item) for item in model.found.items}),
    }


def texts_of(model: GraphModel, note: str) -> dict[str, Any]:
    """All words around the picture. note: what the last intent has to say."""
    return {
        "title": model.network.title,
        "count": len(model.network.vertices),
        "numbers": model.numbers,
        "missing": model.subject.missing,
        "heat": model.heat,
        "diff": bool(model.fates),
        "backward": any(v.backward for v in model.network.vertices),
        "search": {"text": model.found.text, "at": model.found.at, "count": len(model.found.items)},
        "focus": model.focus,
        "groups": len(model.groups.titles) - 1,
        "opened": len(model.opened),
        "detail": None if model.selected is None else detail(model, model.selected),
        "sweep": _sweep(model),
        "note": note,
    }


def _sweep(model: GraphModel) -> dict[str, Any] | None:
    """Return the present step of the sweep, with its rule and numbers; None before the first step."""
    if model.done is None:
        return None
    sweep, step = model.sweep, model.step_now
    state: dict[str, Any] = {"done": model.done, "length": len(sweep.steps), "forward": sweep.forward}
    if step is None:
        return state | {"phase": "", "title": "before the first step", "rules": [], "reads": []}
    v = model.network.vertices[step.vertex]
    if step.flows:
        rules = [(flow.rule(), flow.share.text) for flow in step.flows]
        gradient = sweep.gradient(step.vertex, model.done)
        reads = [("ȳ", gradient.text)] if gradient else []
    else:
        rules, reads = [(step.rule(), sweep.values[step.vertex].text)], []
    reads += [(word, sweep.values[k].text) for word, k in step.reads if step.flows or word != "y"]
    box = model.groups.shown(step.vertex, model.opened)
    inside = f" in {model.groups.titles[box]}, which is closed" if model.groups.is_group(box) else ""
    return state | {"phase": step.phase, "title": f"{v.name or v.head}{inside}", "rules": rules, "reads": reads}


def _hint(model: GraphModel, item: int) -> str:
    if model.groups.is_group(item):
        return f"{model.groups.titles[item]}: {len(model.groups.members[item]):,} nodes. Click to open."
    v = model.network.vertices[item]
    return "\n".join(filter(None, (v.head, v.form, v.place, "/".join(v.scope))))


def _fate(model: GraphModel, item: int) -> tuple[str, ...]:
    return (model.fates[item],) if model.fates else ()


def _links(model: GraphModel, link: Link, backward: dict[int, bool]) -> list[list[Any]]:
    """A repeated operand is as many arrows as it is taken; between groups one arrow stands for all."""
    a, b = map(_item, link.ends)
    vertices, groups = model.network.vertices, model.groups
    back = backward[b] if groups.is_group(b) else vertices[b].backward
    single = not groups.is_group(a) and not groups.is_group(b)
    several = shifts(link.count) if single and all(isinstance(end, int) for end in link.ends) else [0.0]
    xs, ys = zip(*link.route, strict=True)
    frame = _rounded(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
    head = isinstance(link.ends[1], int)
    wide = "wide" if link.count > 1 and len(several) == 1 else ""
    kind = " ".join(filter(None, ("back" if back else "", wide)))
    routes = ([(x, y + shift) for x, y in link.route] for shift in several)
    return [[curve(route) + (tip(route[-1]) if head else ""), a, b, kind, *frame] for route in routes]


def _item(end: End) -> int:
    return end if isinstance(end, int) else end[1]


def _rounded(*numbers: float) -> tuple[float, ...]:
    return tuple(round(x, 1) for x in numbers)
