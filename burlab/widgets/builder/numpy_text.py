"""The output of a document as a function in NumPy."""

from typing import Any, cast

import numpy as np

from burlab.errors import GraphError

from .document import Document, GraphBlock
from .evaluate import known
from .exporting import check
from .expressions import ExpressionWriter, TextPart, names_of

_INFIX = {"add": ("+", 1), "sub": ("-", 1), "mul": ("*", 2), "div": ("/", 2), "matmul": ("@", 2)} | {
    "less": ("<", 0), "less_equal": ("<=", 0), "greater": (">", 0), "greater_equal": (">=", 0), "equal": ("==", 0),
    "not_equal": ("!=", 0),
}  # fmt: skip
_BURLAB = {"relu", "sigmoid", "softplus", "gelu", "silu", "erf", "softmax", "log_softmax", "logsumexp"} | {
    "stop_gradient"
}
_LISTS = {"stack", "concatenate"}  # whose arguments are one list


def numpy_of(document: Document) -> str:
    """The output as a function in NumPy, which `bl.grad` and all others take.

    Raises:
        GraphError: The output cannot be computed, or is made by layers, which hold weights.

    >>> from .formula_blocks import add_formula
    >>> print(numpy_of(add_formula(Document(), "a = -41; b = 2; (a + b - (a*b + b**3))**2 / 2")))
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def loss(a, b):
        return (a + b - (a * b + b ** 3)) ** 2 / 2
    """
    root, names = check(document), names_of(document)
    writer = ExpressionWriter(document, _numpy, _numpy_leaf, str)
    result = writer.output(root, names)
    body = [f"    {name} = {text}" for name, text in writer.lines] + [f"    return {result}"]
    arguments = ", ".join(names[key] for key in document.inputs)
    head = ["import numpy as np"] + (["import burlab as bl"] if any("bl." in line for line in body) else [])
    return "\n".join([*head, "", "", f"def loss({arguments}):", *body])


def _numpy_leaf(block: GraphBlock) -> TextPart:
    value = np.asarray(known(block))
    if value.ndim:
        return TextPart(f"np.array({_entries(block.option('value'))}, np.{value.dtype})")
    text = repr(value.item()) if np.isfinite(value) else f'float("{value}")'
    return TextPart(text, 3 if text.startswith("-") else 5)


def _entries(value: Any) -> str:
    """Numbers as Python code."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_entries, cast('tuple[Any, ...]', value)))}]"
    return repr(value) if not isinstance(value, float) or np.isfinite(value) else f'float("{value}")'


def _numpy(block: GraphBlock, operands: list[TextPart]) -> TextPart:
    kind = block.kind
    if kind in _INFIX:
        sign, holds = _INFIX[kind]
        left, right = operands
        return TextPart(f"{left.within(max(holds, 1))} {sign} {right.within(holds + 1)}", holds)
    if kind in ("power", "cube"):
        exponent = operands[1].within(5) if kind == "power" else "3"
        return TextPart(f"{operands[0].within(5)} ** {exponent}", 4)
    if kind == "neg":
        return TextPart(f"-{operands[0].within(3)}", 3)
    if kind == "astype":
        return TextPart(f"np.astype({operands[0].text}, {block.option('dtype')!r})")
    if kind == "element":
        return TextPart(f"np.take({operands[0].text}, {block.option('index')}, axis={block.option('axis')})")
    if block.of.layer is not None or block.of.group == "graph":
        raise GraphError(f"{block.name} has no text in NumPy: layers hold weights. Export Python or JSON instead.")
    texts = [operand.text for operand in operands]
    if kind == "einsum":
        return TextPart(f"np.einsum({', '.join([repr(block.option('subscripts')), *texts])})")
    given = [f"[{', '.join(texts)}]"] if kind in _LISTS else texts
    options = [f"{name}={value!r}" for name, value in _numpy_options(block).items()]
    return TextPart(f"{_called(kind)}({', '.join([*given, *options])})")


def _numpy_options(block: GraphBlock) -> dict[str, Any]:
    """Return all options whose default may be another in NumPy."""
    return {name: value for name, value in block.options if value is not None}


def _called(kind: str) -> str:
    if kind.startswith("nn.") or kind in _BURLAB:
        return f"bl.{kind}"
    return {"norm": "np.linalg.norm", "erfc": "bl.scipy.special.erfc"}.get(kind, f"np.{kind}")
