"""Arguments that an operation has no derivative by: refused, never 0; what is derived by the others is right."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.graph.scalar import FAMILIES, family_ops, partials
from tests.family_cases import FAMILY_CASES

polygamma = bl.scipy.special.polygamma
CASES = [case for rows in FAMILY_CASES.values() for case in rows if case.parameters]


def test_families_with_parameters_have_unknown_partials() -> None:
    found = {
        name: count
        for family in FAMILIES
        for name, row in family_ops(family).items()
        if row.differentiable and (count := sum(p.unknown for p in partials(name)))
    }
    assert found == {case.name: case.parameters for case in CASES}


USES: dict[str, Callable[[Any], Any]] = {
    "by s": lambda s: polygamma(s, 2.0),
    "in between": lambda s: np.exp(polygamma(1 + s * s, 2.0)),
    "a derivative by q, then by s": lambda s: bl.grad(lambda q: polygamma(s, q))(2.0),
    "by s, then by q": lambda q: bl.grad(lambda s: polygamma(s, q))(2.5),
    "two derivatives by q, then by s": lambda s: bl.hessian(lambda q: polygamma(s, q))(2.0),
    "by s inside of a scan": lambda s: bl.scan(lambda c, _: (polygamma(c, 2.0), None), s, None, 2)[0],
}


@pytest.mark.parametrize("f", USES.values(), ids=USES)
def test_a_derivative_by_a_parameter_is_refused(f: Callable[[Any], Any]) -> None:
    for derive in (bl.grad(f), lambda s: bl.jvp(f, (s,), (1.0,))):
        with pytest.raises(bl.errors.TraceError, match="polygamma by its first argument is not defined"):
            derive(2.5)


def test_a_parameter_that_is_held_constant_adds_nothing() -> None:
    held = bl.grad(lambda s: polygamma(bl.stop_gradient(s), s))
    np.testing.assert_allclose(held(2.0), polygamma(3, 2.0), rtol=1e-14)
