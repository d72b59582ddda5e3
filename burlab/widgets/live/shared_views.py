"""One live view of a subject for all of its displays."""

from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from .live_view import LiveView

View = TypeVar("View", bound=LiveView)

_views: "WeakKeyDictionary[Any, LiveView]" = WeakKeyDictionary()


def live_view_of(subject: Any, kind: type[View]) -> View:
    """Return the live view of a subject: the same one for every display, until the last of them is deleted.

    Args:
        subject: What is shown; a weak reference to it must be possible.
        kind: The class of its view, which takes the subject alone.
    """
    view = _views.get(subject)
    if view is None or view.closed:
        make: Any = kind
        view = _views[subject] = make(subject)
    return cast("View", view)
