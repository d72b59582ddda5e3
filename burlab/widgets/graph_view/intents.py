"""Messages of a page to a GraphView, by type, with the note that each returns."""

from collections.abc import Callable
from typing import Any

from .graph_model import GraphModel

Intent = dict[str, Any]


def _toggle(model: GraphModel, intent: Intent) -> None:
    model.select(int(intent["item"]))
    model.toggle(int(intent["item"]))


def _select(model: GraphModel, intent: Intent) -> None:
    model.select(None if intent["item"] is None else int(intent["item"]))


def _open(model: GraphModel, _: Intent) -> str:
    closed = model.open_all()
    return f"{closed:,} groups stay closed: a page cannot draw them all at once." if closed else ""


def _close(model: GraphModel, _: Intent) -> None:
    model.close_all()


def _search(model: GraphModel, intent: Intent) -> None:
    model.search(str(intent["text"]), int(intent.get("by", 1)))


def _step(model: GraphModel, intent: Intent) -> None:
    model.step(int(intent["by"]))


def _seek(model: GraphModel, intent: Intent) -> None:
    model.show_numbers(True)
    model.seek(None if intent["done"] is None else int(intent["done"]))


def _numbers(model: GraphModel, intent: Intent) -> None:
    model.show_numbers(bool(intent["on"]))
    model.seek(None)


def _heat(model: GraphModel, intent: Intent) -> None:
    model.colour_by(str(intent["name"]))


INTENTS: dict[str, Callable[[GraphModel, Intent], str | None]] = {
    "toggle": _toggle,
    "select": _select,
    "open": _open,
    "close": _close,
    "search": _search,
    "step": _step,
    "seek": _seek,
    "numbers": _numbers,
    "heat": _heat,
}
