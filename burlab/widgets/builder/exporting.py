"""From a document to a function, a Graph, and text in other languages."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from burlab.errors import GraphError
from burlab.graph import Graph, Node
from burlab.graph.node import as_node, native_dtype
from burlab.runtime.dtypes import computed_in
from burlab.transforms import compile as compile_function, jit

from .document import Document
from .evaluate import evaluate, known, layer_of, rule_of


def check(document: Document) -> int:
    """The key of the output. Raises GraphError, with the reason, if it cannot be computed."""
    root = document.root
    if root is None:
        raise GraphError("the builder is empty. Add an input and an operation.")
    result = evaluate(document)
    if root in result.values:
        return root
    broken = [key for key in needed(document, root) if key in result.faults or key in result.waiting]
    key = next((key for key in broken if not result.waiting.get(key, "").startswith("waits")), root)
    reason = result.faults.get(key) or result.waiting[key]
    raise GraphError(f"{document[root].name} cannot be computed; at {document[key].name}: {reason}")


def needed(document: Document, root: int) -> list[int]:
    """The keys that an output depends on, in order, itself last."""
    found = {root}
    for key in reversed(document.order):
        if key in found:
            found.update(x for x in document.blocks[key].operands if x is not None)
    return [key for key in document.order if key in found]


def computed(document: Document, root: int, given: Mapping[int, Any]) -> Node:
    """The output as a node, over the values that are given by key: of leaves, and layers in the place of their own."""
    at: dict[int, Node] = {}
    for key in needed(document, root):
        block = document.blocks[key]
        if block.of.is_leaf:
            at[key] = as_node(given[key] if key in given else known(block))
        else:
            operands = [at[x] for x in block.operands if x is not None]
            layer = () if block.of.layer is None else (given.get(key) or layer_of(block.kind, block.options),)
            at[key] = as_node(rule_of(block.kind, block.options)(*layer, *operands))
    return at[root]


def function_of(document: Document) -> Callable[..., Any]:
    """The function of the inputs, in their order: compiled at its first call, and known to bl.grad and the others.

    Raises GraphError where the output cannot be computed.
    """
    root, inputs = check(document), document.inputs

    def built(*values: Any) -> Any:
        if len(values) != len(inputs):
            names = ", ".join(document[key].name for key in inputs) or "none"
            raise TypeError(f"this graph has the inputs {names}, got {len(values)} arguments.")
        return computed(document, root, dict(zip(inputs, values, strict=True)))

    built.__doc__ = f"Built by hand. Arguments: {', '.join(document[key].name for key in inputs) or 'none'}."
    return jit(built)


def graph_of(document: Document) -> Graph:
    """The graph from the inputs to the output. Raises GraphError where the output cannot be computed."""
    root, inputs = check(document), document.inputs
    nodes: list[Node] = []
    for key in inputs:
        value = np.asarray(known(document[key]))
        dtype = computed_in(native_dtype(value.dtype))
        nodes.append(Node("input", (), document[key].label or f"x{len(nodes)}", value.shape, dtype))
    return Graph(tuple(nodes), (computed(document, root, dict(zip(inputs, nodes, strict=True))),))


def code_of(document: Document, file: str = "") -> str:
    """Python code that builds the document again, in a variable `b`.

    >>> document, x = Document().add("input", label="x", options={"value": 3.0})
    >>> print(code_of(document.add("square", [x])[0]))
    import burlab as bl
    <BLANKLINE>
    b = bl.GraphBuilder()
    n1 = b.add("input", label="x", value=3.0)
    n2 = b.add("square", n1)
    """
    names = {key: f"n{k}" for k, key in enumerate(document.blocks, 1)}
    lines, late, seen = list[str](), list[str](), set[int]()
    for key, block in document.blocks.items():
        operands: list[str] = []
        for k, source in enumerate(block.operands):
            operands.append(names[source] if source in seen and source else "None")
            if source is not None and source not in seen:
                late.append(f"b.connect({names[source]}, {names[key]}, {k})")
        while operands and operands[-1] == "None" and not block.of.many:
            operands.pop()
        defaults = {option.name: option.default for option in block.of.options}
        given = {"label": block.label, "place": block.place} | dict(block.options)
        arguments = [
            f"{n}={_written(v)}" for n, v in given.items() if v not in ("", None) and _differs(v, defaults.get(n))
        ]
        lines.append(
            f"{names[key]} = b.add({', '.join([repr(block.kind), *operands, *arguments])})".replace("'", '"', 2)
        )
        seen.add(key)
    chosen = [] if document.output is None else [f"b.choose({names[document.output]})"]
    return "\n".join(["import burlab as bl", "", f"b = bl.GraphBuilder({file})", *lines, *late, *chosen])


def _differs(value: Any, default: Any) -> bool:
    return type(value) is not type(default) or repr(value) != repr(default)


def _written(value: Any) -> str:
    """A literal as Python code."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_written, cast('tuple[Any, ...]', value)))}]"
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return f'"{value}"' if isinstance(value, str) and value.isidentifier() else repr(value)


def cpp_of(document: Document) -> str:
    """The output as a C++ function, as `Kernel.to_cpp` writes it, for inputs of these shapes."""
    function = function_of(document)
    return compile_function(function, *(np.asarray(known(document[key])) for key in document.inputs)).to_cpp()


def dot_of(document: Document) -> str:
    """Graphviz's DOT: blocks with their values and gradients. Labels are quoted."""
    result = evaluate(document)
    lines = ["digraph builder {", '  rankdir="LR"; node [shape=box, fontname="Helvetica", fontsize=11];']
    for key, block in document.blocks.items():
        words = [block.label, block.of.symbol or block.kind]
        words += [f"value {short(result.values[key])}"] if key in result.values else []
        words += [f"grad {short(result.gradients[key])}"] if key in result.gradients else []
        rim = ", peripheries=2" if key == document.root else ""
        lines.append(f"  n{key} [label={_quoted(chr(10).join(filter(None, words)))}{rim}];")
        lines += [f"  n{x} -> n{key};" for x in block.operands if x is not None]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def short(value: Any) -> str:
    """A value in few letters.

    >>> short(612.5), short(np.float64(1e-9)), short(np.arange(9.0)), short(np.ones((2, 2)))
    ('612.5', '1e-09', '[0, 1, 2, … 8]', '[[1, 1], [1, 1]]')
    """
    array = np.asarray(value)
    if array.ndim == 0:
        return str(array.item()) if array.dtype.kind != "f" else f"{array.item():.6g}"
    if array.size == 0:
        return f"empty {array.shape}"
    if array.size <= 4 and array.ndim <= 2:
        return f"[{', '.join(map(short, array))}]"
    flat = array.ravel()
    words = [f"{x:.3g}" if array.dtype.kind == "f" else str(x) for x in (*flat[:3], flat[-1])]
    return f"[{', '.join(words[:3])}, … {words[3]}]"
