"""The nodes of a graph that is shown, as a table."""

from typing import Any

from burlab.runtime.extras import require

from .viewed_graph import ViewedGraph


def frame_of(subject: ViewedGraph) -> Any:
    """Return a row for each vertex as a pandas DataFrame; see `GraphView.frame`."""
    pandas: Any = require("pandas", "frames")
    vertices, places = subject.network.vertices, subject.places
    frame = pandas.DataFrame(
        {
            "operation": [vertex.operation for vertex in vertices],
            "text": [vertex.head for vertex in vertices],
            "form": [vertex.form for vertex in vertices],
            "operands": [len(vertex.operands) for vertex in vertices],
            "scope": [".".join(vertex.scope) for vertex in vertices],
            "backward": [vertex.backward for vertex in vertices],
            "line": [vertex.place for vertex in vertices],
            "nbytes": [vertex.nbytes for vertex in vertices],
        }
    )
    frame["step"] = pandas.array([None if place is None else place.step for place in places], dtype="Int64")
    return frame
