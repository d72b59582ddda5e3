"""Misuse is told in words: the table of `misuse_cases.py`, case by case."""

import re

import pytest

from burlab.errors import BurlabError
from tests.misuse import Misuse
from tests.misuse_cases import CASES


@pytest.mark.parametrize("case", CASES, ids=[case.what for case in CASES])
def test_misuse_raises_a_helpful_error(case: Misuse):
    with pytest.raises(BurlabError) as caught:
        case.do()
    message = str(caught.value)
    assert isinstance(caught.value, case.error)
    assert re.search(case.says, message)
    assert message.endswith((".", ")", "]")), message
    assert not re.search(r"/ops/|error: |0x[0-9a-f]{6}|PyTreeSpec.*PyTreeSpec.*PyTreeSpec", message), message
