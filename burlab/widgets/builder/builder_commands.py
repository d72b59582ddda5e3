"""Messages of the widget as calls of the builder. A call that fails leaves a reason."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from burlab.errors import ArgumentError, BurlabError
from burlab.run import Run
from burlab.runtime.checks.numbers import shown

from .block_palette import kind_of
from .builder import GraphBuilder
from .builder_picture import settled
from .copying import duplicated, pasted
from .document import Document
from .evaluate import evaluate
from .exporting import cpp_of
from .formula_blocks import add_formula
from .kinds import Kind
from .latex_text import latex_of
from .numpy_text import numpy_of

Message = Mapping[str, Any]
FORMATS: dict[str, Callable[[GraphBuilder], str]] = {
    "NumPy": lambda builder: numpy_of(builder.document),
    "LaTeX": lambda builder: latex_of(builder.document),
    "C++": lambda builder: cpp_of(builder.document),
    "Python": GraphBuilder.to_python,
    "JSON": GraphBuilder.to_json,
    "DOT": GraphBuilder.to_dot,
    "SVG": GraphBuilder.to_svg,
}
"""What can be exported as text, by name."""


def free_name(document: Document) -> str:
    """Return the name of a new input: x, y, z, then x1, y1, z1, ...

    >>> free_name(Document().add("input", label="x")[0])
    'y'
    """
    taken = {block.label for block in document.blocks.values()}
    names = (f"{letter}{k or ''}" for k in count() for letter in "xyz")
    return next(name for name in names if name not in taken)


class BuilderCommands:
    """Carries out messages.

    refused: the key of the block at which the last one failed, 0 for none, and why; count: how many did. added: the
    keys of the blocks that were added last, and how often some were. run: the last one that minimizes, None before.
    """

    def __init__(self, builder: GraphBuilder) -> None:
        self.builder = builder
        self.refused: tuple[int, str] | None = None
        self.count = 0
        self.added: tuple[list[int], int] = [], 0
        self.run: Run | None = None

    def apply(self, message: Message) -> None:
        """Apply a message. If it fails nothing changes, and `refused` holds the reason."""
        self.refused = None
        try:
            act = self._acts.get(str(message.get("type")))
            if act is None:
                known = ", ".join(map(repr, self._acts))
                raise ArgumentError(f"the type of a message must be one of {known}; got {shown(message.get('type'))}.")
            act(message)
        except (BurlabError, LookupError, TypeError, ValueError) as error:
            self.refuse(message.get("key", 0), str(error))

    def refuse(self, key: Any, reason: str) -> None:
        """Note that something could not be done."""
        self.count += 1
        self.refused = key if type(key) is int else 0, reason

    @property
    def _acts(self) -> Mapping[str, Callable[[Message], None]]:
        builder = self.builder
        return {
            "add": self._add,
            "formula": self._write,
            "connect": self._connect,
            "disconnect": lambda m: builder.do(self._settled().disconnect(m["key"], m["port"])),
            "insert": self._insert,
            "duplicate": lambda m: self._put(*duplicated(self._settled(), m["keys"])),
            "paste": lambda m: self._put(*pasted(self._settled(), str(m["text"]), m.get("place"))),
            "edit": lambda m: builder.edit(m["key"], tag=m.get("tag"), **{m["name"]: m["text"]}),
            "reshape": lambda m: builder.reshape(m["key"], m["text"]),
            "rename": lambda m: builder.rename(m["key"], m["text"]),
            "delete": self._delete,
            "choose": lambda m: builder.choose(m["key"]),
            "move": self._move,
            "place": lambda m: builder.do(self._settled().move({key: (x, y) for key, x, y in m["places"]})),
            "arrange": lambda _: builder.move(dict.fromkeys(builder.document.blocks)),
            "keep": lambda _: builder.keep(self._minimized()),
            "undo": lambda _: builder.undo(),
            "redo": lambda _: builder.redo(),
        }

    def _settled(self) -> Document:
        """The document in which no block moves when the graph changes."""
        return settled(self.builder.document, self.builder.result)

    def _connect(self, message: Message) -> None:
        """Connect an argument; a wire that was pulled off another one leaves that open."""
        document = self._settled().connect(message["source"], message["key"], self._port(message))
        if (was := message.get("was")) is not None:
            document = document.disconnect(*was)
        self.builder.do(document)

    def _delete(self, message: Message) -> None:
        """Delete blocks and wires, from the last argument on: of any number of arguments later ones move up."""
        document, keys = self._settled(), message["keys"]
        for key, port in sorted(message.get("wires", ()), reverse=True):
            if key not in keys:
                document = document.disconnect(key, port)
        self.builder.do(document.delete(*keys))

    def _minimized(self) -> Run:
        if self.run is None:
            raise ArgumentError("nothing was minimized yet. Press Minimize first.")
        return self.run

    def _add(self, message: Message) -> None:
        """The operands that were selected are its arguments, as many as it has."""
        row = kind_of(message["kind"])
        before = self._settled()
        operands: list[int | None] = list(message.get("operands", ()))
        wire: tuple[int, int] | None = message.get("wire")
        if wire is not None:
            operands = [before[wire[0]].operands[wire[1]]]
            _needs_argument(row, row.name)
        taken = operands if row.many else operands[: len(row.ports)]
        label = free_name(before) if row.name == "input" else ""
        options = message.get("options", {})
        document, key = before.add(row.name, taken, label=label, options=options, place=message.get("place"))
        for argument in (message.get("to"), wire):
            if argument is not None:
                document = document.connect(key, *argument)
        self._put(document, [key])

    def _insert(self, message: Message) -> None:
        """Put a block that was dropped on a wire between its ends."""
        document, key = self._settled(), int(message["key"])
        target, port = map(int, message["wire"])
        block, source = document[key], document[target].operands[port]
        _needs_argument(block.of, block.name)
        if source is not None:
            document = document.connect(source, key, self._port({"key": key}))
        document = document.connect(key, target, port)
        (x, y), (right, down) = block.place or (0.0, 0.0), message["by"]
        self.builder.do(document.move({key: (x + right, y + down)}))

    def _put(self, document: Document, added: list[int]) -> None:
        """Set a document with blocks that are new in it, which the page then selects."""
        self.added = added, self.added[1] + 1
        self.builder.do(settled(document, evaluate(document)))

    def _write(self, message: Message) -> None:
        """Add the blocks of a formula."""
        before = self._settled()
        document = add_formula(before, str(message["text"]))
        self.builder.do(settled(document, evaluate(document)))

    def _port(self, message: Message) -> int:
        """The argument that is meant; where none is named the first one that is open."""
        block = self.builder.document[message["key"]]
        if message.get("port") is not None:
            return message["port"]
        if None in block.operands:
            return block.operands.index(None)
        if block.of.many:
            return len(block.operands)
        takes = "takes no arguments" if block.of.is_leaf else "has all of its arguments; take one away first"
        raise ArgumentError(f"{block.name} {takes}.")

    def _move(self, message: Message) -> None:
        """Move blocks by this many pixels; all others stay."""
        builder, (right, down) = self.builder, message["by"]
        document = self._settled()
        places = {key: document[key].place or (0.0, 0.0) for key in message["keys"]}
        builder.do(document.move({key: (x + right, y + down) for key, (x, y) in places.items()}))


def _needs_argument(row: Kind, name: str) -> None:
    if not row.ports:
        raise ArgumentError(f"{name} takes no arguments, so it cannot stand in a wire.")
