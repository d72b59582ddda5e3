"""Running graphs in every gear, and the second engines that derivatives are compared with."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from burlab.compiler.executable import build
from burlab.graph import Graph, Node
from burlab.graph.file.verify import verify
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import constant

GEARS = ("replay", "compiled")


def inputs(*arrays: Any) -> tuple[Node, ...]:
    """A node for every array."""
    return tuple(Node("input", (), f"x{k}", np.shape(a), np.asarray(a).dtype) for k, a in enumerate(arrays))


def ones(like: Node) -> Node:
    """A node of ones."""
    return broadcast(constant(1.0, like.dtype), like.shape)


def run(outputs: Sequence[Node], xs: Sequence[Node], arrays: Sequence[Any], gear: str = "replay") -> list[Any]:
    """The values of nodes over inputs; the graph is verified on the way."""
    graph = Graph(tuple(xs), tuple(outputs))
    verify(graph)
    executable = build(graph, gear=gear)
    verify(executable.graph)
    return [np.asarray(y) for y in executable(*arrays)]


def jax_or_skip() -> Any:
    """JAX in float64, or the test is skipped."""
    jax = pytest.importorskip("jax", reason="JAX, the second engine, is not installed: make peers")
    jax.config.update("jax_enable_x64", True)
    return jax


def torch_or_skip() -> Any:
    """PyTorch, or the test is skipped."""
    return pytest.importorskip("torch", reason="PyTorch, the third engine, is not installed: make peers")


def on(module: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """f(np, ...) with its module: the same text runs on NumPy's protocols and on another engine's functions."""

    def g(*args: Any, **kwargs: Any) -> Any:
        return f(module, *args, **kwargs)

    g.__name__ = getattr(f, "__name__", "f")
    return g


def leaves(tree: Any) -> list[Any]:
    """The arrays of nested tuples, lists and dicts, in order."""
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for item in tree for leaf in leaves(item)]
    return [] if tree is None else [np.asarray(tree)]


def assert_close(got: Any, wanted: Any, rtol: float = 1e-11) -> None:
    """Equal structure and shapes, and equal within rtol of the largest entry of every array."""
    a, b = leaves(got), leaves(wanted)
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        assert x.shape == y.shape
        scale = max(1.0, float(np.max(np.abs(y), initial=0.0)))
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol * scale)
