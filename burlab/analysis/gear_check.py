"""`check_gears`: a function computed in every way that burlab has, each compared with another one."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph import tree
from burlab.graph.numpy_api.promotion import PrecisionWarning
from burlab.problems import BatchLoss, FiniteSum
from burlab.runtime.checks.callable import check_function
from burlab.transforms.call import name_of
from burlab.typing import Tree

from .gear_point import GearPoint
from .gear_report import GearReport, GearRow
from .sum_gears import SumGears

MAX_SAMPLES = 64  # of a finite sum


class Promises(NamedTuple):
    """Relative differences that are allowed.

    order: between orders of sums. inner: of inner products. differences: of derivatives from finite differences with
    the step `step`.
    """

    order: float
    inner: float
    differences: float
    step: float


DOUBLE = Promises(order=1e-11, inner=1e-9, differences=1e-6, step=1e-3)
SINGLE = Promises(order=1e-4, inner=1e-3, differences=1e-2, step=2e-2)
NARROW, NARROW_SLOPE = 1e-3, 1e-2  # of values and derivatives in float32, from those in float64
# Two ways to compute the same tree, with their names and the promise.
Check = tuple[str, str, Callable[[], Tree], Callable[[], Tree], float]


def check_gears(f: Callable[..., Any] | FiniteSum, *args: Tree) -> GearReport:
    """Compute f at the arguments in every way there is, and return how far the results are apart.

    A function is computed by NumPy itself, in replay and compiled; compiled with `strict=True`, whose bits are those of
    its replay; in float32; for several points by `vmap` and in a Python loop. Its derivatives are compared by the
    identity <g, J v> = <J^T g, v>, with differences of NumPy's values, between gears, and in float32. Of a `FiniteSum`
    or `BatchLoss` the problem's own kernels are compared: for one sample, an odd number of them, and up to 64, value
    and gradient by tiles with calls of the same graphs in replay, a sample at a time; so are the gradients of samples,
    float32, and both gears with `strict=True`. Values are compared with the means of samples.

    Args:
        f: A function of arrays, numbers and trees of them, at least one leaf floating; or a `FiniteSum`.
        args: Its arguments; of a `FiniteSum` the point. Where all are float32, differences have a larger allowance.

    Returns:
        A table with a row per comparison: the greatest difference relative to the largest entry of the same array, the
        promise it is held to, and whether it keeps it. An error that one way raises is in its row. `report.ok` says
        whether all promises are kept, `report.broken` has the other rows.

    Raises:
        ArgumentError: Without a floating argument.

    >>> import numpy as np, burlab as bl
    >>> report = bl.check_gears(lambda x: np.sum(np.tanh(x) ** 2), np.array([0.3, -1.0]))
    >>> report.ok, report.rows[0].check, report.rows[0].against
    (True, 'replay', 'NumPy')
    >>> wrong = bl.custom_vjp(lambda x: x**2, lambda g, y, x: g * x, 1.0, surrogate=True)
    >>> [row.check for row in bl.check_gears(wrong, 3.0).broken]
    ['J v']
    """
    if not isinstance(f, FiniteSum):
        check_function(f)
    dtypes = [np.asarray(leaf).dtype for leaf in tree.flatten(args)[0]]
    if not any(dtype.kind == "f" for dtype in dtypes):
        raise ArgumentError(
            "check_gears needs an argument with floating numbers to differentiate by. Pass x as floats."
        )
    promises = DOUBLE if any(dtype == np.float64 for dtype in dtypes) else SINGLE
    if isinstance(f, FiniteSum):
        checks, title = _sum_checks(f, args, promises), f"finite sum of {len(f)} samples"
    else:
        checks, title = _function_checks(GearPoint(f, args), promises), name_of(f)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)  # float32 meets arrays that f has from elsewhere
        return GearReport(title, tuple(_row(*check) for check in checks))


def _function_checks(at: GearPoint, promises: Promises) -> list[Check]:
    """The comparisons of a function; nothing is computed before its row is."""
    narrow, exact = at.cast(np.float32), at.cast(np.float64)
    strict = {"strict": True}
    return [
        ("replay", "NumPy", lambda: at.run("replay"), at.eager, promises.order),
        ("compiled", "NumPy", lambda: at.run("compiled"), at.eager, promises.order),
        ("compiled, strict", "replay, strict", lambda: at.run("compiled", **strict),
         lambda: at.run("replay", **strict), 0.0),
        ("float32", "float64", lambda: narrow.run("replay"), lambda: exact.run("replay"), NARROW),
        ("vmap", "Python loop", at.mapped, at.looped, promises.order),
        ("<g, J v>", "<J^T g, v>", lambda: at.inner_products()[0], lambda: at.inner_products()[1], promises.inner),
        ("J v", "differences", at.forward, lambda: at.differences(promises.step), promises.differences),
        ("J^T g, compiled", "J^T g, replay", lambda: at.reverse("compiled"), lambda: at.reverse("replay"),
         promises.order),
        ("J^T g, float32", "J^T g, float64", lambda: narrow.reverse("replay"), lambda: exact.reverse("replay"),
         NARROW_SLOPE),
    ]  # fmt: skip


def _sum_checks(f: FiniteSum, args: tuple[Tree, ...], promises: Promises) -> list[Check]:
    """The comparisons of a finite sum, over at most MAX_SAMPLES samples at equal distances."""
    if len(args) != 1:
        raise ArgumentError(f"check_gears of a FiniteSum needs its point alone, got {len(args)} arguments.")
    (x,) = args
    samples = np.unique(np.linspace(0, len(f) - 1, min(len(f), MAX_SAMPLES)).astype(np.int64))
    kernels = SumGears(f, x, samples.tolist())
    key = kernels.keywords

    def value(x: Tree) -> Any:
        return f.value(x, samples, **key)

    def grad(x: Tree) -> Any:
        return f.grad(x, samples, **key)

    at = GearPoint(value, args)
    narrow, exact = at.cast(np.float32).args[0], at.cast(np.float64).args[0]
    narrower = SumGears(f, narrow, kernels.samples)

    def mean_of(query: Callable[..., Tree]) -> Tree:
        rows = [tree.flatten(query(x, [k])) for k in samples]
        columns = zip(*(leaves for leaves, _ in rows), strict=True)
        return tree.unflatten(rows[0][1], [np.mean(np.stack(column), axis=0) for column in columns])

    last, order = len(samples), promises.order
    means: list[Check] = [
        ("value", "mean of samples", at.eager, lambda: mean_of(f.value), order),
        ("gradient", "mean of samples", lambda: grad(x), lambda: mean_of(f.grad), order),
    ]
    rows: list[Check] = [
        ("gradients of samples", "replay", lambda: kernels.of_samples(last), lambda: kernels.rows(last), order),
    ]  # fmt: skip
    whole, keyed = isinstance(f, BatchLoss), bool(key)  # samples of other positions have other keys
    return [
        *([] if whole or keyed else means),
        *((f"value and gradient of {size}", "replay of samples", lambda size=size: kernels.answer(size),
           lambda size=size: kernels.mean(size, "replay"), order) for size in kernels.sizes()),
        *(rows if kernels.has_rows else []),
        ("strict, compiled", "strict, replay", lambda: kernels.mean(last, "compiled", strict=True),
         lambda: kernels.mean(last, "replay", strict=True), 0.0),
        ("<gradient, v>", "differences", lambda: [at.along(grad(x))], lambda: at.differences(promises.step),
         promises.differences),
        ("float32", "replay of samples", lambda: narrower.answer(last), lambda: narrower.mean(last, "replay"),
         SINGLE.order),
        ("value, float32", "value, float64", lambda: value(narrow), lambda: value(exact), NARROW),
        ("gradient, float32", "gradient, float64", lambda: grad(narrow), lambda: grad(exact), NARROW_SLOPE),
    ]  # fmt: skip


def _row(
    check: str, against: str, compute: Callable[[], Tree], reference: Callable[[], Tree], promise: float
) -> GearRow:
    """Compute both sides; an error of one is the result."""
    try:
        return GearRow(check, against, _distance(compute(), reference()), promise)
    except Exception as error:  # whatever one way raises is what the table is for
        first = str(error).strip().partition("\n")[0]
        return GearRow(check, against, np.nan, promise, f"{type(error).__name__}: {first}")


def _distance(computed: Tree, reference: Tree) -> float:
    """Return the greatest difference of an entry relative to the largest one of its array."""
    ours, form = tree.flatten(computed)
    theirs, other = tree.flatten(reference)
    if form != other:
        raise ArgumentError(f"one way gives {tree.describe(form)}, the other {tree.describe(other)}.")
    return max((_gap(np.asarray(a), np.asarray(b)) for a, b in zip(ours, theirs, strict=True)), default=0.0)


def _gap(a: Any, b: Any) -> float:
    if a.shape != b.shape:
        raise ShapeError(f"one way gives the shape {a.shape}, the other {b.shape}.")
    a, b = a.astype(np.float64), b.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.all(same | finite):
        return np.inf
    scale = float(np.max(np.abs(b), initial=0.0, where=finite)) or 1.0
    return float(np.max(np.abs(a - b), initial=0.0, where=finite & ~same)) / scale
