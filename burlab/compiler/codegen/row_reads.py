"""Reads of the elements of a row: numbers of the row, and arrays."""

from typing import NamedTuple

from burlab.graph import Node

from .nest import Array


class RowValue(NamedTuple):
    """A number that all elements of a row read: its variable, C++ type, and where it is."""

    name: str
    kind: str
    place: str

    @property
    def line(self) -> str:
        """The line that reads it."""
        return f"const {self.kind} {self.name} = {self.place};"


class Reads(NamedTuple):
    """Operands of an element: values of its row, lines that read the others, arrays that are read, names of all."""

    by_row: list[RowValue]
    lines: list[str]
    arrays: list[Array]
    names: dict[Node, str]
