"""Descriptors have the fields of the C++ structs, in their order."""

import re
from pathlib import Path

import pytest

from burlab.compiler.lowering.descriptors import Contraction, OuterAxis, SumOrder
from burlab.runtime.interpreter import header_folder

TEXT = (Path(header_folder()) / "burlab/kernels/matrix/contraction.hpp").read_text()


@pytest.mark.parametrize("descriptor", [Contraction, OuterAxis])
def test_fields_are_those_of_the_struct(descriptor):
    body = re.search(rf"struct {descriptor.__name__} {{(.*?)}};", TEXT, re.DOTALL)[1]
    declared = re.findall(r"^ *Int (.*?);", body, re.MULTILINE)
    assert tuple(", ".join(declared).split(", ")) == descriptor._fields


def test_orders_of_sums_are_numbered_alike():
    names = re.search(r"enum SumOrder : Int {(.*?)}", TEXT)[1].split(",")
    assert [name.strip().upper() for name in names] == [order.name for order in sorted(SumOrder)]
