"""Details of one item: the line of Python and the lines of C++ that compute it, its numbers and its cost."""

from collections import Counter
from typing import Any

from burlab.graph.origin import place, source
from burlab.graph.show import label

from .graph_model import GraphModel

MAX_LINES = 60  # of C++ that are shown


def detail(model: GraphModel, item: int) -> dict[str, Any]:
    """Return details of an item. title; rows: name and text; python: place and text of the user's line; cpp: lines."""
    return _group(model, item) if model.groups.is_group(item) else _vertex(model, item)


def _group(model: GraphModel, group: int) -> dict[str, Any]:
    groups, vertices = model.groups, model.network.vertices
    members = groups.members[group]
    often = Counter(vertices[k].operation for k in members).most_common(6)
    rows = [
        ("holds", f"{len(members):,} nodes"),
        ("mostly", ", ".join(f"{count} {op}" for op, count in often)),
        ("values", f"{sum(vertices[k].nbytes for k in members):,} bytes"),
        *_heat(model, group),
    ]
    path = "/".join(groups.titles[g] for g in groups.line(group)[1:])
    return {"title": path, "rows": rows, "python": None, "cpp": []}


def _vertex(model: GraphModel, k: int) -> dict[str, Any]:
    v = model.network.vertices[k]
    rows = [("form", v.form)] if v.form else []
    if model.network.nodes and v.kind != "input":
        rows.append(("operation", label(model.network.nodes[k])))
    rows += [("scope", "/".join(v.scope))] if v.scope else []
    if model.numbers:
        last = "value, last iteration" if v.inside in ("scan", "while") else "value"
        rows.append((last, model.sweep.values[k].text))
        gradient = model.sweep.gradient(k)
        rows += [("gradient", gradient.text)] if gradient else []
    if model.fates:
        rows.append(("in the second graph", {"removed": "gone", "added": "new"}.get(model.fates[k], model.fates[k])))
    rows += _heat(model, k) if model.heat in ("gradient", "bytes", "digits") else []
    found = model.subject.places[k] if not model.fates else None
    if found:
        entry = found.entry
        rows.append(("computed in", f"step {found.step}: {entry.name}{_together(found.nodes)}"))
        rows.append(("it moves", f"{entry.nbytes:,} bytes"))
        if model.heat == "time":
            rows.append(("it takes", f"{model.subject.times[found.step]:,} ns"))
    elif v.moves and v.operands and not model.fates:
        rows.append(("computed in", "no step: it is a view, and who reads it computes its addresses"))
    head = f"∇ {v.name}" if v.name else v.head
    return {
        "title": head,
        "rows": rows,
        "python": _python(model, k),
        "cpp": list(found.lines[:MAX_LINES]) if found else [],
    }


def _together(count: int) -> str:
    return f", with {count - 1} other nodes" if count > 1 else ""


def _heat(model: GraphModel, item: int) -> list[tuple[str, str]]:
    heat = model.heats.get(item)
    return [(model.heat, heat.text)] if heat else []


def _python(model: GraphModel, k: int) -> dict[str, str] | None:
    """The user's line, as far as its file can be read."""
    origin = model.network.vertices[k].origin
    if origin is None:
        return None
    return {"place": place(origin), "text": source(origin)}
