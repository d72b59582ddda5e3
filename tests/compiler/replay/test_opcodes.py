"""The opcodes of threaded code: Python and C++ have the same list, and each code computes what its name says."""

import ctypes
import re

import pytest

from burlab.compiler.replay.opcodes import CODES, MOVES, PAIRS, Opcode
from burlab.runtime import address, declare

ENTRIES = """
#define BURLAB_ENTRY(name, ...) #name "=" #__VA_ARGS__ "\\n"
extern "C" const char* @unit_entries() {
  return BURLAB_MOVING_CODES(BURLAB_ENTRY) BURLAB_COMPUTING_CODES(BURLAB_ENTRY);
}
#undef BURLAB_ENTRY
"""
PLAIN = {"mul": lambda x, y: x * y, "add": lambda x, y: x + y, "sub": lambda x, y: x - y}


@pytest.fixture(scope="module")
def entries():
    """The codes of the header, and the formulas of those that compute."""
    unit = declare(ENTRIES, ["burlab/kernels/replay/opcodes.hpp"])
    text = ctypes.CFUNCTYPE(ctypes.c_char_p)(address(f"{unit}_entries"))().decode()
    return dict(line.split("=") for line in text.splitlines())


def test_the_lists_of_both_languages_are_one(entries):
    assert tuple(entries) == CODES


@pytest.mark.parametrize("code", [code for code in CODES if re.search("_[ml]+$", code)])
def test_opcode_computes_its_name(entries, code):
    opcode, _, where = code.rpartition("_")
    operands = {"x": 3.25, "y": -1.75, "z": 0.625, "last": 11.5}
    x, y, *z = (operands["last" if letter == "l" else name] for letter, name in zip(where, "xyz", strict=False))
    first, _, second = Opcode(opcode).partition("_")
    expected = PLAIN[first](x, y)
    if z:
        expected = z[0] - expected if second == "from" else PLAIN[second](expected, *z)
    assert eval(entries[code], operands) == expected


@pytest.mark.parametrize("opcode", Opcode)
def test_an_opcode_has_a_code_wherever_its_operands_are(entries, opcode):
    if opcode in MOVES:
        assert entries[opcode] == ""
    else:
        count = 2 if opcode in PLAIN else 3
        assert f"{opcode}_{'m' * count}" in entries
        assert f"{opcode}_l{'m' * (count - 1)}" in entries


def test_two_operations_in_one_are_called_after_both():
    for (first, second, k), pair in PAIRS.items():
        assert first in PLAIN
        assert pair == (f"{first}_{second}" if (second, k) != ("sub", 1) else f"{first}_from")
    assert {*PAIRS.values()} == {opcode for opcode in Opcode if "_" in opcode}
