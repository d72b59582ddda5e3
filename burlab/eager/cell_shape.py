"""The shape of a `%%cpp` cell: declarations, one after the other. Whatever is not one is refused by its line.

Cling takes statements and expressions among the declarations. It never runs the ones, and the others end the process:
a statement that stands in no function has no scope.
"""

from typing import NoReturn

from burlab.errors import CompileError

from .cell_tokens import Token
from .cell_words import EXPRESSIONS, KEYWORDS, STATEMENTS, TYPES

_CLASSES = frozenset(("struct", "class", "union", "enum"))
_ASIDE = frozenset(("decltype", "alignas", "__attribute__", "__typeof__", "__typeof", "typeof", "noexcept", "throw"))
_PARTNER = {"(": ")", "[": "]", "{": "}"}
ADVICE = (
    "Statements stand in functions, which Python calls: write `void run() { ... }` in the cell, and `run()` in the "
    "next one"
)


def unsure(row: list[Token], name: str = "cell") -> list[int]:
    """Raise CompileError unless a cell, after the preprocessor, is a row of declarations.

    Gives the indices of tokens at which begins what only the compiler can tell from an expression, such as `a * b;`.
    """
    return _Cell(row, name).walk()


class _Cell:
    def __init__(self, row: list[Token], name: str) -> None:
        self.row, self.name, self.at = row, name, 0
        self.opened: list[Token] = []  # braces of namespaces
        self.doubtful: list[int] = []

    def walk(self) -> list[int]:
        while self.at < len(self.row):
            self._step()
        if self.opened:
            self._refuse(self.opened[-1], "this brace is never closed", "Close it")
        return self.doubtful

    def _step(self) -> None:
        """Take what may stand before a declaration, a brace of a namespace, or a declaration."""
        token, text = self.row[self.at], self._text()
        if text in (";", "__extension__"):
            self.at += 1
        elif text in ("__attribute__", "alignas", "_Pragma"):
            self.at += 1
            self._skip()
        elif text == "[" and self._text(1) == "[":
            self._skip()
        elif text == "}":
            if not self.opened:
                self._refuse(
                    token, "extraneous closing brace: it closes nothing that the cell has opened", "Leave it out"
                )
            self.opened.pop()
            self.at += 1
        elif text == "namespace" or (text == "inline" and self._text(1) == "namespace"):
            while self._text() not in ("{", ";", "}", ""):
                self._skip()
            self._enter()
        elif text == "extern" and self.row[self.at + 1 : self.at + 2] and self.row[self.at + 1].kind == "literal":
            self.at += 2
            if self._text() == "{":
                self._enter()
        else:
            self._declaration()

    def _enter(self) -> None:
        if self._text() == "{":
            self.opened.append(self.row[self.at])
            self.at += 1

    def _declaration(self) -> None:
        """One declaration: up to its semicolon, or the brace that closes a function."""
        first, text = self.at, self._text()
        token = self.row[first]
        if token.kind == "literal" or text in EXPRESSIONS or (token.kind == "sign" and text not in ("::", "{", "$")):
            self._refuse(token, "an expression stands outside of functions, where nothing runs it", ADVICE)
        if token.kind == "name" and text not in KEYWORDS and self._text(1) == ":":
            self._refuse(token, "a label stands outside of functions", ADVICE)
        head: list[str] = []
        while self._text() not in (";", "}", ""):
            text = self._text()
            if text == "{":
                if self._brace(head):
                    return
            elif self._is_statement(head):
                self._refuse(self.row[self.at], f"`{text}` begins a statement outside of functions", ADVICE)
            else:
                self._word(head)
        if self._text() == ";":
            self._finished(head, first)

    def _is_statement(self, head: list[str]) -> bool:
        text, before = self._text(), head[-1] if head else ""
        if text in ("try", "throw"):
            return "()" not in head and "=" not in head
        return text in STATEMENTS and not (text == "default" and before == "=")

    def _word(self, head: list[str]) -> None:
        """Add a token, or a group in brackets, to what the declaration has so far."""
        text, before = self._text(), head[-1] if head else ""
        if text == "template" and self._text(1) == "<":
            self.at += 1
            self._angles()
            head.append("template<>")
            return
        constraint = before == "requires" or (before in ("&&", "||") and "requires" in head and "()" not in head)
        start = self.at
        self._skip()
        if text in ("(", "["):
            group = f"{text}{_PARTNER[text]}"
            head.append("aside" if group == "()" and (before in _ASIDE or constraint) else group)
        elif text == "[" or self.row[start].kind == "literal":
            head.append("literal")
        else:
            head.append("operator=" if text == "=" and before == "operator" else text)

    def _brace(self, head: list[str]) -> bool:
        """Skip a group in braces, and tell whether it ends the declaration, as the body of a function does."""
        token, before = self.row[self.at], head[-1] if head else ""
        function = "()" in head
        initial = "=" in head or before == "requires" or head[-2:] == ["requires", "aside"]
        members = not function and _CLASSES.intersection(head) and "{}" not in head
        variable = not function and len(head) > 1 and (before in (">", "[]") or before.isidentifier())
        if initial or members:
            body = False
        elif function:
            colon = ":" in head[head.index("()") :]
            body = not (colon and (before == ">" or before.isidentifier()))
            if body and _lacks_type(head):
                self._refuse(token, "a block stands outside of functions", f"A function needs a type. {ADVICE}")
        elif variable:
            body = False
        else:
            self._refuse(token, "a block stands outside of functions", ADVICE)
        self._skip()
        head.append("{}")
        if body and "try" in head:
            while self._text() == "catch":
                for _ in range(3):
                    self._skip()
        return body

    def _finished(self, head: list[str], first: int) -> None:
        """See that a declaration without a body is one."""
        token = self.row[first]
        if token.text in TYPES:
            if head[1:2] == ["()"]:
                self.doubtful.append(first)
        elif token.text == "::" or token.text not in KEYWORDS:
            rest = head[_name_length(head) :]
            if (
                rest == ["()"]
                or rest[:1] in (["*"], ["&"], ["&&"])
                or rest[:2] in (["()", "()"], ["()", "[]"], ["()", "="])
            ):
                self.doubtful.append(first)
            elif not (rest and (rest[0] in KEYWORDS or rest[0].isidentifier() or rest[:2] == ["()", "->"])):
                self._refuse(token, "an expression stands outside of functions, where nothing runs it", ADVICE)

    def _text(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.row[place].text if place < len(self.row) else ""

    def _skip(self) -> None:
        """Step over one token, or over a group in brackets with all that is in it."""
        closing: list[str] = []
        while self.at < len(self.row):
            text = self.row[self.at].text if self.row[self.at].kind == "sign" else ""
            self.at += 1
            if text in _PARTNER:
                closing.append(_PARTNER[text])
            elif closing and text == closing[-1]:
                closing.pop()
            if not closing:
                return

    def _angles(self) -> None:
        """Step over the parameters of a template."""
        depth = 0
        while self.at < len(self.row):
            depth += (self._text() == "<") - (self._text() == ">")
            self._skip()
            if not depth:
                return

    def _refuse(self, token: Token, what: str, advice: str) -> NoReturn:
        raise CompileError(f"{self.name}:{token.line}:{token.start}: error: {what}. {advice}.")


def _name_length(head: list[str]) -> int:
    """Return the number of tokens of a declaration that are a name, such as `::std::vector<int>`."""
    at = 0
    while at < len(head):
        if head[at] == "::":
            at += 1
        elif head[at].isidentifier() and (at == 0 or head[at - 1] in ("::", "template<>")):
            at += 1
            at += _angles_length(head[at:])
        else:
            break
    return at


def _angles_length(tokens: list[str]) -> int:
    depth = 0
    for at, token in enumerate(tokens):
        depth += {"<": 1, "<<": 2, ">": -1}.get(token, 0)
        if depth <= 0:
            return at + 1 if token == ">" else 0
    return 0


def _lacks_type(head: list[str]) -> bool:
    """Return True if only a name is before the parameters, and not that of a constructor, destructor or conversion."""
    before = head[: head.index("()")]
    if before[-1:] == ["~"] or "~" in before or "operator" in before or not before:
        return not before
    length = _name_length(before)
    names = [word for word in before if word.isidentifier()]
    return length == len(before) and names[-1:] != names[-2:-1] and "<" not in before
