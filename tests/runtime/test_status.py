"""Status codes in Python are those of C++, and each has an exception."""

import re
from pathlib import Path

import pytest

from burlab import errors
from burlab.runtime.status import Status, error, split

HEADER = Path(__file__).parents[2] / "cpp/burlab/abi.hpp"


def test_codes_mirror_the_header():
    in_cpp = {int(code): name for name, code in re.findall(r"^ +(\w+) = (\d+),", HEADER.read_text(), re.MULTILINE)}
    assert {s.value: s.name.title().replace("_", "") for s in Status} == in_cpp


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.OK])
def test_each_status_has_an_exception_with_its_place(status):
    raised = error(status, "model.py, line 3")
    assert isinstance(raised, errors.BurlabError)
    assert str(raised).startswith("model.py, line 3: ")


def test_builtin_kinds():
    assert isinstance(error(Status.INDEX_OUT_OF_RANGE), IndexError)
    assert isinstance(error(Status.OUT_OF_MEMORY), MemoryError)
    assert isinstance(error(Status.NON_FINITE), FloatingPointError)
    assert "status 99" in str(error(99))


def test_outcome_is_status_and_node():
    assert split(Status.INDEX_OUT_OF_RANGE | 1234567 << 8) == (2, 1234567)
