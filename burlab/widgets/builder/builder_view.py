"""The widget of a builder, which draws the state of the model and calls its methods."""

from html import escape
from importlib import import_module
from typing import Any, cast

import traitlets

from burlab.errors import BurlabError
from burlab.runtime.extras import late
from burlab.widgets import still
from burlab.widgets.assets import module, style_module
from burlab.widgets.graph_view.graph_svg import with_ink

from .block_palette import WEIGHTS, palette
from .builder import GraphBuilder
from .builder_commands import FORMATS, BuilderCommands
from .builder_picture import arranged, boxes_of, lines_of, size
from .document import GraphBlock
from .exporting import short
from .formula_blocks import EXAMPLES
from .literals import written
from .notebook_cells import NotebookCell, keep
from .routing import routed

anywidget: Any = late("anywidget", "lab")
ipywidgets: Any = late("ipywidgets", "lab")

_MAX_VALUE_LENGTH = 2000  # letters of a value that a page shows
# What a saved notebook shows besides the picture; hidden wherever the widget is there.
_NOTE = """<style>.jp-OutputArea:has(.burlab-builder) .burlab-built {{ display: none; }}</style>
<details class="burlab-built"><summary>{advice}</summary><pre>{code}</pre></details>"""


class Canvas(anywidget.AnyWidget):
    """Palette, blocks, and details of the selected one."""

    _esm = module("builder/builder.js")
    _css = style_module("builder/builder.css", "builder/builder.css", "builder/blocks.css")
    kinds = cast("Any", traitlets.List()).tag(sync=True)
    examples = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)


class BuilderView:
    """The widgets of one builder: the canvas, and below it the panel of the last run.

    cell: where what is built by hand is kept for the next run of that cell; None for nowhere.
    """

    def __init__(self, builder: GraphBuilder, cell: NotebookCell | None = None) -> None:
        self._builder = builder
        self._cell = cell
        self._commands = BuilderCommands(builder)
        self.canvas = Canvas(kinds=kinds(), examples=EXAMPLES, state=state_of(builder, self._commands))
        self.root: Any = ipywidgets.VBox([self.canvas])
        self._note: Any = None
        cast("Any", self.canvas).on_msg(self._on_message)
        builder.listen(self._changed)

    def show(self) -> None:
        """Display it, with a picture and code that stay in a saved notebook."""
        screen: Any = import_module("IPython.display")
        still.show(self.root, self.picture, lambda: repr(self._builder))
        self._note = screen.display(screen.HTML(note(self._builder)), display_id=True)

    def picture(self) -> str:
        """Return what is built as SVG."""
        return with_ink(self._builder.to_svg())

    def _changed(self) -> None:
        self.canvas.state = state_of(self._builder, self._commands)
        still.refresh(self.root)
        if self._note is not None:
            self._note.update(import_module("IPython.display").HTML(note(self._builder)))

    def _on_message(self, _widget: Any, message: Any, _buffers: Any) -> None:
        kind = message.get("type")
        if kind == "export":
            self._export(str(message.get("format")))
        elif kind == "minimize":
            self._minimize()
        else:
            before = self._builder.document
            self._commands.apply(message)
            if self._cell is not None and self._builder.document is not before:
                keep(self._cell, self._builder.history)
        self.canvas.state = state_of(self._builder, self._commands)

    def _export(self, name: str) -> None:
        if name in FORMATS:
            try:
                text = FORMATS[name](self._builder)
            except BurlabError as error:
                self._commands.refuse(self._builder.document.root, str(error))
                return
            self.canvas.send({"type": "export", "name": name, "text": text})

    def _minimize(self) -> None:
        """The panel of a run, below the canvas."""
        from burlab.widgets.panel.panel_view import panel_of

        self._commands.refused = None
        try:
            run = self._builder.minimize()
        except BurlabError as error:
            self._commands.refuse(self._builder.document.root, str(error))
            return
        self._commands.run = run
        self.root.children = [self.canvas, panel_of(run).root]


def note(builder: GraphBuilder) -> str:
    """Return the code that a saved notebook shows below the picture."""
    again = "What was built by hand is kept for this cell. The code that builds it again"
    kept = f"It is kept in {builder.file.name}. The code that builds it again" if builder.file is not None else again
    return _NOTE.format(advice=escape(kept), code=escape(builder.to_python()))


def kinds() -> list[dict[str, Any]]:
    """The palette for the page: kinds of blocks, in groups."""
    rows = [row for row in palette().values() if row.group != "graph"]
    return [
        {"name": row.name, "group": row.group, "symbol": row.symbol, "doc": row.doc, "ports": len(row.ports)}
        for row in rows
    ]


def state_of(builder: GraphBuilder, commands: BuilderCommands) -> dict[str, Any]:
    """All that a page draws: words, and numbers of pixels."""
    document, result = builder.document, builder.result
    boxes = boxes_of(document, result)
    at = arranged(document, boxes)
    sizes = {key: size(box, len(document[key].operands)) for key, box in boxes.items()}
    bends = routed(document, at, sizes)
    blocks = [
        {
            "key": key,
            "x": at[key][0],
            "y": at[key][1],
            **dict(zip(("width", "height"), sizes[key], strict=True)),
            "bends": {port: bends[key, port] for port in range(len(block.operands)) if (key, port) in bends},
            "lines": lines_of(document, result, key),
            "output": key == document.root,
            "fault": result.faults.get(key, ""),
            "odd": result.odd.get(key, ""),
            "open": result.waiting.get(key, ""),
            **_block_state(builder, key, block),
        }
        for key, block in document.blocks.items()
    ]
    return {
        "blocks": blocks,
        "undo": builder.history.can_undo,
        "redo": builder.history.can_redo,
        "note": result.note,
        "file": "" if builder.file is None else builder.file.name,
        "refused": None if commands.refused is None else [*commands.refused, commands.count],
        "added": commands.added,
        "minimized": commands.run is not None,
    }


def _block_state(builder: GraphBuilder, key: int, block: GraphBlock) -> dict[str, Any]:
    result = builder.result
    value, gradient = result.values.get(key), result.gradients.get(key)
    shape = list(getattr(value, "shape", ()))
    return {
        "kind": block.kind,
        "label": block.label,
        "name": block.name,
        "doc": block.of.doc,
        "leaf": block.of.is_leaf,
        "many": block.of.many,
        "ports": [block.of.port(k) for k in range(len(block.operands))],
        "operands": block.operands,
        "options": [
            [o.name, written(v), o.words]
            for o, (_, v) in zip(block.of.options, block.options, strict=True)
            if o.name != WEIGHTS  # too many for a field
        ],
        "shape": written(tuple(shape)) if block.of.is_leaf else "",
        "value": "" if value is None else _full_text(value),
        "gradient": "" if gradient is None else _full_text(gradient),
        "weights": short(result.weights[key]) if key in result.weights else "",
    }


def _full_text(value: Any) -> str:
    """A value with all of its digits, cut if it is long."""
    text = " ".join(str(value).split())
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[:_MAX_VALUE_LENGTH]} …"
