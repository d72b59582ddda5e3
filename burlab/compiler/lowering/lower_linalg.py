"""Linear algebra as calls of kernels: each takes dense matrices, one behind the other."""

from collections.abc import Callable

from burlab.compiler.ir.library import kernel
from burlab.compiler.ir.plan import KernelCall
from burlab.compiler.ir.spelling import C_TYPES, NAMES
from burlab.compiler.ir.strides import StridedView, elements
from burlab.graph import Node

from .descriptors import Matrices
from .lapack import connect

Views = dict[Node, StridedView]
Rule = Callable[[Node, Views], list[KernelCall]]


def _task(struct: str, header: str, n: Node, views: Views, matrices: Matrices, *operands: Node) -> KernelCall:
    connect()
    made = kernel(f"{n.op}_{NAMES[n.dtype]}", f"{struct}<{C_TYPES[n.dtype]}>", f"linalg/{header}")
    return KernelCall(made, matrices, tuple((views[x].base, views[x].offset) for x in operands), may_fail=True)


def _sizes(x: Node, option: int) -> Matrices:
    return Matrices(elements(x.shape[:-2]), x.shape[-2], x.shape[-1], option)


def _factored(struct: str, header: str) -> Rule:
    """A kernel that takes one array of matrices; its option is the parameter of the node, if that is a flag."""

    def rule(n: Node, views: Views) -> list[KernelCall]:
        (a,) = n.inputs
        return [_task(struct, header, n, views, _sizes(a, int(n.params or 0)), a)]

    return rule


def _lu_solve(n: Node, views: Views) -> list[KernelCall]:
    b, _, factors = n.inputs
    return [_task("LuSolve", "lu", n, views, _sizes(b, int(n.params)), b, factors)]


def _solve_triangular(n: Node, views: Views) -> list[KernelCall]:
    b, a = n.inputs
    lower, transposed, unit = n.params
    sizes = _sizes(b, lower + 2 * transposed + 4 * unit)
    return [_task("SolveTriangular", "triangular", n, views, sizes, b, a)]


KERNELS: dict[str, Rule] = {
    "lu": _factored("Lu", "lu"),
    "lu_solve": _lu_solve,
    "solve_triangular": _solve_triangular,
    "cholesky": _factored("Cholesky", "cholesky"),
    "eigh": _factored("Eigh", "eigh"),
    "svd": _factored("Svd", "svd"),
    "qr": _factored("Qr", "qr"),
    "expm": _factored("Expm", "expm"),
}
