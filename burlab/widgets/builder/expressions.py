"""A document as one expression: its blocks are written one after another, and shared ones get names."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from keyword import iskeyword

from .document import Document, GraphBlock
from .exporting import needed


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text, and how tightly it holds together: a sum 1, a product 2, a sign 3, a power 4, all else 5."""

    text: str
    holds: int = 5

    def within(self, least: int) -> str:
        """The text, in parentheses where it holds less tightly."""
        return self.text if self.holds >= least else f"({self.text})"


@dataclass
class ExpressionWriter:
    """Writes the blocks behind an output; what several blocks read has a name of its own."""

    document: Document
    write: Callable[[GraphBlock, list[TextPart]], TextPart]
    leaf: Callable[[GraphBlock], TextPart]
    name: Callable[[str], str]
    lines: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def output(self, root: int, names: Mapping[int, str]) -> str:
        """Return the text of an output, after `lines`, each a name and what it is. names: of blocks, by key."""
        keys = needed(self.document, root)
        blocks = self.document.blocks
        readers = Counter(x for key in keys for x in blocks[key].operands if x is not None)
        parts: dict[int, TextPart] = {}
        for key in keys:
            block = blocks[key]
            if block.of.is_leaf:
                parts[key] = TextPart(self.name(names[key])) if block.kind == "input" else self.leaf(block)
                continue
            made = self.write(block, [parts[x] for x in block.operands if x is not None])
            if key != root and readers[key] > 1:
                self.lines.append((self.name(names[key]), made.text))
                made = TextPart(self.name(names[key]))
            parts[key] = made
        return parts[root].text


def names_of(document: Document) -> dict[int, str]:
    """Return a name for each block, its label where that is one and no other block has it."""
    names: dict[int, str] = {}
    taken = {"np", "bl", "loss"}
    for key, block in document.blocks.items():
        fits = block.label.isidentifier() and not iskeyword(block.label)
        base = block.label if fits else "x" if block.kind == "input" else "v"
        name, k = base, 1
        while name in taken:
            k += 1
            name = f"{base}{k}"
        names[key] = name
        taken.add(name)
    return names
