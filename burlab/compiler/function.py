"""A traceable function that compiles itself: one kernel for each combination of shapes, dtypes and static arguments."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import numpy as np

from burlab.errors import ArgumentError, TraceError
from burlab.graph import tree
from burlab.graph.node import Node, native_dtype
from burlab.graph.tracing.closure import changes_by_trace, content_of, guards
from burlab.graph.tracing.left import LeftByTraces, Place
from burlab.graph.tracing.reach import readings
from burlab.graph.tracing.trace import Spec, Static, argument_names, specs_of, trace
from burlab.runtime.checks.numbers import shown
from burlab.runtime.coerce import coerce_output
from burlab.runtime.dtypes import is_narrow_float
from burlab.runtime.gate import Guard, flat
from burlab.runtime.plain import as_array, is_numeric

from .executable import Executable, build
from .resident import Resident

_MAX_PROGRAMS = 256  # of a function; the one that was used the longest ago is traced again when it is called again

P = ParamSpec("P")
R = TypeVar("R")


class Program:
    """A compiled call: which leaves go into the kernel, and how its outputs become the result."""

    __slots__ = ("executable", "nesting", "result", "single", "specs", "structure")

    def __init__(
        self, executable: Executable, specs: list[Spec | Static], result: tree.TreeDef, structure: tree.TreeDef
    ) -> None:
        self.executable = executable
        self.specs = specs
        self.result = result
        self.structure = structure
        self.single = result.is_leaf()
        # Where every argument is an array, a call may go to the kernel as it is, and the kernel's gate checks it.
        flat = all(isinstance(s, Spec) for s in specs) and all(c.is_leaf() for c in structure.children())
        self.nesting = _postfix(result) if flat else None

    def direct(
        self, fallback: Callable[..., Any], *, takes_out: bool, watched: Sequence[Guard] = ()
    ) -> Callable[..., Any] | None:
        """A builtin function from arguments to result: no Python runs between caller and kernel.

        What the gate refuses goes to `fallback` as it was passed. None where arguments or result are nested in more
        than tuples, or an argument is static. takes_out: whether the keyword `out` means arrays for the result.
        watched: captured values that must be unchanged.
        """
        if self.nesting is None:
            return None
        weak = {k for k, spec in enumerate(self.specs) if isinstance(spec, Spec) and spec.weak}
        count = len(
            self.executable.outputs
        )  # the gate takes one array for a tuple of one, too, which is not its structure
        takes_out = takes_out and (self.single or (count > 1 and [*self.nesting, 255] == [*flat(count)]))
        return self.executable.gate(
            fallback=fallback, tree=bytes([*self.nesting, 255]), weak=weak, takes_out=takes_out, guards=watched
        )

    def __call__(self, leaves: list[Any], out: tree.Tree = None) -> tree.Tree:
        """The result for leaves in order, or `out`, into whose arrays it is written.

        Raises ArgumentError where a static leaf is another, and where `out` is complex or has another structure.
        """
        if out is not None:
            buffers = self._buffers(out)
            self.executable(*self.arrays(leaves), out=buffers)
            return out
        outputs = self.executable(*self.arrays(leaves))
        return outputs[0] if self.single else tree.unflatten(self.result, outputs)

    def _buffers(self, out: tree.Tree) -> tuple[Any, ...]:
        """The arrays of `out`, checked under the names that they have in it."""
        if tree.has_complex(out):
            raise ArgumentError(
                "out holds a complex array, but a kernel writes real and imaginary part into arrays of their own. "
                "Leave out away, or return y.real and y.imag."
            )
        buffers, structure = tree.flatten(out)
        if structure != self.result:
            raise ArgumentError(
                f"out is {tree.describe(structure)}, but the result is {tree.describe(self.result)}. Pass an array for "
                "each array and number of the result, in the same structure."
            )
        names = [f"the result{path}" for path in tree.leaf_names(out)]
        specs = [replace(spec, name=name) for spec, name in zip(self.executable.outputs, names, strict=True)]
        return tuple(coerce_output(x, spec) for x, spec in zip(buffers, specs, strict=True))

    def arrays(self, leaves: list[Any]) -> list[Any]:
        """Return the arrays that the kernel takes. Raises ArgumentError where a static leaf is another."""
        arrays: list[Any] = []
        for leaf, spec in zip(leaves, self.specs, strict=True):
            if isinstance(spec, Spec):
                arrays.append(as_input(leaf, spec))
            elif type(leaf) is not spec.kind or leaf != spec.value:
                raise ArgumentError(
                    f"this kernel was compiled for the static argument {shown(spec.value)}, got {shown(leaf)}. "
                    "Compile another, or use bl.jit(f), which compiles one per value."
                )
        return arrays


def as_input(leaf: Any, spec: Spec) -> Any:
    """Return the kernel's argument for a traced leaf: arrays of other libraries and of small dtypes are converted."""
    if type(leaf) is np.ndarray and leaf.dtype == spec.dtype:
        return leaf
    if isinstance(leaf, float) or not is_numeric(leaf):  # the kernel refuses other objects, with the leaf's name
        return leaf
    array = as_array(leaf, "an argument")
    dtype = native_dtype(array.dtype)
    fits = dtype == spec.dtype or (is_narrow_float(dtype) and spec.dtype == np.float32)
    return array.astype(spec.dtype, copy=False) if fits else array


def _postfix(result: tree.TreeDef) -> list[int] | None:
    """A tree of tuples as the gate reads it (`runtime/gate.py`), None for one with other nodes or too wide for it."""
    if result.is_leaf():
        return [0]
    children = result.children()
    parts = [_postfix(child) for child in children]
    if result.type is not tuple or len(children) > 240 or None in parts:
        return None
    return [*(code for part in parts for code in part or ()), len(children) + 1]


class Function(Resident, Generic[P, R]):
    """A function of pytrees of arrays, run by compiled kernels; called with traced values it adds to their graph.

    rule: what is traced. The second call with the same shapes compiles nothing. What the function reads from around it
    (globals, closures, helper functions, arrays of any size, attributes of objects, classes and modules) belongs to the
    program: where that has changed, another kernel is compiled. Large arrays are looked through at each call, at the
    speed of memory; one that is read-only (x.flags.writeable = False) is not. reads: the functions whose surroundings
    count. threads: that compute each step of a kernel. The keyword `out`, unless the function has such a parameter:
    arrays in the structure of the result, which are written and returned.
    """

    # What a call looks up: first `_find`, then, as soon as two calls in a row are alike, the gate of their kernel.
    __slots__ = ("__call__", "__dict__", "__weakref__")

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """The result for these arguments."""
            ...

    def __init__(
        self,
        rule: Callable[P, R],
        like: Callable[..., Any] | None = None,
        name: str | None = None,
        reads: tuple[Callable[..., Any], ...] | None = None,
        threads: int = 1,
    ) -> None:
        functools.update_wrapper(self, like or rule, updated=())
        self.__burlab_reads__ = (like or rule,) if reads is None else reads
        if name is not None or not hasattr(self, "__name__"):  # an object with __call__ has none
            self.__name__ = self.__qualname__ = name or type(like or rule).__name__
        self._rule = rule
        self._threads = threads
        self._programs: dict[Any, Program] = {}
        self._last: Program | None = None
        self._left: dict[Place, LeftByTraces] = {}  # what the function itself changes
        self.__call__ = self._find  # pyright: ignore[reportAttributeAccessIssue] - a slot, not the method it looks like

    def _find(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Trace, or find the kernel for these arguments; it answers from now on if it was the last one too."""
        out = kwargs.pop("out") if "out" in kwargs and self._takes_out else None
        leaves, structure = tree.flatten((args, kwargs))
        if any(type(leaf) is Node for leaf in leaves):
            self._check_no_out(out)
            args, kwargs = tree.unflatten(structure, leaves)  # with what buffers hold now
            return self._rule(*args, **kwargs)
        specs = specs_of(leaves, lambda: argument_names(self, args, kwargs))
        around = readings(self.__burlab_reads__)
        key = (structure, *specs, *content_of(around, self._left))
        program = self._programs.get(key)
        if program is None:
            traced = trace(self._rule, args, kwargs, like=self)
            if traced.open:  # the function captured a value of the trace around this call: it belongs to that graph
                self._check_no_out(out)
                return self._rule(*args, **kwargs)
            positional = structure.children()[0]
            program = Program(build(traced.graph, threads=self._threads), specs, traced.result, positional)
            # What the function changed itself, a counter or something that it keeps, needs no other trace.
            after = readings(self.__burlab_reads__)
            self._left |= changes_by_trace(around, after)
            key = (structure, *specs, *content_of(after, self._left))
            self._programs[key] = program
            if len(self._programs) > _MAX_PROGRAMS:
                self._programs.pop(next(iter(self._programs)), None)
        elif program is self._last and program.nesting is not None and not kwargs:
            self._open(program, guards(around))
        if program is not self._last:
            self._programs[key] = self._programs.pop(key, program)  # behind all that were used before
        self._last = program
        return program(leaves, out)

    @cached_property
    def _takes_out(self) -> bool:
        """Return True if the keyword `out` means arrays for the result, as it does unless `out` is a parameter.

        NumPy's functions mean the same by it.
        """
        if str(getattr(self, "__module__", "")).partition(".")[0] == "numpy":
            return True
        try:
            parameters = inspect.signature(self).parameters.values()
        except (TypeError, ValueError):  # of builtin functions some have none
            return True
        return all(p.name != "out" and p.kind is not p.VAR_KEYWORD for p in parameters)

    def _check_no_out(self, out: object) -> None:
        if out is not None:
            raise TraceError(
                f"{self.__name__} was called with out= inside of a traced function, where a result is a node of its "
                "graph and has no memory. Leave out away, and pass it to the outermost call."
            )

    def _open(self, program: Program, watched: Sequence[Guard] | None) -> None:
        """From now on call the gate of this kernel, as long as the watched values are unchanged."""
        if watched is not None:
            direct = program.direct(self._find, takes_out=self._takes_out, watched=watched)
            self.__call__ = direct or self._find  # pyright: ignore[reportAttributeAccessIssue] - a slot, as above

    def __repr__(self) -> str:
        return f"<burlab function {self.__name__}, {len(set(self._programs.values()))} kernels>"
