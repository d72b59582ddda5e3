"""The ctypes structures and names of tables and saved runs are those of the C++ headers."""

import ctypes

import pytest

from burlab.run.loop import snapshot
from burlab.run.record import tables
from burlab.runtime import declare
from tests.problems.test_mirrors import claims

MIRRORS: dict[str, type[ctypes.Structure]] = {
    "Extent": tables.Extent,
    "Standing": snapshot.Standing,
    "SavedTable": snapshot.SavedTable,
    "Saved": snapshot.CSaved,
}


@pytest.mark.parametrize("name", MIRRORS)
def test_layouts_agree(name: str):
    declare(claims(name, MIRRORS[name]), ["burlab/run/abi/saved.hpp"])


def test_kinds_of_memory_have_the_same_numbers():
    lines = [f"static_assert(int(burlab::run::Kind::{kind}) == {k});" for k, kind in enumerate(tables.KINDS)]
    declare(
        "\n".join([*lines, f"static_assert(burlab::run::kKinds == {len(tables.KINDS)});"]),
        ["burlab/run/memory/ledger.hpp"],
    )
