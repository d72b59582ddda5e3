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
    """Return the function (*args, v) -> H v of the Hessian H by one argument: forward over reverse, without forming H.

    Pearlmutter 1994, Fast exact multiplication by the Hessian.

    Args:
        f: a function whose result is one floating number.
        argnums: position of the argument to differentiate by.

    Returns:
        A function of the arguments of f and then v, of the structure, shapes and dtypes of that argument, as is the
        product.

    Raises:
        ArgumentError: when called, without a vector.
        ShapeError, DTypeError: when called, if v differs from the argument.

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
    """Return the function of the matrix of second derivatives of a scalar function.

    Args:
        f: a function whose result is one floating number.
        argnums: positions of the arguments to differentiate by; a tuple gives tuples of blocks.

    Returns:
        A function with the arguments of f; for an argument of shape s its result has shape s + s.

    >>> import numpy as np, burlab as bl
    >>> bl.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    return jacobian(grad(f, argnums), argnums)


def ggn_vp(model: Callable[..., Any], loss: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """Return the function (*args, v, targets=()) -> J' H J v: the generalised Gauss-Newton matrix times v.

    J is the Jacobian of model(*args) by one argument, H the Hessian of loss(outputs, *targets) by the outputs. The
    matrix, which is never formed, is positive semidefinite where the loss is convex in the outputs. Schraudolph 2002,
    Fast curvature matrix-vector products for second-order gradient descent, section 3.

    Args:
        model: a function that returns any tree of floating arrays.
        loss: a function of the outputs and targets whose result is one floating number.
        argnums: position of the argument of the model to differentiate by.

    Returns:
        A function of the model's arguments and then v, of the structure, shapes and dtypes of that argument, as is the
        product.

    Raises:
        ArgumentError, ShapeError, DTypeError: when called, as for `hvp`.

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
