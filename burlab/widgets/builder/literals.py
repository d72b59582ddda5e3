"""Constants as text: numbers, words, and lists of them in one another. They are parsed here, and never evaluated."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

Literal = Any
"""A number, bool, word or None, or tuples of them in one another: what an option of a block can be."""
MAX_NUMBERS = 1 << 16  # numbers in one literal: a document stays light
_MAX_DEPTH = 16  # lists inside of one another
_MAX_LENGTH = 40 * MAX_NUMBERS  # characters
_MAX_DIGITS = 400  # of an integer: more is a slip
_TOKEN = re.compile(r"\s*(?:([\[\](),])|([-+]?(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][-+]?\d+)?)|([-+]?[A-Za-z]\w*))")
_WORDS = {"true": True, "false": False, "none": None, "inf": float("inf"), "nan": float("nan"), "": None}
_CLOSING = {"[": "]", "(": ")"}


class _Token(NamedTuple):
    mark: str
    number: str
    word: str


def parse(text: str) -> Literal:
    """Return the value of a text. Raises ArgumentError if it is no literal.

    >>> parse("[[1, 2.5], [-3e2, inf]]")
    ((1, 2.5), (-300.0, inf))
    >>> parse("__import__('os')")
    Traceback (most recent call last):
        ...
    burlab.errors.ArgumentError: "__import__('os')" cannot be read from "__import__('os')" on. Write a number such as \
2.5, or a list such as [1, 2].
    """
    if len(text) > _MAX_LENGTH:
        raise ArgumentError(
            f"a text of {len(text):,} characters is too long for a constant. Pass at most {_MAX_LENGTH:,}."
        )
    tokens = _Reader(text)
    value = tokens.value(0)
    tokens.end()
    return value


class _Reader:
    """The tokens of a text, one after another."""

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        self._at = 0
        self._count = 0

    def value(self, depth: int) -> Literal:
        """Return the literal that begins at the present token."""
        token = self._next()
        if token.mark in _CLOSING:
            if depth == _MAX_DEPTH:
                raise ArgumentError(f"lists lie in one another at most {_MAX_DEPTH} deep in a constant.")
            return tuple(self._items(_CLOSING[token.mark], depth + 1))
        if token.mark:
            self._refuse()
        self._count += 1
        if self._count > MAX_NUMBERS:
            raise ArgumentError(
                f"a constant has at most {MAX_NUMBERS:,} numbers. Pass larger arrays to a function instead."
            )
        return self._number(token.number) if token.number else self._word(token.word)

    def end(self) -> None:
        """Nothing may follow."""
        if self._at < len(self._text):
            self._refuse()

    def _items(self, closing: str, depth: int) -> Iterator[Literal]:
        while not self._closed(closing):
            yield self.value(depth)
            if not self._closed(",", keep=closing):
                self._refuse()

    def _closed(self, mark: str, keep: str = "") -> bool:
        """Return True if `mark` comes next, which is consumed; or `keep`, which is not."""
        found = _TOKEN.match(self._text, self._at)
        if found and found[1] == mark:
            self._at = found.end()
            return True
        return bool(keep) and found is not None and found[1] == keep

    def _next(self) -> _Token:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            if not self._text:
                return _Token("", "", "none")
            self._refuse()
        self._at, self._last = found.end(), found.start()
        return _Token(*(part or "" for part in found.groups()))

    def _number(self, text: str) -> int | float:
        if re.fullmatch(r"[-+]?\d[\d_]*", text):
            if len(text) > _MAX_DIGITS:
                raise ArgumentError(f"a whole number of {len(text)} digits is too long. Write it as 1e{len(text) - 1}.")
            return int(text.replace("_", ""))
        return float(text.replace("_", ""))

    def _word(self, word: str) -> Literal:
        sign, name = (word[0], word[1:]) if word[0] in "+-" else ("", word)
        if name.lower() in _WORDS:
            value = _WORDS[name.lower()]
            if not sign:
                return value
            if isinstance(value, float):
                return -value if sign == "-" else value
        elif not sign and re.fullmatch(r"[a-z]+\d*", word) and self._text == word:
            return word  # the name of a dtype or of an activation
        self._at = self._last
        return self._refuse()

    def _refuse(self) -> NoReturn:
        rest = self._text[self._at :].strip()
        where = f'from "{rest:.40}" on' if rest else "to its end"
        raise ArgumentError(
            f'"{self._text:.40}" cannot be read {where}. Write a number such as 2.5, or a list such as [1, 2].'
        )


def frozen(value: Any) -> Literal:
    """Return a value of Python or NumPy as a literal. Raises ArgumentError for other types.

    >>> import numpy as np
    >>> frozen(np.array([[1.0, 2.0]])), frozen([True, None])
    (((1.0, 2.0),), (True, None))
    """
    if isinstance(value, (np.ndarray, np.generic)):
        array = cast("np.ndarray[Any, Any]", value)
        if array.dtype.kind not in "fiub" or array.size > MAX_NUMBERS:
            raise ArgumentError(
                f"a constant of a builder must be an array of at most {MAX_NUMBERS:,} numbers; got {array.size:,} "
                f"entries of {array.dtype}. Pass such arrays to the function that it exports."
            )
        value = array.tolist()
    count = 0

    def freeze(item: Any, depth: int) -> Literal:
        nonlocal count
        count += 1
        if count > 2 * MAX_NUMBERS or depth > _MAX_DEPTH:
            raise ArgumentError(f"a constant has at most {MAX_NUMBERS:,} numbers, in lists at most {_MAX_DEPTH} deep.")
        if isinstance(item, (list, tuple)):
            return tuple([freeze(part, depth + 1) for part in cast("list[Any]", item)])
        if item is None or type(item) in (bool, int, float, str):
            return item
        if isinstance(item, (np.ndarray, np.generic)):
            return frozen(item)
        raise ArgumentError(f"expected numbers or lists of numbers, got {shown(item)}.")

    return freeze(value, 0)


def written(value: Literal) -> str:
    """A literal as text, which `parse` reads back.

    >>> written(((1, 2.5), (0.5, float("inf"))))
    '[[1, 2.5], [0.5, inf]]'
    """
    if isinstance(value, tuple):
        return f"[{', '.join(map(written, cast('tuple[Any, ...]', value)))}]"
    if value is None:
        return "none"
    return value if isinstance(value, str) else repr(value)


def numbers(value: Literal) -> bool:
    """Return True if a literal is a number or an array of numbers: all rows of one length, no words."""
    return is_array(value, lambda item: type(item) in (int, float, bool))


def is_array(value: Literal, entry: Callable[[Any], bool]) -> bool:
    """Return True if a literal is an array of such entries."""
    if not isinstance(value, tuple):
        return entry(value)
    rows = cast("tuple[Any, ...]", value)
    return all(is_array(row, entry) for row in rows) and len({np.shape(row) for row in rows}) <= 1
