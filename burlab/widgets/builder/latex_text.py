"""The output of a document as LaTeX."""

from typing import Any

import numpy as np

from .document import Document, GraphBlock
from .evaluate import known
from .exporting import check
from .expressions import ExpressionWriter, TextPart, names_of

_INFIX = {"add": "+", "sub": "-", "less": "<", "less_equal": r"\leq", "greater": ">", "greater_equal": r"\geq"} | {
    "equal": "=", "not_equal": r"\ne",
}  # fmt: skip
_NAMES = {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan", "max", "min"}
_GREEK = set("alpha beta gamma delta epsilon theta lambda mu nu xi pi rho sigma tau phi chi psi omega".split())


def latex_of(document: Document) -> str:
    r"""The output as LaTeX; what several blocks read is defined above it.

    Raises:
        GraphError: The output cannot be computed.

    >>> from .formula_blocks import add_formula
    >>> print(latex_of(add_formula(Document(), "sqrt(alpha / 2) + x_1**2")))
    \sqrt{\frac{\alpha}{2}} + {x_{1}}^{2}
    """
    root = check(document)
    writer = ExpressionWriter(document, _latex, _latex_leaf, _latex_name)
    result = writer.output(root, names_of(document))
    if not writer.lines:
        return result
    rows = [f"{name} &= {text}" for name, text in writer.lines] + [f"f &= {result}"]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def _options(block: GraphBlock) -> dict[str, Any]:
    """Return the options that are not as they are by default."""
    defaults = {option.name: option.default for option in block.of.options}
    return {name: value for name, value in block.options if repr(value) != repr(defaults.get(name))}


def _latex_name(name: str) -> str:
    """A name with its index below, Greek letters by their names."""
    base, _, below = name.partition("_")
    if not below:
        base = name.rstrip("0123456789")
        below = name[len(base) :]
    letters = f"\\{base}" if base in _GREEK else base if len(base) == 1 else f"\\mathrm{{{base}}}"
    return f"{letters}_{{{below}}}".replace("_{}", "") if below.replace("_", "").isalnum() else letters


def _latex_leaf(block: GraphBlock) -> TextPart:
    value = np.asarray(known(block))
    if value.ndim == 0:
        return TextPart(_latex_number(value.item()), 3 if value < 0 else 5)
    rows = np.atleast_2d(value) if value.ndim <= 2 else value.reshape(1, -1)
    body = r" \\ ".join(" & ".join(_latex_number(x) for x in row.tolist()) for row in rows)
    return TextPart(f"\\begin{{pmatrix}} {body} \\end{{pmatrix}}")


def _latex_number(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    digits, mark, power = text.partition("e")
    text = {"inf": r"\infty", "-inf": r"-\infty", "nan": r"\mathrm{nan}"}.get(text, text)
    return f"{digits} \\cdot 10^{{{int(power)}}}" if mark else text


def _latex(block: GraphBlock, operands: list[TextPart]) -> TextPart:
    kind, texts = block.kind, [operand.text for operand in operands]
    if kind in _INFIX:
        holds = 1 if kind in ("add", "sub") else 0
        return TextPart(f"{operands[0].within(max(holds, 1))} {_INFIX[kind]} {operands[1].within(holds + 1)}", holds)
    if kind in ("mul", "matmul"):
        sign = r" \cdot " if kind == "mul" else r" \, "
        return TextPart(f"{operands[0].within(2)}{sign}{operands[1].within(3)}", 2)
    if kind in ("power", "square", "cube"):
        exponent = texts[1] if kind == "power" else {"square": "2", "cube": "3"}[kind]
        return TextPart(f"{{{operands[0].within(5)}}}^{{{exponent}}}", 4)
    forms = {
        "div": "\\frac{{{0}}}{{{1}}}", "sqrt": "\\sqrt{{{0}}}", "abs": "\\left|{0}\\right|", "exp": "e^{{{0}}}",
        "norm": "\\left\\|{0}\\right\\|",
    }  # fmt: skip
    if kind == "neg":
        return TextPart(f"-{operands[0].within(2)}", 2)
    if kind == "transpose":
        return TextPart(f"{{{operands[0].within(5)}}}^{{\\top}}", 4)
    if kind in forms:
        return TextPart(forms[kind].format(*texts), 4 if kind == "exp" else 5)
    name = kind.removeprefix("nn.").replace("_", "\\_")
    word = f"\\{kind}" if kind in _NAMES else f"\\operatorname{{{name}}}"
    options = ", ".join(f"\\mathrm{{{name}}}={value}" for name, value in _options(block).items())
    return TextPart(f"{word}\\left({', '.join(texts)}{f'; {options}' if options else ''}\\right)")
