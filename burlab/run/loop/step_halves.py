"""A step on one sample in two kernels: the first reads x and the state, the second writes over them.

The first one computes everything that may fail, or that a run may stop by: value, metrics, the norm of the gradient.
What the second reads of it is as little as possible: a gradient that is the outer product of two vectors is computed
again from these.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from burlab.compiler.executable import Executable, build
from burlab.compiler.ir.interrupts import is_halt_check
from burlab.compiler.ir.plan import KernelPlan, LoopStep, nodes_of
from burlab.graph import Graph, Node
from burlab.graph.graph import topological
from burlab.graph.substitute import keep, rebuild

MIN_BYTES = 3 << 22  # of two buffers for x and the state: less memory is in cache, where one kernel is faster
MAX_REPEATED = 8  # operations on every entry of a gradient that are done again rather than stored
_SMALLER = 8  # times smaller than what is computed from it has to be a value that is stored
_REPEATED = {"convert", "broadcast", "reshape", "square'0"}  # and cheap operations


@dataclass(frozen=True)
class StepHalves:
    """Two kernels with the same first inputs. The second also gets the `cuts`, the last outputs of the first."""

    first: Executable
    second: Executable
    cuts: tuple[int, ...]  # bytes

    @staticmethod
    def of(graph: Graph, first: int, given: Sequence[int], threads: int) -> "StepHalves | None":
        """Cut the simplified graph of a step, of which the second kernel gives all outputs but the first ones.

        given: the inputs that have the memory of the last outputs. None if it would save no memory, or if the second
        kernel might read what it has written over.
        """
        early, late = graph.outputs[:first], graph.outputs[first:]
        cuts = _cuts(early, late)
        nbytes = tuple(n.nbytes for n in cuts)
        if 2 * sum(nbytes) > sum(graph.inputs[k].nbytes for k in given):
            return None
        above = build(Graph(graph.inputs, (*early, *cuts)), threads=threads)
        if above.gear != "compiled":
            return None
        named = [Node("input", (), f"cuts[{k}]", n.shape, n.dtype) for k, n in enumerate(cuts)]
        known = {**{x: x for x in graph.inputs}, **dict(zip(cuts, named, strict=True))}
        below = build(Graph((*graph.inputs, *named), tuple(rebuild(late, known, keep))), threads=threads)
        if below.gear != "compiled" or not writes_last(below.plan, given):
            return None
        return StepHalves(above, below, nbytes)


def writes_last(plan: KernelPlan, given: Sequence[int]) -> bool:
    """Return True if loops give the last outputs, and nothing reads an input later than the loop that writes over it.

    given: these inputs. Each loop reads an element before it writes there, since none of its nodes mix elements.
    """
    steps = [step for step in plan.steps if not is_halt_check(step)]  # which C++ turns off
    read, written = dict[Node, int](), dict[Node, int]()
    for k, step in enumerate(steps):
        if not isinstance(step, LoopStep) and getattr(step, "may_fail", True):
            return False
        read.update({plan.views[x].base: k for n in nodes_of(step) for x in n.inputs})
        if isinstance(step, LoopStep):
            written.update({n: k for n in step.stores if n not in written})
    outputs = plan.graph.outputs[len(plan.graph.outputs) - len(given) :]
    pairs = ((plan.graph.inputs[k], plan.views[y].base) for k, y in zip(given, outputs, strict=True) if y.size)
    return all(y in written and read.get(x, 0) <= written[y] for x, y in pairs)


def _cuts(early: Sequence[Node], late: Sequence[Node]) -> tuple[Node, ...]:
    """Return the values that the late outputs get from what computes the early ones."""
    above = set(topological(early))
    below = topological(late, above)
    read = dict.fromkeys(x for n in below for x in n.inputs if x in above and not x.row.leaf)
    return tuple(dict.fromkeys(part for x in read for part in _again(x)))


def _again(top: Node) -> list[Node]:
    """Return the small values from which a few operations compute a large one again; itself if that is not worth it."""
    found, todo, count = list[Node](), [top], 0
    while todo:
        n = todo.pop()
        if n.row.leaf:
            continue
        if n.size * _SMALLER <= top.size:
            found.append(n)
        elif _is_outer(n) or n.op in _REPEATED or (n.row.elementwise and n.row.cheap):
            todo += n.inputs
            count += 1
        else:
            return [top]
    return found if count <= MAX_REPEATED else [top]


def _is_outer(n: Node) -> bool:
    """Return True for a contraction that multiplies, and adds nothing up."""
    if n.op != "contract":
        return False
    operands, result = n.params.split("->")
    return set(result) >= set(operands.replace(",", ""))
