"""Pandas objects meet traced arrays: they count as numbers, or the error names the user's line and the remedy."""

import inspect
import operator

import numpy as np
import pandas as pd
import pytest

import burlab as bl
from burlab.errors import TraceError
from burlab.graph.origin import is_users

NUMBERS = [1.5, 2.0, 3.0]
HELD = {
    "Series": pd.Series(NUMBERS),
    "DataFrame": pd.DataFrame({"a": NUMBERS, "b": [0.5, 1.0, 4.0], "c": NUMBERS}),
    "Index": pd.Index(NUMBERS),
}
OPERATORS = ("add", "sub", "mul", "truediv", "pow", "lt", "le", "gt", "ge")
X = np.array([1.25, 2.0, 0.5])


@pytest.mark.parametrize("kind", HELD)
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_take_it_on_either_side(kind, name):
    held, apply = HELD[kind], getattr(operator, name)
    for f in (lambda x: np.sum(1.0 * apply(held, x)), lambda x: np.sum(1.0 * apply(x, held))):
        plain = lambda x, f=f: f(x)  # noqa: E731 - the same, of arrays alone
        value, gradient = bl.value_and_grad(f)(X)
        assert value == pytest.approx(np.sum(np.asarray(plain(X))), rel=1e-14)
        step = 1e-6
        for k, direction in enumerate(np.eye(3)):
            if name[0] not in "lg":
                slope = np.sum(np.asarray(f(X + step * direction) - f(X - step * direction))) / (2 * step)
                assert gradient[k] == pytest.approx(slope, rel=1e-6)


def error_of(f):
    """The message, and the line that it has to name."""
    with pytest.raises(TraceError) as raised:
        bl.grad(f)(X)
    return str(raised.value), f'File "{__file__}", line {inspect.getsourcelines(f)[1]}:'


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(HELD["Series"] @ x),
        lambda x: np.sum(HELD["DataFrame"] @ x),
        lambda x: np.sum(pd.Series(x)),
        lambda x: np.sum(HELD["Series"].dot(x)),
        lambda x: np.sum(HELD["DataFrame"].mul(x)),
    ],
)
def test_unsupported_pandas_call_names_line_and_remedy(f):
    message, line = error_of(f)
    assert message.startswith(line)
    assert ".to_numpy()" in message


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (np.__file__, False),
        (pd.__file__, False),
        (bl.__file__, False),
        (bl.__file__.replace("burlab/__init__.py", "burlab_models/model.py"), True),
        (np.__file__.replace("numpy/__init__.py", "numpy_helpers.py"), True),
        ("/home/me/pandas/model.py", True),
    ],
)
def test_users_files_are_recognized(file, expected):
    assert is_users(file) == expected
