"""Second derivatives: `hvp`, `hessian`, `ggn_vp`."""

from collections.abc import Callable
from typing import Any

from burlab.compiler.function import Function
from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.graph.autodiff import sweep
from burlab.runtime.checks.callable import check_function

from .call import TracedCall, match, name_of
from .gradients import grad
from .jacobians import jacobian
from .memo import remembered
from .places import Argnums, known_argnum, one_argnum


def hvp(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function (*args, v) -> Hessian of f by one argument, times v: forward over reverse, without forming a matrix.

    v: same structure, shapes and dtypes as the argument. Pearlmutter 1994, Fast exact multiplication by the Hessian.

    >>> import numpy as np, burlab as bl
    >>> bl.hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    argnums = one_argnum(argnums, "hvp")

    def rule(*args_and_v: Any, **kwargs: Any) -> Any:
        if len(args_and_v) < 2:
            raise ArgumentError(
                f"hvp of {name_of(f)} got {len(args_and_v)} arguments, expected those of the function and then a "
                "vector. Pass bl.hvp(f)(x, v)."
            )
        *args, v = args_and_v
        call = TracedCall(grad(f, argnums), tuple(args), kwargs, (argnums,), "hvp")
        inputs, structure = call.by(argnums, "hvp")
        outputs, result = tree.flatten(call.result)
        pushed = sweep.jvp(outputs, inputs, match(v, inputs, structure, "the vector of hvp"))
        return call.place(tree.unflatten(result, pushed))

    return remembered(f, ("hvp", argnums), lambda: Function(rule, f, f"hvp({name_of(f)})"))


def hessian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The matrix of second derivatives of a scalar function, shape s + s for an argument of shape s.

    >>> import numpy as np, burlab as bl
    >>> bl.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    return jacobian(grad(f, argnums), argnums)


def ggn_vp(model: Callable[..., Any], loss: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function (*args, v, targets=()) -> J' H J v, the generalised Gauss-Newton matrix times v, without forming it.

    J: the Jacobian of model(*args), any tree of floating arrays, by one argument. H: the Hessian of the scalar
    loss(outputs, *targets) by the outputs. v: same structure, shapes and dtypes as that argument, and so is the
    product. The matrix is positive semidefinite where the loss is convex in the outputs. Schraudolph 2002, Fast
    curvature matrix-vector products for second-order gradient descent, section 3. Errors as for `hvp`.

    >>> import numpy as np, burlab as bl
    >>> product = bl.ggn_vp(lambda w, x: x @ w, lambda z, y: np.sum((z - y) ** 2) / 2)
    >>> x, y = np.array([[1.0, 2.0], [0.0, 1.0]]), np.zeros(2)
    >>> product(np.zeros(2), x, np.array([1.0, 0.0]), targets=(y,))  # x' x v
    array([1., 2.])
    """
    argnums = known_argnum(argnums)
    check_function(loss)

    def rule(*args_and_v: Any, targets: tuple[Any, ...] = ()) -> Any:
        if len(args_and_v) < 2:
            raise ArgumentError(
                f"ggn_vp of {name_of(model)} got {len(args_and_v)} arguments, expected those of the model and then a "
                "vector. Pass bl.ggn_vp(model, loss)(x, v)."
            )
        *args, v = args_and_v
        call = TracedCall(model, tuple(args), {}, (argnums,), "ggn_vp")
        inputs, structure = call.by(argnums, "ggn_vp")
        outputs, form = tree.flatten(call.result)
        pushed = sweep.jvp(outputs, inputs, match(v, inputs, structure, "the vector of ggn_vp"))
        curved = hvp(loss)(call.result, *targets, tree.unflatten(form, pushed))
        pulled = sweep.vjp(outputs, inputs, tree.flatten(tree.conjugated(curved))[0])
        return call.place(tree.conjugated(tree.unflatten(structure, pulled)))

    name = f"ggn_vp({name_of(model)}, {name_of(loss)})"
    return remembered(model, ("ggn_vp", loss, argnums), lambda: Function(rule, name=name, reads=(model, loss)))
