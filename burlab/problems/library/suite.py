"""All test functions of the library."""

from collections.abc import Callable

from . import chains, many_waves, many_wells, plane_bowls, plane_wells, quadratics, rugged, saddles, separable, valleys
from .benchmark_function import TestFunction

_MODULES = (chains, many_waves, many_wells, plane_bowls, plane_wells, quadratics, rugged, saddles, separable, valleys)


def suite() -> list[TestFunction]:
    """Return every test function of the library, each in its usual dimension, by name.

    Returns:
        The functions, such as for `bl.performance_profile`.

    >>> import burlab as bl
    >>> bounded = [f for f in bl.problems.suite() if f.minimum > -float("inf")]
    >>> [f.name for f in bounded if f.dim == 4]
    ['powell_singular', 'schwefel_double_sum', 'shekel']
    """
    return [make() for _, make in sorted(_makers().items())]


def _makers() -> dict[str, Callable[[], TestFunction]]:
    return {
        name: make
        for module in _MODULES
        for name, make in vars(module).items()
        if getattr(make, "__module__", "") == module.__name__ and _makes_function(make)
    }


def _makes_function(make: object) -> bool:
    return callable(make) and getattr(make, "__annotations__", {}).get("return") is TestFunction
