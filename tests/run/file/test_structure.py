"""Structures of trees go through JSON and come back, or it is said what is missing."""

import json
import sys
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

import burlab as bl
from burlab.errors import FileError
from burlab.graph import tree
from burlab.run.file.structure import from_json, to_json


@bl.pytree
@dataclass(frozen=True)
class Layer:
    weight: Any
    bias: Any
    name: str = field(default="layer", metadata={"static": True})


@bl.pytree
@dataclass(frozen=True)
class Odd:
    weight: Any
    shape: Any = field(default=(1, 2), metadata={"static": True})


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class NoTree:
    weight: Any


def through_json(structure, like=None):
    return from_json(json.loads(json.dumps(to_json(structure))), like)


leaves = st.just(1.0) | st.none()
keys = st.text(max_size=3) | st.integers(-3, 3)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.dictionaries(st.integers(), inner, max_size=3)
        | st.builds(Layer, inner, inner, st.text(max_size=2))
        | st.builds(Pair, inner, inner)
    ),
    max_leaves=8,
)


@given(trees)
def test_a_structure_survives(value):
    structure = tree.flatten(value)[1]
    back = through_json(structure)
    assert back == structure
    numbers = list(range(structure.num_leaves))
    assert repr(tree.unflatten(back, numbers)) == repr(tree.unflatten(structure, numbers)), "dictionaries keep order"
    assert through_json(structure, like=value) == structure


@given(trees, trees)
def test_another_structure_is_refused(one, other):
    if tree.flatten(one)[1] != tree.flatten(other)[1] and one is not None and other is not None:
        with pytest.raises(FileError, match="the saved x has the structure"):
            through_json(tree.flatten(one)[1], like=other)


@pytest.mark.parametrize(
    ("value", "other", "complaint"),
    [
        ({(1, 2): 1.0, (3, 4): 2.0}, {(1, 2): 1.0, (3, 5): 2.0}, r"dictionary key \(1, 2\)"),
        ({True: 1.0}, {False: 1.0}, "dictionary key True"),
        (Odd(1.0), Odd(1.0, shape=(3, 4)), "static field"),
        (OrderedDict(a=1.0), OrderedDict(b=1.0), "cannot be made from its parts"),
        (defaultdict(list, a=1.0), defaultdict(list, b=1.0), "cannot be made from its parts"),
    ],
)
def test_unstorable_structure_needs_an_example(value, other, complaint):
    structure = tree.flatten(value)[1]
    with pytest.raises(FileError, match=complaint) as caught:
        through_json(structure)
    assert "like=x" in str(caught.value)
    assert through_json(structure, like=value) == structure
    with pytest.raises(FileError, match=r"like= has"):
        through_json(structure, like=other)


def test_a_class_that_is_not_there_needs_an_example(monkeypatch):
    value = {"a": Layer(np.ones(2), 1.0)}
    text = to_json(tree.flatten(value)[1])
    monkeypatch.delattr(sys.modules[__name__], "Layer")
    with pytest.raises(FileError, match=r"test_structure:Layer, which is not imported.+like=x"):
        from_json(text)
    assert from_json(text, like=value) == tree.flatten(value)[1]
    with pytest.raises(FileError, match=r"Layer\(weight=\*, bias=\*, name='layer'\)"):
        from_json(text, like={"a": 1.0})


def test_a_class_that_changed_is_refused():
    name = f"{__name__}:"
    text = ["object", name + "Layer", [["weight", "leaf"], ["name", {"static": "layer"}]]]
    with pytest.raises(FileError, match="cannot be made"):
        from_json(text)
    with pytest.raises(FileError, match="cannot be made"):
        from_json(["set", []])
    with pytest.raises(FileError, match="the tree that this Python makes of it"):
        from_json(["object", name + "NoTree", [["weight", "leaf"]]])


def test_reading_a_structure_imports_no_module():
    assert "antigravity" not in sys.modules
    with pytest.raises(FileError, match="not imported"):
        from_json(["object", "antigravity:Layer", []])
    with pytest.raises(FileError, match="not imported"):
        from_json(["object", "os:system", []])
    assert "antigravity" not in sys.modules
