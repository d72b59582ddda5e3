"""A Kernel: one function compiled for arguments of certain shapes, its derivatives, and everything there is to see."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.ir.plan import KernelPlan
from burlab.compiler.passes import make_plan
from burlab.errors import ArgumentError, DTypeError, ShapeError, TraceError
from burlab.graph import Graph, Node, tree
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import Spec, Static, argument_names, specs_of, trace
from burlab.runtime.coerce import Array, ArraySpec, coerce_input
from burlab.runtime.displayed import Pictured
from burlab.runtime.files import as_path, make_folder, write_whole
from burlab.runtime.plain import as_array

from .executable import Executable, build
from .function import Program, as_input
from .resident import Resident

# Modules of what few sessions do (profiles, memory, export) are imported there: together they take 5 ms.
if TYPE_CHECKING:
    from burlab.compiler.inspection.operation_counts import Counts
    from burlab.compiler.inspection.profile import Profile


class Kernel(Resident, Pictured):
    """The result of `burlab.compile`: `k(*args)`, `k.value_and_grad(*args)`, `k.hvp(*args, v)`, `k.map(*args)`.

    A kernel is for the shapes, dtypes and static arguments of its examples; it raises ShapeError, DTypeError or
    ArgumentError for others. It keeps no state between calls, so several threads may call it at once. Each of its
    programs is compiled at its first use; values that the function captures stay as they were then.
    """

    __slots__ = ("__call__", "__dict__", "__weakref__")  # a call reads first `_value`, then the gate

    def __init__(
        self,
        f: Callable[..., Any],
        examples: tuple[tree.Tree, ...],
        transforms: Mapping[str, Callable[..., Any]],
        options: dict[str, Any],
        threads: int,
        argnums: int | tuple[int, ...],
    ) -> None:
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self.__doc__ = inspect.getdoc(f)
        self.threads = threads
        self._argnums = argnums
        self._transforms = transforms
        self._options = options
        self._examples = examples
        self._structure = tree.flatten(examples)[1]
        self._specs = _specs(f, examples)
        self._programs: dict[str, Program] = {}
        self._opened: set[str] = set()
        self._direct: dict[str, Callable[..., Any]] = {}
        self.__call__ = self._value  # pyright: ignore[reportAttributeAccessIssue] - a slot, not the method it looks like

    if TYPE_CHECKING:

        def __call__(self, *args: tree.Tree, out: tree.Tree = None) -> tree.Tree:
            """The value: a number or array, or the tree that the function returns. out: arrays to write it into."""
            ...

    def _value(self, *args: tree.Tree, out: tree.Tree = None) -> tree.Tree:
        return self._run("value", args, out)

    def value_and_grad(self, *args: tree.Tree, out: tree.Tree = None) -> tree.Tree:
        """The pair (value, gradient); gradient is a tuple where `argnums` is a tuple. out: (value, gradient) arrays."""
        direct = self._direct.get("value_and_grad")  # for who keeps this method from before the first call
        return self._run("value_and_grad", args, out) if direct is None or out is not None else direct(*args)

    def hvp(self, *args_and_v: tree.Tree, out: tree.Tree = None) -> tree.Tree:
        """The Hessian times v, given the arguments and v last; v is shaped like the argument of `argnums`."""
        return self._run("hvp", args_and_v, out)

    def map(self, *args: tree.Tree) -> tree.Tree:
        """The value for many samples: arguments with a leading axis more have one entry per sample, others are shared.

        Runs in C++ on `threads` threads, whose number changes no bit; an interrupt stops it.
        """
        leaves, structure = tree.flatten(args)
        self._check_structure(structure, self._structure)
        program = self._program("value", self._examples)
        batched: list[bool] = []
        arrays: list[Any] = []
        for leaf, spec in zip(leaves, self._specs, strict=True):
            if isinstance(spec, Spec):
                array = as_array(as_input(leaf, spec), self.__name__)
                many = array.shape[1:] == spec.shape and array.ndim == len(spec.shape) + 1
                batched.append(many)
                arrays.append(array)
        sizes = {a.shape[0] for a, many in zip(arrays, batched, strict=True) if many}
        if len(sizes) != 1:
            raise ShapeError(
                f"{self.__name__}.map needs arguments with one more leading axis, all of one size; got sizes "
                f"{sorted(sizes)} with shapes {[a.shape for a in arrays]}."
            )
        outputs = program.executable.map(arrays, tuple(batched), sizes.pop(), threads=self.threads)
        return outputs[0] if program.single else tree.unflatten(program.result, outputs)

    @property
    def executable(self) -> Executable:
        """The function of value and gradient, or of the value alone; from flat arrays to flat arrays."""
        return self._main.executable

    def arrays(self, *args: tree.Tree) -> list[Array]:
        """These arguments, or without any the examples of `burlab.compile`, as the arrays that `executable` takes."""
        return self._arrays(args or self._examples)

    @property
    def graph(self) -> Graph:
        """The graph of the value, simplified. `gradient_graph` has the backward pass in it too."""
        return self._graph("value", self._examples)

    @property
    def gradient_graph(self) -> Graph:
        """The simplified graph of value and gradient together, which `value_and_grad` runs."""
        return self._graph("value_and_grad", self._examples)

    @property
    def source(self) -> str:
        """The generated C++ of value and gradient, or of the value where the function has no gradient."""
        return self._main.executable.source

    @property
    def memory(self) -> Mapping[str, int]:
        """Bytes by kind that one call of value and gradient needs; of the value where there is no gradient.

        parameters: the arguments of `argnums`; inputs: the others; outputs: the value; gradients; constants: known
        arrays. activations: memory of the call in which the forward pass leaves values for the backward pass; scratch:
        the rest of the call's memory.

        >>> import numpy as np, burlab as bl
        >>> k = bl.compile(lambda w, x: np.sum(np.tanh(x @ w) ** 2), np.ones((8, 8)), np.ones((4, 8)))
        >>> k.memory["parameters"], k.memory["inputs"], k.memory["gradients"]
        (512, 256, 512)
        """
        from burlab.compiler.inspection.live_bytes import footprint

        program = self._main
        is_value = program is self._programs.get("value")
        return footprint(program.executable, () if is_value else self._differentiated())

    def _differentiated(self) -> set[int]:
        """The numbers of the traced leaves that `argnums` means."""
        argnums = (self._argnums,) if isinstance(self._argnums, int) else self._argnums
        chosen = {k % len(self._examples) for k in argnums}
        owners = [k for k, example in enumerate(self._examples) for _ in tree.flatten(example)[0]]
        traced = [k for k, spec in zip(owners, self._specs, strict=True) if isinstance(spec, Spec)]
        return {number for number, owner in enumerate(traced) if owner in chosen}

    @property
    def counts(self) -> "Counts":
        """Elementary operations of one call of value and gradient, or of the value where there is no gradient.

        Counted from shapes, without compiling: see `bl.counts`, which counts the value alone for `bl.counts(k, x)`.

        >>> import numpy as np, burlab as bl
        >>> k = bl.compile(lambda w, x: np.sum((w @ x) ** 2), np.ones((3, 4)), np.ones(4))
        >>> k.counts.flops, bl.counts(k, np.ones((3, 4)), np.ones(4)).flops
        (45, 30)
        """
        from burlab.compiler.inspection.operation_counts import counts_of

        return counts_of(self._main_graph, self.__name__)

    @property
    def _main_graph(self) -> Graph:
        try:
            return self.gradient_graph
        except (ShapeError, DTypeError, TraceError):  # there is no gradient
            return self.graph

    def profile(self, *args: tree.Tree) -> "Profile":
        """Nanoseconds and bytes of each step of value and gradient, or of the value where there is no gradient.

        Measured in the fastest of many calls with these arguments, which takes a fraction of a second.

        >>> import numpy as np, burlab as bl
        >>> p = bl.compile(lambda x: np.sum(np.tanh(x) @ x), np.ones(100)).profile(np.ones(100))
        >>> p.total == sum(row.nanoseconds for row in p.rows), p.rows[-1].phase
        (True, 'residual')
        """
        from burlab.compiler.inspection.profile import profile

        return profile(self._main.executable, self._arrays(args), self.__name__)

    def _arrays(self, args: tuple[tree.Tree, ...]) -> list[Array]:
        """Arguments of the main program as arrays that fit."""
        leaves, structure = tree.flatten(args)
        self._check_structure(structure, self._structure)
        self._check_specs(leaves, args)
        program = self._main
        return [
            coerce_input(x, spec) for x, spec in zip(program.arrays(leaves), program.executable.inputs, strict=True)
        ]

    def to_cpp(self) -> str:
        """One C++20 header that computes `value_and_grad` (or the value) without burlab: see `export`."""
        from burlab.compiler.codegen.export import header, identifier

        return header(self._exported(), *self._faces(), identifier(self.__name__))

    def export(self, folder: "str | os.PathLike[str]", *args: tree.Tree) -> None:
        """Write standalone C++ into a folder: `<name>.hpp`, see `to_cpp`, and `main.cpp`.

        The program runs the function on `args` (the examples of `burlab.compile` if there are none), compares with what
        burlab computes for them now, and ends with 0 if they agree: `g++ -std=c++20 -O2 main.cpp && ./a.out`. Numbers
        may differ in the last digits, since another compiler contracts and vectorises in other ways.
        """
        from burlab.compiler.codegen.export import identifier, main

        arrays = self.arrays(*args)
        results = [np.asarray(y) for y in self._main.executable(*arrays)]
        name, place = identifier(self.__name__), as_path(folder)
        text = self.to_cpp()
        make_folder(place)
        write_whole(place / f"{name}.hpp", [text.encode()])
        write_whole(place / "main.cpp", [main(name, arrays, results).encode()])

    def _exported(self) -> KernelPlan:
        plan = self._main.executable.plan
        return make_plan(plan.graph, PlanOptions(strict=self._options["strict"], after=plan.after, written_out=True))

    def _faces(self) -> tuple[tuple[ArraySpec, ...], tuple[ArraySpec, ...]]:
        executable = self._main.executable
        return executable.inputs, executable.outputs

    @property
    def _main(self) -> Program:
        try:
            return self._program("value_and_grad", self._examples)
        except (ShapeError, DTypeError, TraceError):  # there is no gradient
            return self._program("value", self._examples)

    def __repr__(self) -> str:
        specs = ", ".join(str(s) if isinstance(s, Spec) else repr(s.value) for s in self._specs)
        return f"<Kernel {self.__name__}({specs}), {self._options['gear']}>"

    def _run(self, name: str, args: tuple[tree.Tree, ...], out: tree.Tree) -> tree.Tree:
        leaves, structure = tree.flatten(args)
        traced = Node in map(type, leaves)
        program = self._programs.get(name)
        if program is not None and not traced and structure == program.structure:
            self._open(name, program)
            return program(leaves, out)
        examples = self._examples if name != "hvp" else (*self._examples, *args[-1:])
        self._check_structure(structure, tree.flatten(examples)[1])
        if traced:  # inside another trace the kernel is its graph
            self._check_specs(leaves, args)
            return self._transforms[name](*args)
        return self._program(name, examples)(leaves, out)

    def _open(self, name: str, program: Program) -> None:
        """From its second call on a program is called directly: nothing of Python runs between caller and kernel."""
        if name not in self._opened:
            self._opened.add(name)

            def run(*args: tree.Tree, out: tree.Tree = None) -> tree.Tree:
                return self._run(name, args, out)

            direct = program.direct(run, takes_out=True)
            if direct is not None:
                self._direct[name] = direct
                setattr(self, "__call__" if name == "value" else name, direct)

    def _program(self, name: str, examples: tuple[tree.Tree, ...]) -> Program:
        if name not in self._programs:
            traced = trace(self._transforms[name], examples)
            if traced.open:
                raise TraceError(
                    f"{self.__name__} uses a value of the function that is being traced, which a kernel of its own "
                    "cannot see. Pass it in as an argument, or use bl.jit in the place of bl.compile."
                )
            executable = build(traced.graph, **self._options)
            structure = tree.flatten(examples)[1]
            self._programs[name] = Program(
                executable, _specs(self._transforms[name], examples), traced.result, structure
            )
        return self._programs[name]

    def _graph(self, name: str, examples: tuple[tree.Tree, ...]) -> Graph:
        return simplify(trace(self._transforms[name], examples).graph)

    def _check_structure(self, got: tree.TreeDef, expected: tree.TreeDef) -> None:
        if got == expected:
            return
        advice = "Compile another kernel, or use bl.jit(f), which compiles one per structure and shape."
        if got.num_children != expected.num_children:
            raise ArgumentError(
                f"{self.__name__} was compiled for {expected.num_children} arguments, got {got.num_children}. {advice}"
            )
        pairs = zip(got.children(), expected.children(), strict=True)
        k, (g, e) = next((k, pair) for k, pair in enumerate(pairs) if pair[0] != pair[1])
        raise ArgumentError(
            f"{self.__name__} was compiled for {tree.describe(e)} as argument {k}, got {tree.describe(g)}. "
            f"Pass np.array of a list of numbers. {advice}"
        )

    def _check_specs(self, leaves: Sequence[object], args: tuple[tree.Tree, ...]) -> None:
        names = argument_names(self._transforms["value"], args, {})
        for got, spec, name in zip(specs_of(leaves, lambda: names), self._specs, names, strict=False):
            if isinstance(got, Spec) and isinstance(spec, Spec) and (got.shape, got.dtype) == (spec.shape, spec.dtype):
                continue
            if got != spec:
                kind = ShapeError if isinstance(got, Spec) and got.shape != getattr(spec, "shape", ()) else DTypeError
                raise kind(
                    f"{self.__name__} was compiled for {name} of {spec}, got {got}. "
                    "Compile another kernel, or use bl.jit(f), which compiles one per shape."
                )


def _specs(f: Callable[..., Any], examples: tuple[tree.Tree, ...]) -> list[Spec | Static]:
    return specs_of(tree.flatten(examples)[0], lambda: argument_names(f, examples, {}))
