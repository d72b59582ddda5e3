"""A graph on a page of its own: with GraphView's own scripts, and pictures laid out in advance.

Without a kernel nothing lays out what a reader opens. So the page has a picture for each group, with what it lies in
open and all else closed, one with nothing open and one with all of it: one group at a time opens there.
"""

from typing import Any

from burlab.widgets.graph_view.detail import detail
from burlab.widgets.graph_view.display import alone
from burlab.widgets.graph_view.encode import marks_of, picture_of
from burlab.widgets.graph_view.model import Model
from burlab.widgets.graph_view.still import svg_of
from burlab.widgets.graph_view.subject import subjects_of
from burlab.widgets.graph_view.view import GraphView

from .page import Section

_MOST = 60_000  # boxes in all pictures
_DETAILS = 1500  # items that have words of their own


def graph(thing: Any) -> tuple[str, Section]:
    """The title and the section of a Graph, Kernel, Value or GraphView. Raises ArgumentError for other things."""
    view = thing.model if isinstance(thing, GraphView) else None
    model = Model(next(iter(subjects_of(thing, ()).values()))()) if view is None else Model(view.subject, view.fates)
    groups = model.groups
    model.close_all()
    model.numbers = False
    closed = model.opened
    still = alone(svg_of(model))
    states = {"": _state(model)}
    drawn = len(model.picture.boxes)
    for group in sorted((g for g in groups.titles if g != groups.root), key=lambda g: len(groups.line(g))):
        model.opened = closed.union(groups.line(group)[1:])
        drawn += len(model.picture.boxes)
        if drawn > _MOST:
            break
        states[str(group)] = _state(model)
    model.close_all()
    model.open_all()
    if drawn + len(model.picture.boxes) <= _MOST:
        states["all"] = _state(model)
    vertices = model.network.vertices
    data = {
        "title": model.network.title,
        "count": len(vertices),
        "groups": len(groups.titles) - 1,
        "diff": bool(model.fates),
        "backward": any(v.backward for v in vertices),
        "states": states,
        "parents": {str(g): str(groups.parent[g]) for g in groups.titles if g != groups.root},
        "words": [[k, v.words.lower(), str(groups.parent[k])] for k, v in enumerate(vertices)],
        "details": {
            str(k): detail(model, k) for k in [*groups.titles, *range(len(vertices))][:_DETAILS] if k != groups.root
        },
    }
    return model.network.title, Section("graph", still, data)


def _state(model: Model) -> dict[str, Any]:
    return {"picture": picture_of(model), "marks": marks_of(model), "opened": len(model.opened)}
