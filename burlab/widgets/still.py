"""The picture of a widget for pages without its kernel: a saved notebook, GitHub, nbconvert.

Each display is three outputs. The first is the widget; a page that does not know it shows a line of text. The second
is the picture, which is changed in place when what it shows comes to rest. The third is a note. Its styles hide the
picture and the note where the widget lives, and the place of the widget where it does not.

The picture is one output in two forms, of which a page shows one: an image in HTML, and SVG for pages that read no
HTML. So nothing stands there twice, whatever is taken out: JupyterLab takes SVG and styles from a notebook that it does
not trust, such as one from somebody else, and GitHub takes styles from all; both leave an image that carries its data.
"""

import logging
import re
import threading
import weakref
from base64 import b64encode
from collections.abc import Callable
from html import escape
from importlib import import_module
from time import monotonic
from typing import Any
from uuid import uuid4

from .ipython_shell import ipython_shell

Settle = Callable[[float], bool]
_log = logging.getLogger(__name__)
_KEY = "burlab_still"  # where a widget has its picture
_LIVE = "burlab-live"  # the class of widgets that have a picture
_PERIOD_SECONDS = 1.0  # seconds between two pictures, at least
_SETTLE_SECONDS = 2.0  # seconds that pictures may take at the end of a cell
_QUIET_SECONDS = 0.1  # seconds that a picture waits: more may change at once
MAX_PICTURE_BYTES = 300_000  # bytes of a picture that notebooks keep
_MIN_SHRINK = 0.744  # of its size has a picture at least, so that its words can be read: then its place scrolls
_WIDTH = re.compile(r'<svg\b[^>]*\swidth="([\d.]+)"')
_CHILD = ".jp-OutputArea-child"
_STYLES = f"""<style>
.burlab-kept {{ display: none; }}
.jp-OutputArea .burlab-kept {{ display: block; }}
{_CHILD}:has(.{_LIVE}) + {_CHILD}:has(+ {_CHILD} .burlab-kept) {{ display: none; }}
{_CHILD}:has(.{_LIVE}) + {_CHILD} + {_CHILD}:has(.burlab-kept) {{ display: none; }}
{_CHILD}:not(:has(.{_LIVE})):has(+ {_CHILD} + {_CHILD} .burlab-kept) {{ display: none; }}
{_CHILD}:has(+ {_CHILD} .burlab-kept) .jp-OutputArea-output {{ overflow-x: auto; padding-right: 0; }}
{_CHILD}:has(+ {_CHILD} .burlab-kept) img {{ max-width: 100%; height: auto; }}
</style>"""
_NOTE = '<div class="burlab-kept">A picture of what was shown last. For the live view, run this cell again.</div>'


class Still:
    """The picture of one widget. See `show` for the arguments."""

    def __init__(
        self, root: Any, picture: Callable[[], str], summary: Callable[[], str], settle: Settle | None
    ) -> None:
        self._root = weakref.ref(root)
        self._picture = picture
        self._summary = summary
        self._settle = settle
        self._name = uuid4().hex
        self._last = 0.0  # when it was published last
        self._published = ""
        self._lock = threading.Lock()
        self._publishing = threading.Lock()  # pictures appear in the order in which they were drawn
        self._timer: threading.Timer | None = None

    def show(self) -> None:
        """Display the widget with its picture in the cell that runs."""
        screen: Any = import_module("IPython.display")
        root: Any = self._root()
        root.add_class(_LIVE)
        screen.display(widget_bundle(root) | {"text/plain": self._summary()}, raw=True)
        self._last = monotonic()
        screen.display(self._bundle(), raw=True, display_id=self._name)
        screen.display({"text/plain": "", "text/html": f"{_STYLES}\n{_NOTE}"}, raw=True)

    def refresh(self) -> None:
        """Draw the picture again, soon. From any thread."""
        with self._lock:
            if self._timer is None:
                wait = max(_QUIET_SECONDS, self._last + _PERIOD_SECONDS - monotonic())
                self._timer = threading.Timer(wait, self._publish)
                self._timer.daemon = True
                self._timer.start()

    def settle(self, end: float) -> None:
        """Publish what there is to be shown now: a notebook without a page hears nothing between two cells.

        end: when to give up what is not there yet, as of `monotonic`.
        """
        try:
            new = self._settle is not None and self._settle(end)
        except Exception:  # the picture stays as it is
            _log.exception("a widget could not be brought up to date")
            return
        with self._lock:
            timer = self._timer
        if timer is not None:
            timer.cancel()
        if new or timer is not None:
            self._publish()
        with self._publishing:  # a picture that another thread draws belongs to this cell
            return

    def _publish(self) -> None:
        with self._publishing:
            with self._lock:
                self._timer = None
                self._last = monotonic()
            root: Any = self._root()
            if root is None or root.comm is None:
                return
            try:
                before, bundle = self._published, self._bundle()
                if self._published != before:
                    screen: Any = import_module("IPython.display")
                    screen.update_display(bundle, raw=True, display_id=self._name)
            except Exception:  # the widget lives on without a new picture
                _log.exception("the picture of a widget could not be drawn")

    def _bundle(self) -> dict[str, str]:
        """Return the contents of the second output. A picture that is too large leaves the last one in its place."""
        picture = self._picture()
        self._published = picture if len(picture.encode()) <= MAX_PICTURE_BYTES else self._published
        return bundle(self._published, self._summary())


def widget_bundle(root: Any) -> dict[str, Any]:
    """Return a widget as front ends take it, by MIME type. root: an ipywidgets.DOMWidget."""
    view = {"version_major": 2, "version_minor": 0, "model_id": root.model_id}
    return {"application/vnd.jupyter.widget-view+json": view}


def bundle(picture: str, summary: str) -> dict[str, str]:
    """Return a picture by MIME type. picture: SVG, "" for none. summary: a line of text.

    >>> list(bundle("<svg/>", "a chart"))
    ['text/plain', 'text/html', 'image/svg+xml']
    """
    words = {"text/plain": summary}
    if not picture:
        return words
    data = b64encode(picture.encode()).decode()
    own = _WIDTH.match(picture)
    size = f' style="min-width:{float(own[1]) * _MIN_SHRINK:.0f}px"' if own else ""
    image = f'<img alt="{escape(summary)}"{size} src="data:image/svg+xml;base64,{data}">'
    return words | {"text/html": image, "image/svg+xml": picture}


def show(root: Any, picture: Callable[[], str], summary: Callable[[], str], settle: Settle | None = None) -> None:
    """Display a widget with a still picture of it. All displays of one widget have one picture.

    root: an ipywidgets.DOMWidget. picture: gives SVG; called here, and after `refresh` in a thread of its own. summary:
    gives a line of text. settle: called at the end of each cell, brings what the picture shows up to date, until a
    time as of `monotonic` at the latest; whether that has changed it.
    """
    found: Still | None = getattr(root, _KEY, None)
    if found is None:
        found = Still(root, picture, summary, settle)
        setattr(root, _KEY, found)  # not in a table of ours: what makes the picture may hold the widget
        _stills.add(found)
        _listen()
    found.show()


def refresh(root: Any) -> None:
    """Draw the picture of a widget again, at most once a second; nothing where it was never shown."""
    found: Still | None = getattr(root, _KEY, None)
    if found is not None:
        found.refresh()


def settle(root: Any) -> None:
    """Bring the picture of a widget up to date and publish it, as at the end of a cell; nothing where it has none."""
    found: Still | None = getattr(root, _KEY, None)
    if found is not None:
        found.settle(monotonic() + _SETTLE_SECONDS)


def settle_all(*_result: Any) -> None:
    """Bring all pictures up to date, and publish those that have changed. IPython calls it at the end of each cell."""
    end = monotonic() + _SETTLE_SECONDS
    for found in list(_stills):
        found.settle(end)


_stills: "weakref.WeakSet[Still]" = weakref.WeakSet()
_listening: "weakref.WeakSet[Any]" = weakref.WeakSet()  # shells that call `settle_all`


def _listen() -> None:
    shell = ipython_shell()
    if shell is not None and shell not in _listening:
        _listening.add(shell)
        shell.events.register("post_run_cell", settle_all)
