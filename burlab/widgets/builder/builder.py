"""`GraphBuilder`: a graph that is built by hand, by calls or in a notebook, where a widget presses these."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burlab.errors import ArgumentError, FileError, GraphError
from burlab.graph import Graph
from burlab.optim import Adam, Optimizer
from burlab.run import Run, minimize
from burlab.runtime.checks.numbers import shown
from burlab.runtime.displayed import Displayed
from burlab.runtime.files import as_path, read_text, write_whole

from .builder_json import from_json, to_json
from .builder_picture import svg
from .document import Document
from .evaluate import Evaluation, evaluate
from .exporting import code_of, dot_of, function_of, graph_of
from .formula_blocks import add_formula
from .importing import of_function, of_graph, of_value
from .minimizing import Problem, held, problem_of
from .undo_history import UndoHistory

if TYPE_CHECKING:
    from burlab.eager import Value

Handle = int | str
"""A block: its key, or its label where one block alone has it."""
_MAX_FILE_BYTES = 64 << 20  # bytes


class GraphBuilder(Displayed):
    """A graph built by hand: blocks are added, connected, edited and deleted, and show values and gradients at once.

    In a notebook it is a widget, which does no more than these calls. What is built there by hand is kept for its cell:
    where the cell runs again, also after a restart, it is there, and to undo it gives what the code makes.

    Values and gradients come from small replayed kernels; nothing is compiled. Whatever does not fit is refused, or
    says why at its block, and the rest goes on.

    Args:
        source: The start: a function; a formula such as "(a + b)**2"; a `Graph`; a `Value`, with all that it was
            computed from; a `Document`; None for nothing.
        args: The arguments of a function, or values for the inputs of a `Graph`.
        file: A file that stores the document, and is written at each change. If it exists already, its document is the
            start, so that the same line finds after a restart what was built before.

    Raises:
        ArgumentError: `source` is something else.
        FileError: The file cannot be read.

    >>> import burlab as bl
    >>> b = bl.GraphBuilder()
    >>> x = b.add("input", label="x", value=3.0)
    >>> y = b.add("square", x)
    >>> float(b.value(y)), float(b.gradient(x))
    (9.0, 6.0)
    """

    def __init__(
        self,
        source: "str | Callable[..., Any] | Graph | Value | Document | None" = None,
        *args: Any,
        file: str | os.PathLike[str] | None = None,
    ) -> None:
        self._listeners: list[Callable[[], None]] = []
        self._seen: tuple[Document, Evaluation] | None = None
        self.file = None if file is None else as_path(file).absolute()
        found = None if self.file is None else _read(self.file)
        self._history = UndoHistory((found if found is not None else _document(source, args),))
        if self.file is not None and found is None:
            self._save()

    # What is there

    @property
    def document(self) -> Document:
        """Blocks and their connections, as immutable data."""
        return self._history.now

    @property
    def history(self) -> UndoHistory:
        """Every state, for undo and redo."""
        return self._history

    @property
    def result(self) -> Evaluation:
        """Values, gradients and errors, by key of block."""
        if self._seen is None or self._seen[0] is not self.document:
            self._seen = self.document, evaluate(self.document)
        return self._seen[1]

    def key(self, block: Handle) -> int:
        """Return the key of a block.

        Args:
            block: A key or a label.

        Raises:
            ArgumentError: No block, or more than one, has the label.
        """
        if not isinstance(block, str):
            self.document[block]
            return block
        found = [key for key, one in self.document.blocks.items() if one.label == block]
        if len(found) != 1:
            labels = ", ".join(one.label for one in self.document.blocks.values() if one.label) or "none"
            many = f"{len(found)} blocks have" if found else "no block has"
            raise ArgumentError(f"{many} the label {shown(block)}. Pass a key, or one of the labels: {labels:.200}.")
        return found[0]

    def value(self, block: Handle | None = None) -> Any:
        """Return the value of a block, a number or an array.

        Args:
            block: Its key or label; None for the output.

        Raises:
            GraphError: It has none, because an argument is open or does not fit.
        """
        key = self._key_or_root(block)
        if key not in self.result.values:
            reason = self.result.faults.get(key) or self.result.waiting[key]
            raise GraphError(f"{self.document[key].name} has no value: {reason}")
        return self.result.values[key]

    def gradient(self, block: Handle) -> Any:
        """Return the derivative of the output by a block, of the block's shape.

        Args:
            block: Its key or label.

        Raises:
            GraphError: It has none.
        """
        key = self.key(block)
        if key not in self.result.gradients:
            reason = self.result.note or "the output does not depend on it by floating numbers"
            raise GraphError(f"{self.document[key].name} has no gradient: {reason}")
        return self.result.gradients[key]

    def __len__(self) -> int:
        return len(self.document)

    def __repr__(self) -> str:
        root = self.document.root
        value = "" if root is None or root not in self.result.values else f", value {self.result.values[root]}"
        return f"<GraphBuilder: {len(self)} blocks{value}>"

    # What changes it

    def add(
        self,
        kind: str,
        *operands: Handle | None,
        label: str = "",
        place: tuple[float, float] | None = None,
        **options: Any,
    ) -> int:
        """Add a block.

        Args:
            kind: A name of the palette, such as "input", "constant", "add", "tanh", "sum", "nn.Linear".
            operands: Keys or labels of blocks, None for those that stay open.
            label: The label of the block, "" for none.
            place: Its centre in pixels; None for where the layout has it.
            options: Options of the kind, as values or as text.

        Returns:
            Its key.

        Raises:
            ArgumentError: The palette has no such kind, or the kind no such option; the error lists what fits.
        """
        keys = [None if x is None else self.key(x) for x in operands]
        document, key = self.document.add(kind, keys, label=label, options=options, place=place)
        self.do(document)
        return key

    def connect(self, source: Handle, target: Handle, port: int = 0) -> None:
        """Make a block an argument of another.

        Args:
            source: Key or label of the argument.
            target: Key or label of the block that takes it.
            port: The position of the argument, from 0.

        Raises:
            GraphError: The blocks would form a circle.
        """
        self.do(self.document.connect(self.key(source), self.key(target), port))

    def disconnect(self, target: Handle, port: int = 0) -> None:
        """Leave an argument open.

        Args:
            target: Key or label of the block that takes it.
            port: The position of the argument, from 0.
        """
        self.do(self.document.disconnect(self.key(target), port))

    def edit(self, block: Handle, *, tag: Any = None, **options: Any) -> None:
        """Set options of a block: the value of a constant, the sizes of a layer.

        Args:
            block: Its key or label.
            tag: Edits with the same tag are undone as one; None for one of its own.
            options: Options by name, as values or as text.
        """
        document, key = self.document, self.key(block)
        for name, value in options.items():
            document = document.edit(key, name, value)
        self.do(document, tag)

    def reshape(self, block: Handle, shape: Any) -> None:
        """Give an input or a constant another shape: its numbers are repeated, or cut off.

        Args:
            block: Its key or label.
            shape: A shape, as a tuple or as text.
        """
        self.do(self.document.reshape(self.key(block), shape))

    def rename(self, block: Handle, label: str) -> None:
        """Give a block another label: any text."""
        self.do(self.document.rename(self.key(block), label))

    def delete(self, *blocks: Handle) -> None:
        """Delete blocks; arguments that they were are open."""
        self.do(self.document.delete(*map(self.key, blocks)))

    def choose(self, block: Handle | None) -> None:
        """Make a block the output; None for the last one that no other takes."""
        self.do(self.document.choose(None if block is None else self.key(block)))

    def move(self, places: Mapping[int, tuple[float, float] | None]) -> None:
        """Move blocks: centres in pixels, or None for the place in the layout."""
        self.do(self.document.move(places))

    def do(self, document: Document, tag: Any = None) -> None:
        """Set the present document, as one change."""
        self._go(self._history.do(document, tag))

    def undo(self) -> None:
        """Take back the last change."""
        self._go(self._history.undone)

    def redo(self) -> None:
        """Repeat the change that was undone last."""
        self._go(self._history.redone)

    # What becomes of it

    def function(self) -> Callable[..., Any]:
        """Return the function of the inputs, in their order: to call, and for `bl.grad`, `bl.compile` and all others.

        >>> import burlab as bl
        >>> b = bl.GraphBuilder(lambda x, y: x * y + x, 2.0, 3.0)
        >>> float(bl.grad(b.function())(5.0, 7.0))
        8.0
        """
        return function_of(self.document)

    def graph(self) -> Graph:
        """Return the `Graph` from the inputs to the output."""
        return graph_of(self.document)

    def to_python(self) -> str:
        """Return Python code that builds the graph again, in a variable `b`."""
        return code_of(self.document, "" if self.file is None else f"file={self.file.name!r}".replace("'", '"'))

    def to_json(self) -> str:
        """Return versioned JSON, which `GraphBuilder.from_json` reads."""
        return to_json(self.document)

    @staticmethod
    def from_json(text: str) -> "GraphBuilder":
        """Return a builder from its JSON.

        Args:
            text: What `to_json` returns.

        Raises:
            GraphError: The text is damaged; the error names the block.
        """
        return GraphBuilder(from_json(text))

    def to_dot(self) -> str:
        """Return Graphviz's DOT, with values and gradients."""
        return dot_of(self.document)

    def to_svg(self) -> str:
        """Return a still picture with values and gradients, in the colours of the page's theme."""
        return svg(self.document, self.result)

    def minimize(self, optimizer: Optimizer | None = None, *, steps: int | None = None) -> Run:
        """Return a run that minimizes the output over the inputs and the parameters of layers.

        Constants that are floating numbers are live: `run.hyper[label] = 2.5` acts from the next step but one, and is
        a slider in the panel.

        Args:
            optimizer: The update rule; None for Adam(0.1).
            steps: The steps to do at once; None for a run that rests at step 0.

        Returns:
            A run whose `x` is a dict by label.

        >>> import burlab as bl
        >>> b = bl.GraphBuilder(lambda x: (x - 3.0) ** 2, 0.0)
        >>> round(float(b.minimize(bl.optim.GD(0.5), steps=2).x["x"]), 6)
        3.0
        """
        problem = Problem.of(self.document)
        rule = held(Adam(0.1) if optimizer is None else optimizer, problem)
        return minimize(problem.loss, problem.point, rule, steps=steps)

    def keep(self, run: Run) -> None:
        """Give inputs, constants and layers the values that a run of `minimize` has found, as one change.

        Args:
            run: A run that `minimize` of a builder gave.

        Raises:
            ArgumentError: It is another run.
            GraphError: A layer has other sizes by now.

        >>> import burlab as bl
        >>> b = bl.GraphBuilder(lambda x: (x - 3.0) ** 2, 0.0)
        >>> b.keep(b.minimize(bl.optim.GD(0.5), steps=2))
        >>> float(b.value()), len(b.history.states)
        (0.0, 2)
        """
        self.do(problem_of(run).found(self.document, run))

    def restore(self, history: UndoHistory) -> None:
        """Replace the history, for example by that of an earlier builder of the same cell."""
        self._go(history)

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a function after each change."""
        self._listeners.append(listener)

    def _key_or_root(self, block: Handle | None) -> int:
        root = self.document.root if block is None else self.key(block)
        if root is None:
            raise GraphError("the builder is empty. Add an input and an operation.")
        return root

    def _go(self, history: UndoHistory) -> None:
        changed = history.now is not self.document
        self._history = history
        if changed:
            self._save()
            for listener in self._listeners:
                listener()

    def _save(self) -> None:
        if self.file is not None:
            write_whole(self.file, [to_json(self.document).encode()])


def _read(path: Path) -> Document | None:
    """Return the document of a file, None without the file. Raises FileError if it cannot be read or is damaged."""
    try:
        if not path.exists():
            return None
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise FileError(f"{path} has {path.stat().st_size:,} bytes, too many for a builder. Give another file.")
        return from_json(read_text(path))
    except (OSError, UnicodeDecodeError, GraphError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"{path} holds no builder that can be read: {error} Move it away, or give another file."
        ) from error


def _document(source: Any, args: tuple[Any, ...]) -> Document:
    if source is None or isinstance(source, Document):
        if args:
            raise ArgumentError(f"expected a function before the {len(args)} arguments, got {shown(source)}.")
        return source or Document()
    if isinstance(source, Graph):
        return of_graph(source, args)
    if type(source).__name__ == "Value" and hasattr(source, "tape"):
        return of_value(source)
    if isinstance(source, str) and not args:
        return add_formula(Document(), source)
    if callable(source):
        return of_function(source, args)
    raise ArgumentError(
        f"a builder starts from a function with its arguments, a Graph, a Value, or nothing; got {shown(source)}. "
        "For its JSON there is GraphBuilder.from_json, for a file file=..."
    )
