"""What a plan is made of: places in memory, loops that are generated, and calls of library kernels."""

import enum
from typing import TYPE_CHECKING, NamedTuple

from burlab.graph import Node

from .library import Instance
from .strides import Shape

if TYPE_CHECKING:
    from burlab.compiler.planning.plan import Plan


class Kind(enum.IntEnum):
    """Whose bytes an array is; numbered as the tables of `kernels/replay/program.hpp`."""

    INPUT = 0
    OUTPUT = 1
    CONSTANT = 2
    WORKSPACE = 3


class Place(NamedTuple):
    """Byte `offset` of array `number` of a kind. The workspace is one array."""

    kind: Kind
    number: int
    offset: int = 0

    def plus(self, nbytes: int) -> "Place":
        """The place some bytes further on."""
        return Place(self.kind, self.number, self.offset + nbytes)

    @property
    def pointer(self) -> str:
        """The address as generated code writes it."""
        if self.kind is Kind.WORKSPACE:
            base = "w"
        else:
            name = {Kind.INPUT: "in", Kind.OUTPUT: "out", Kind.CONSTANT: "constants"}[self.kind]
            base = f"{name}[{self.number}]"
            if self.offset:
                base = f"({'char*' if self.kind is Kind.OUTPUT else 'const char*'}){base}"
        return f"{base} + {self.offset}" if self.offset else base


class Put(NamedTuple):
    """A number, or lanes of them, and where they go besides. step: bytes from one lane to the next."""

    node: Node
    place: Place
    step: int = 0


class Loop(NamedTuple):
    """A generated loop over `shape`: it computes `nodes` element by element and stores some of them in arrays.

    reduced: how many of the last axes some of the nodes reduce; others then have one element per row (`domain.py`).
    puts: what is written besides, into a part of an array or into a further result; for numbers and short lanes only.
    noted: in replay, for each dtype of floats one of its nodes, and where a number goes that is 0 if all are finite.
    """

    shape: Shape
    nodes: tuple[Node, ...]
    stores: tuple[Node, ...]
    reduced: int = 0
    puts: tuple[Put, ...] = ()
    noted: tuple[tuple[Node, Place], ...] = ()


class Count(NamedTuple):
    """Which integer of a call says how many samples of a tile count: `unit` times their number.

    in_box: whether it is one of the box, else of the descriptor.
    """

    in_box: bool
    position: int
    unit: int


class Invoke(NamedTuple):
    """A call of a library kernel for a node."""

    node: Node
    kernel: Instance
    descriptor: tuple[int, ...]
    box: tuple[int, ...]
    result: Place
    operands: tuple[Place, ...]
    may_fail: bool = False
    samples: Count | None = None


class Execute(NamedTuple):
    """Control flow: a library function that runs the plans of sub-graphs.

    nodes: the results that the graph uses. results, operands: all of them, in order. scratch: memory for the function,
    at a multiple of 64 bytes, behind `table` bytes for the replay gear. firsts: the number of the first node of each
    part, in the outcome of the whole.
    """

    nodes: tuple[Node, ...]
    kernel: Instance
    descriptor: tuple[int, ...]
    parts: tuple["Plan", ...]
    firsts: tuple[int, ...]
    results: tuple[Place, ...]
    operands: tuple[Place, ...]
    scratch: Place
    table: int


Step = Loop | Invoke | Execute


class Task(NamedTuple):
    """A kernel call before memory is given out.

    descriptor: integers, see the kernel; box: what `each` walks around it, if anything. operands: the root of each and
    the element of it where the kernel starts; result: the element of the result where it starts. in_place: whether the
    result may take an operand's bytes. samples: of a tile, where the call adds them up.
    """

    kernel: Instance
    descriptor: tuple[int, ...]
    operands: tuple[tuple[Node, int], ...] = ()
    box: tuple[int, ...] = ()
    result: int = 0
    may_fail: bool = False
    in_place: bool = False
    samples: Count | None = None
