"""`GraphView`: a graph that opens, in a notebook."""

from pathlib import Path
from typing import Any, cast

import traitlets

from burlab.errors import ArgumentError, BurlabError
from burlab.graph import Graph
from burlab.runtime.displayed import Displayed
from burlab.runtime.extras import late
from burlab.widgets import still
from burlab.widgets.assets import module

from .diff import compared
from .encode_graph import marks_of, picture_of, texts_of
from .graph_model import GraphModel
from .graph_svg import svg_of
from .intents import INTENTS, Intent
from .node_table import frame_of
from .viewed_graph import TracedGraph, ViewedGraph, subjects_of

anywidget: Any = late("anywidget", "lab")

_FOLDER = Path(__file__).parent


class GraphView(Displayed, anywidget.AnyWidget):
    """A graph to look into: it opens collapsed by scope, is moved by mouse and keys, and steps through both sweeps.

    Everything that the page does is a method of `model`, which knows no Jupyter.

    Args:
        thing: A `Graph`, a `Kernel`, a `Value`, a function or a layer.
        args: Examples of the arguments of a function or a layer; arrays for the inputs of a `Graph` whose numbers are
            wanted; for a `Kernel` other arguments than its examples, if any.
        against: Another thing of these, but no `Value`, seen with the same arguments: the picture then shows the
            difference of both graphs.
        colour: What boxes are coloured by: "gradient" (mean absolute value), "time" (of a kernel's steps), "bytes" (of
            values), "digits" (that are not right, see `bl.digits`), or "none".

    Raises:
        ArgumentError: `thing` has no graph, or `colour` is none of these.
        TraceError: A function cannot be traced.

    >>> import numpy as np, burlab as bl
    >>> view = bl.GraphView(lambda x: np.sum(np.tanh(x) ** 2), np.array([0.5, 1.0]))
    >>> view.model.search("tanh").items, view.svg().startswith("<svg")
    ((1,), True)
    """

    _esm = module("graph_view/view.js")
    _css = "".join((_FOLDER / name).read_text(encoding="utf-8") for name in ("../surface/surface.css", "view.css"))
    picture = traitlets.Dict().tag(sync=True)
    marks = traitlets.Dict().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)

    def __init__(self, thing: Any, *args: Any, against: Any = None, colour: str = "none") -> None:
        self._subjects = subjects_of(thing, args)
        self._models: dict[str, GraphModel] = {}
        self._against = against
        if against is not None:
            self._models["difference"] = _difference(thing, against, args)
            self._subjects = {"difference": lambda: self._models["difference"].subject}
        self._name = next(iter(self._subjects))
        self._note = ""
        self.model.colour_by(colour)
        widget: Any = super()
        widget.__init__(**self._state())
        self.on_msg(self._on_message)

    @classmethod
    def diff(cls, before: Any, after: Any, *args: Any) -> "GraphView":
        """Return a view of what the second graph adds to the first, and what it lacks.

        Args:
            before: The first thing with a graph.
            after: The second one.
            args: Examples of the arguments of both.

        >>> import numpy as np, burlab as bl
        >>> view = bl.GraphView.diff(np.tanh, lambda x: np.tanh(x) * 2, 0.5)
        >>> view.model.fates
        ('same', 'same', 'added')
        """
        return cls(before, *args, against=after)

    @property
    def model(self) -> GraphModel:
        """The state of what is shown: call its methods, then `update`."""
        if self._name not in self._models:
            self._models[self._name] = GraphModel(self._subjects[self._name]())
        return self._models[self._name]

    def show_fault(self) -> str:
        """Go to the vertex at which nan or inf begins, and return that in words, which the page shows, too.

        >>> import numpy as np, burlab as bl
        >>> bl.GraphView(lambda x: np.sum(np.log(x)), np.array([1.0, -1.0])).show_fault()[:19]
        'nan begins here: lo'
        """
        self._note = self.model.go_to_fault()
        self.update()
        return self._note

    def frame(self) -> Any:
        """Return the nodes as a pandas DataFrame.

        Returns:
            A row for each node: operation; text, as in its box; form, dtype and shape; operands, how many it reads;
            scope, the parts of the model that it lies in; backward, whether it is there for the gradient only; line of
            the user's code; nbytes of its value; step of the kernel that computes it, missing where none does.

        >>> import numpy as np, burlab as bl
        >>> nodes = bl.GraphView(bl.compile(lambda x: np.tanh(x.reshape(4)) * 2, np.ones((2, 2)))).frame()
        >>> nodes[nodes.operands > 0][["operation", "step"]]
          operation  step
        1   reshape  <NA>
        2      tanh     0
        3       mul     0
        """
        return frame_of(self.model.subject)

    def __repr__(self) -> str:
        return f"<GraphView of {self.model.network.title}>"

    def svg(self) -> str:
        """Return a still picture of all that is shown now as SVG, in the colours of the page that it stands in."""
        return svg_of(self.model)

    def update(self) -> None:
        """Show changes of the model."""
        with cast("Any", self).hold_sync():
            for name, value in self._state().items():
                if getattr(self, name) != value:
                    setattr(self, name, value)
        still.refresh(self)

    def handle(self, intent: Intent) -> None:
        """Handle a message of a page; errors appear on the page.

        Args:
            intent: A dict with a `type`; see `INTENTS`.
        """
        self._note = ""
        try:
            self._do(intent)
        except BurlabError as error:
            self._note = str(error)
        self.update()

    def _on_message(self, _widget: Any, intent: Intent, _buffers: Any) -> None:
        self.handle(intent)

    def _do(self, intent: Intent) -> None:
        kind = intent.get("type")
        if kind == "subject" and intent["name"] in self._subjects:
            self._name = str(intent["name"])
        elif kind in INTENTS:
            self._note = INTENTS[kind](self.model, intent) or ""

    def _state(self) -> dict[str, Any]:
        words = texts_of(self.model, self._note) | {"subjects": list(self._subjects), "subject": self._name}
        return {"picture": picture_of(self.model), "marks": marks_of(self.model), "words": words}


def _difference(before: Any, after: Any, args: tuple[Any, ...]) -> GraphModel:
    graphs: list[Graph] = []
    for thing in (before, after):
        first = next(iter(subjects_of(thing, args if not isinstance(thing, Graph) else ()).values()))()
        if not isinstance(first, TracedGraph):
            raise ArgumentError("two Values have no graph to compare. Compare the functions that made them.")
        graphs.append(first.graph)
    subject = ViewedGraph()
    subject.network, fates = compared(*graphs)
    subject.missing = "a difference has no numbers; look at one of the graphs"
    return GraphModel(subject, fates)
