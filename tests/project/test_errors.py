"""Every error is a BurlabError and the builtin that callers expect."""

import inspect

import pytest

from burlab import errors

KINDS = [value for _, value in inspect.getmembers(errors, inspect.isclass) if value.__module__ == "burlab.errors"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not errors.BurlabError])
def test_error_has_two_parents_and_a_sentence(kind: type):
    assert issubclass(kind, errors.BurlabError)
    assert kind.__mro__[2] is not Exception, "an error is also the builtin that fits it"
    assert kind.__doc__
    assert len(kind.__doc__.splitlines()) == 1


def test_errors_lists_itself():
    assert sorted(kind.__name__ for kind in KINDS) == sorted(errors.__all__)
