"""Formulas of the steps of a sweep.

It is read off the nodes that the rules of operations add to a graph, and the structs of scalar operations write their
own, so that it cannot differ from what is computed.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from burlab.eager.ancestry import Recorded
from burlab.graph import Node
from burlab.graph.formula import formulas, load_formulas
from burlab.graph.scalar import parsed, scalar_ops
from burlab.graph.show import label

from .network import known

_LETTER = re.compile(r"(?<![\w.])[a-hy](?![\w(])")
_ATOM = re.compile(r"[^\s]*\(.*\)|[^\s()]+")
_SIGNS = {" * ": "·", " - ": " − ", "**2": "²", "**3": "³"}
_TIMES_RECIPROCAL = re.compile(r" \* (?:1 / |\(1 / (\w+)\))")
LETTERS = "abcdefgh"


def typeset(formula: str) -> str:
    """A formula of Python as one writes it on paper.

    >>> typeset("2 * a - y**2"), typeset("-y * (1 / a)")
    ('2·a − y²', '−y / a')
    """
    formula = _TIMES_RECIPROCAL.sub(r" / \1", formula)
    for sign, written in _SIGNS.items():
        formula = formula.replace(sign, written)
    return re.sub(r"(?<!\w)-(?=[\w(.])", "−", formula)


def filled(formula: str, names: Mapping[str, str]) -> str:
    """A formula with other names for its letters, in parentheses where they are longer.

    >>> filled("1 - y**2", {"y": "tanh(a)"}), filled("a * b", {"a": "x + 1", "b": "c"})
    ('1 - tanh(a)**2', '(x + 1) * c')
    """
    alone = _LETTER.fullmatch(formula)

    def replaced(found: re.Match[str]) -> str:
        text = names.get(found[0], found[0])
        return text if alone or _ATOM.fullmatch(text) else f"({text})"

    return _LETTER.sub(replaced, formula)


def load_rules(operations: Sequence[str]) -> None:
    """Have the compiler write the formulas of these operations, and of others that reverse sweeps need."""
    rows = scalar_ops()
    load_formulas([*{op.partition("'")[0] for op in operations if op.partition("'")[0] in rows}, "add", "mul", "neg"])


def described(n: Node, names: Mapping[Node, str]) -> str:
    """Return the formula of a node, down to the nodes that have names."""
    if n in names:
        return names[n]
    if (number := known(n)) is not None:
        return number
    operands = [described(x, names) for x in n.inputs]
    if n.row.scalar.name in scalar_ops():
        row, by = parsed(n.op)
        if len(by) < 2:
            formula = formulas(row.name)
            letters = dict(zip([*LETTERS[: row.arity], *("y" for _ in by)], operands, strict=True))
            return filled(formula.partials[by[0]] if by else formula.value, letters)
    return f"{label(n)}({', '.join(operands)})"


def names_of(n: Node) -> dict[Node, str]:
    """Letters for what a node is computed from, and y for itself."""
    inputs = list(dict.fromkeys(x for x in n.inputs if known(x) is None))
    return {**{x: LETTERS[k] if k < len(LETTERS) else f"x{k}" for k, x in enumerate(inputs)}, n: "y"}


def forward_rule(n: Node) -> str:
    """The formula of a node."""
    words = names_of(n)
    return f"y = {typeset(described(n, {x: word for x, word in words.items() if x is not n}))}"


def reverse_rule(n: Node, cotangent: Node, operand: Node, share: Node) -> str:
    """Return the share of the cotangent that an operand receives, with a bar over the letter of the value.

    >>> from burlab.graph.numpy_api.promotion import node
    >>> import numpy as np
    >>> x, g = (Node("input", (), name, (), np.dtype(float)) for name in "xg")
    >>> y = node("tanh", x)
    >>> reverse_rule(y, g, x, node("mul", g, Node("tanh'0", (y, y), None, (), y.dtype)))
    'ā += ȳ·(1 − y²)'
    """
    words = {**names_of(n), cotangent: "ȳ"}
    return f"{_barred(words[operand])} += {typeset(described(share, words))}"


def recorded_names(n: Recorded) -> list[str]:
    """Return the names of the operands of a node of a tape in its rules: a letter each, and constants their numbers."""
    letters: dict[int, str] = {}
    return [
        letters.setdefault(parent, LETTERS[len(letters)] if len(letters) < len(LETTERS) else f"x{len(letters)}")
        if parent
        else f"{number:.4g}"
        for parent, number in n.operands
    ]


def recorded_forward(n: Recorded) -> str:
    """The formula of a node of a tape."""
    names = recorded_names(n)
    if n.operation not in scalar_ops():
        return f"y = {n.operation}({', '.join(names)})"
    return f"y = {typeset(filled(formulas(n.operation).value, dict(zip(LETTERS, names, strict=False))))}"


def recorded_reverse(n: Recorded, k: int) -> str:
    """Return the share of the cotangent that operand k of a node of a tape receives."""
    names = recorded_names(n)
    if n.operation not in scalar_ops():
        return f"{_barred(names[k])} += ȳ·∂y/∂{names[k]}"
    partial = filled(formulas(n.operation).partials[k], dict(zip(LETTERS, names, strict=False)))
    return f"{_barred(names[k])} += {_product(partial)}"


def _product(partial: str) -> str:
    """ȳ times a partial, as the sweep takes it: nothing is multiplied by 1, and by -1 it is negated."""
    simple: dict[str, str] = {"1": "ȳ", "-1": "−ȳ", "0": "0"}
    return simple.get(partial) or typeset(filled("y * b", {"y": "ȳ", "b": partial}))


def _barred(letter: str) -> str:
    """With a bar over its first letter: as one character where there is one."""
    return unicodedata.normalize("NFC", f"{letter[0]}\N{COMBINING MACRON}{letter[1:]}")
