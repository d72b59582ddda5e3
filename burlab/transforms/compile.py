"""`compile`: one function, one kernel, open to inspection."""

import os
from collections.abc import Callable
from typing import Any

from burlab.compiler.ir.options import Gear
from burlab.compiler.kernel import Kernel
from burlab.compiler.planning.rematerialize import Remat, check_remat
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import one_of
from burlab.runtime.mapped import check_folder
from burlab.runtime.thread_limit import Threads, known_threads
from burlab.typing import Tree

from .curvature import hvp
from .gradients import value_and_grad
from .places import Argnums, known_argnums


def compile(
    f: Callable[..., Any],
    *examples: Tree,
    argnums: Argnums = 0,
    strict: bool = False,
    check_finite: bool = False,
    gear: Gear = "compiled",
    threads: Threads = 1,
    remat: Remat | None = None,
    spill: str | os.PathLike[str] | None = None,
) -> Kernel:
    """Return a Kernel of f for arguments like `examples`.

    Args:
        f: a function of arrays, numbers and trees of them.
        examples: one for each argument.
        argnums: what `value_and_grad` and `hvp` of the kernel differentiate by.
        strict: compute the same bits in every gear: no fused multiply-add, sums in plain order.
        check_finite: raise NonFiniteError naming the first node that made an inf or nan from finite numbers.
        gear: "compiled", one C++ function for the graph, or "replay", general kernels that run node by node, with
            nothing to compile.
        threads: threads of `Kernel.map`, and those that compute each step of a call where it is long enough; "auto" is
            as many as `bl.set_threads` allows. They change no bit.
        remat: what `value_and_grad` computes again in its backward pass instead of storing it: "sqrt" (all but the
            values at about sqrt(n) cuts, Chen et al. 2016), or a limit in bytes for its activations and scratch
            together, for which elementwise operations are computed again first. It changes no bit.
        spill: a folder for what the backward pass of `value_and_grad` reads: the workspace is a file there, which the
            operating system writes and reads beside the computation, and which is gone when the kernel is. A fast disk
            takes the place of memory. It changes no bit. On Linux; elsewhere the file stays in memory.

    Returns:
        A kernel that is called as f is.

    Raises:
        ArgumentError: for an option of another type or range.
        FileError: when it is called, where the folder of `spill` has no room.

    >>> import numpy as np, burlab as bl
    >>> k = bl.compile(lambda x: np.sum(x * x), np.zeros(2))
    >>> value, gradient = k.value_and_grad(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (5.0, array([2., 4.]))
    """
    one_of(gear, ("compiled", "replay"), "gear")
    check_remat(remat)
    check_takes(f, "f", f"{len(examples)} examples", "Pass one for each argument: bl.compile(f, x, y).", len(examples))
    argnums = known_argnums(argnums)
    second = argnums if isinstance(argnums, int) else argnums[0]
    transforms = {"value": f, "value_and_grad": value_and_grad(f, argnums), "hvp": hvp(f, second)}
    most = known_threads(threads)
    options = {"gear": gear, "strict": strict, "check_finite": check_finite, "remat": remat, "threads": most}
    options["spill"] = check_folder(spill)
    return Kernel(f, examples, transforms, options, most, argnums)
