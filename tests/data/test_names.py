"""The last names as training data, against a plain loop."""

from importlib import resources
from typing import Any

import numpy as np
import pytest

from burlab.data import last_names
from burlab.data.text import text_data
from burlab.errors import ArgumentError


@pytest.mark.parametrize("context", [1, 3, 5])
def test_samples_are_those_of_a_plain_loop(context: int):
    data = last_names(context)
    table = (resources.files("names") / "dist.all.last").read_text()
    names = [line.split()[0].lower() for line in table.splitlines() if line]
    expected = [
        (("." * context + name)[k : k + context], (name + ".")[k]) for name in names for k in range(len(name) + 1)
    ]
    assert len(names) == len(set(names)) == (data.targets == 0).sum() == 88_799
    assert data.features.shape == (len(expected), context)
    letters = np.array(list(data.vocabulary))
    assert ["".join(row) for row in letters[data.features]] == [c for c, _ in expected]
    assert "".join(letters[data.targets]) == "".join(t for _, t in expected)


def test_encode_and_decode():
    data = last_names()
    assert data.vocabulary == ".abcdefghijklmnopqrstuvwxyz"
    assert data.decode(data.encode("smith.")) == "smith."
    assert data.encode(".")[0] == 0


@pytest.mark.parametrize("data", [last_names(1), text_data("abcabc", 1, "abc")], ids=["names", "text"])
def test_unknown_characters_and_codes_are_refused(data: Any):
    with pytest.raises(ArgumentError, match="'Z' does not occur in"):
        data.encode("aZ")
    for codes in ([0, -1], [len(data.vocabulary)]):
        with pytest.raises(ArgumentError, match="lies outside of the vocabulary"):
            data.decode(codes)
    with pytest.raises(ArgumentError, match="codes must be integers; got float64"):
        data.decode([0.5])
    assert data.decode([]) == ""
    assert data.decode([np.array(1)]) == data.vocabulary[1]


def test_no_context_is_refused():
    with pytest.raises(ArgumentError, match="context=0 is not a whole number from 1"):
        last_names(0)
