"""`burlab.export_html`, which writes one page as one file."""

import os
from typing import Any

from burlab.errors import FileError
from burlab.runtime.files import as_path, write_whole

from .page import html
from .page_sections import page_of

_MAX_BYTES = 8_000_000  # bytes of a page: the size of a mail, and quick to open in a browser


def export_html(thing: Any, path: str | os.PathLike[str]) -> None:
    """Write a page that shows a thing: one file, offline, without a kernel, in the reader's theme.

    Charts have hover, zoom, legends, PNG and CSV; maps are surfaces, too, which are turned by mouse and keys; without
    JavaScript a still picture is seen. Long records are thinned so that the file stays small; nothing is read from a
    network.

    Args:
        thing: A run, with a slider over its record and the branches of its family; a race, against every axis; a
            watched loop; a result of `burlab.branches`, `burlab.find_lr`, `burlab.performance_profile` or
            `burlab.analysis`; a chart; a Graph, Kernel, Value, GraphView or GraphBuilder, of which one group at a time
            opens. A run that goes on is shown as it is now.
        path: The file, which is replaced whole or not at all.

    Raises:
        ArgumentError: `thing` is something else.
        FileError: The file cannot be written, or would be larger than 8 MB.

    >>> import os, tempfile, burlab as bl
    >>> f = bl.problems.rosenbrock()
    >>> run = bl.minimize(f, f.start, bl.optim.Adam(0.01), steps=500)
    >>> page = os.path.join(tempfile.mkdtemp(), "run.html")
    >>> bl.export_html(run, page)
    >>> os.path.getsize(page) < 1_000_000
    True
    """
    target = as_path(path).absolute()
    text = html(page_of(thing)).encode()
    if len(text) > _MAX_BYTES:
        raise FileError(
            f"the page would have {len(text):,} bytes, expected {_MAX_BYTES:,} at most. "
            "Export a part of it: a smaller graph, fewer racers."
        )
    write_whole(target, [text])
