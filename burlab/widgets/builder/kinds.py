"""Kinds of blocks: their arguments, their options, and the functions that they stand for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.checks.stored import Check

from .literals import Literal, frozen, numbers, written
from .typed_values import read_typed

Options = tuple[tuple[str, Literal], ...]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a block. what: valid values, for error messages. words: all of them, where they are few."""

    name: str
    default: Literal
    fits: Check
    what: str
    words: tuple[str, ...] = ()
    is_text: bool = False

    def read(self, value: Any) -> Literal:
        """A value from Python, or the text of one. Raises ArgumentError if it does not fit."""
        if isinstance(value, str) and not self.is_text:
            value = read_typed(value, filled=self.fits is numbers)
        value = frozen(value)
        if not self.fits(value):
            raise ArgumentError(f"{self.name} is {written(value):.60}, expected {self.what}.")
        return value


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of block.

    rule: a function of traced values, and of the options by name; of a layer, first of that layer. ports: the names of
    its arguments; where `many`, the last one repeats. layer: makes the layer from the options. symbol: what a picture
    says; doc: one line; code: how the operation is called in Python.
    """

    name: str
    group: str
    rule: Callable[..., Any]
    ports: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    doc: str = ""
    symbol: str = ""
    many: bool = False
    layer: Callable[..., Any] | None = None

    @property
    def is_leaf(self) -> bool:
        """Return True if it has no arguments: an input or a constant."""
        return not self.ports

    def option(self, name: str) -> Option:
        """One of its options. Raises ArgumentError for another name."""
        for option in self.options:
            if option.name == name:
                return option
        known = ", ".join(option.name for option in self.options) or "none"
        raise ArgumentError(f"{self.name} has no option {shown(name)}. Its options: {known}.")

    def read(self, given: Mapping[str, Any]) -> Options:
        """All options, those that are not given as they are by default."""
        for name in given:
            self.option(name)
        return tuple((o.name, o.read(given[o.name]) if o.name in given else o.default) for o in self.options)

    def port(self, k: int) -> str:
        """The name of an argument."""
        if k < len(self.ports) and not (self.many and k >= len(self.ports) - 1):
            return self.ports[k]
        return f"{self.ports[-1]}{k - len(self.ports) + 1}"
