"""A traceable function that compiles itself: one kernel for each combination of shapes, dtypes and static arguments."""

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.graph.node import Node, native_dtype
from burlab.graph.trace import Spec, Static, specs_of, trace

from .executable import Executable, build

P = ParamSpec("P")
R = TypeVar("R")


class Program:
    """A compiled call: which leaves go into the kernel, and how its outputs become the result."""

    __slots__ = ("executable", "flat", "result", "single", "specs", "structure")

    def __init__(
        self, executable: Executable, specs: list[Spec | Static], result: tree.TreeDef, structure: tree.TreeDef
    ) -> None:
        self.executable = executable
        self.specs = specs
        self.result = result
        self.structure = structure
        self.single = result.is_leaf()
        # Every argument is an array: what is called may go to the kernel as it is, and the kernel's gate checks it.
        self.flat = all(isinstance(s, Spec) for s in specs) and all(c.is_leaf() for c in structure.children())

    def __call__(self, leaves: list[Any], out: Any = None) -> Any:
        """The result for leaves in order. Raises ArgumentError where a static one is another."""
        arrays: list[Any] = []
        for leaf, spec in zip(leaves, self.specs, strict=True):
            if isinstance(spec, Spec):
                arrays.append(as_input(leaf, spec))
            elif type(leaf) is not spec.kind or leaf != spec.value:
                raise ArgumentError(
                    f"this kernel was compiled for the static argument {spec.value!r}, got {leaf!r}. "
                    "Compile another, or use bl.jit(f), which compiles one per value."
                )
        options = {} if out is None else {"out": tuple(tree.flatten(out)[0])}
        outputs = self.executable(*arrays, **options)
        return outputs[0] if self.single else tree.unflatten(self.result, outputs)


def as_input(leaf: Any, spec: Spec) -> Any:
    """What the kernel takes for a traced leaf: arrays of other libraries and of small dtypes are converted."""
    if isinstance(leaf, float):
        return leaf
    array: np.ndarray[Any, np.dtype[Any]] = np.asarray(leaf)
    return array.astype(spec.dtype, copy=False) if native_dtype(array.dtype) == spec.dtype else array


class Function(Generic[P, R]):
    """A function of pytrees of arrays, run by compiled kernels; called with traced values it adds to their graph.

    rule: what is traced. The second call with the same shapes compiles nothing. What the function reads from its
    surroundings (globals, closures) is read when a kernel is compiled and stays as it was then.
    """

    def __init__(self, rule: Callable[P, R], like: Callable[..., Any] | None = None, name: str | None = None) -> None:
        functools.update_wrapper(self, like or rule, updated=())
        if name is not None:
            self.__name__ = self.__qualname__ = name
        self._rule = rule
        self._programs: dict[Any, Program] = {}
        self._quick: dict[Any, Program] = {}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result for these arguments."""
        quick = None if kwargs else _quick_key(args)
        if quick is not None and (program := self._quick.get(quick)) is not None:
            outputs = program.executable(*args)
            return outputs[0] if program.single else tree.unflatten(program.result, outputs)
        leaves, structure = tree.flatten((args, kwargs))
        if any(type(leaf) is Node for leaf in leaves):
            return self._rule(*args, **kwargs)
        specs = specs_of(leaves, lambda: tree.leaf_names((args, kwargs)))
        key = (structure, *specs)
        program = self._programs.get(key)
        if program is None:
            traced = trace(self._rule, args, kwargs)
            program = self._programs[key] = Program(build(traced.graph), specs, traced.result, structure)
        if quick is not None:
            self._quick[quick] = program
        return program(leaves)

    def __repr__(self) -> str:
        return f"<burlab function {self.__name__}, {len(self._programs)} kernels>"


_QUICK_SCALARS = (float, np.float64, np.float32)


def _quick_key(args: tuple[Any, ...]) -> Any:
    """A key that costs little, for arguments that are plain arrays of native dtypes and floats; None for others."""
    key: list[Any] = []
    for x in args:
        if type(x) is np.ndarray:
            key += (x.shape, x.dtype)
        elif type(x) in _QUICK_SCALARS:
            key.append(type(x))
        else:
            return None
    return tuple(key)
