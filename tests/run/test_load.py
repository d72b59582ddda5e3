"""Files and data that do not belong to a run are refused before anything of it runs, with a remedy."""

import json

import numpy as np
import pytest

import burlab as bl
from burlab.errors import FileError
from burlab.optim import GD, Adam
from burlab.run.file import container

DATA = np.arange(12.0).reshape(6, 2), np.arange(6) % 3


def loss(x, a, k):
    return np.sum((a - x) ** 2) * bl.asarray(np.array([1.0, 2.0, 3.0]))[k]


@pytest.fixture(scope="module")
def with_data(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "data.burlab"
    bl.minimize(bl.FiniteSum(loss, DATA), np.zeros(2), Adam(0.1), batch=2, steps=9).save(path)
    return path


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.burlab"
    run = bl.minimize(lambda x: x**2, np.float64(1.0), GD(0.1), steps=1)
    run.hyper["lr"] = 0.2
    run.step()
    run.save(path)
    return path


def test_the_right_data_are_taken_in_any_layout(with_data):
    features, labels = DATA
    for data in (
        DATA,
        (np.asfortranarray(features), labels),
        (features.tolist(), labels),
        (features.astype(">f8"), labels),
    ):
        assert bl.load_run(with_data, data).t == 9


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, r"without its data, arrays float64\[6, 2\], int64\[6\]\. Pass load_run\(path, data\)"),
        (DATA[0], r"was made with data float64\[6, 2\], int64\[6\], got float64\[6, 2\]\. Pass the arrays"),
        ((DATA[0], DATA[1], DATA[1]), r"got float64\[6, 2\], int64\[6\], int64\[6\]"),
        ((DATA[0][:5], DATA[1][:5]), r"got float64\[5, 2\], int64\[5\]"),
        ((DATA[0].reshape(2, 6)[:, :], DATA[1][:2]), r"got float64\[2, 6\], int64\[2\]"),
        ((DATA[0].reshape(6, 2, 1), DATA[1]), r"got float64\[6, 2, 1\]"),
        ((DATA[0].astype(np.float32), DATA[1]), r"got float32\[6, 2\]"),
        ((DATA[0], DATA[1].astype(np.int32)), r"got float64\[6, 2\], int32\[6\]"),
        ((DATA[1], DATA[0]), r"got int64\[6\], float64\[6, 2\]"),
        ((DATA[0] + 1e-12, DATA[1]), r"data\[0\] has the right form, float64\[6, 2\], but other numbers"),
        ((DATA[0][::-1], DATA[1]), r"data\[0\] has the right form.+same arrays, unchanged and in the same order"),
        ((DATA[0], DATA[1][::-1]), r"data\[1\] has the right form"),
        ((-0.0 * DATA[0], DATA[1]), r"other numbers"),
        ("a", r"what was passed cannot be that"),
        ((DATA[0], DATA[1][:3]), r"what was passed cannot be that.+6, 3 samples"),
        ((), r"what was passed cannot be that"),
    ],
)
def test_other_data_are_refused(with_data, data, message):
    with pytest.raises(FileError, match=message) as caught:
        bl.load_run(with_data, data)
    assert str(with_data) in str(caught.value)


def test_data_for_a_run_without_data_are_refused(small):
    assert bl.load_run(small).t == 2
    with pytest.raises(FileError, match=r"data was passed, but this run has none.+Leave it out"):
        bl.load_run(small, DATA)


def test_the_data_of_the_validation_are_checked_too(tmp_path):
    held = np.arange(8.0).reshape(4, 2)
    validation = bl.FiniteSum(lambda x, a: np.sum((a - x) ** 2), held)
    run = bl.minimize(bl.FiniteSum(loss, DATA), np.zeros(2), GD(0.1), validation=validation, validate_every=3, steps=5)
    run.save(tmp_path / "a")
    assert bl.load_run(tmp_path / "a", DATA, validation=held).t == 5
    with pytest.raises(FileError, match=r"without its validation, arrays float64\[4, 2\]\. Pass load_run\(\.\.\., val"):
        bl.load_run(tmp_path / "a", DATA)
    with pytest.raises(FileError, match=r"validation\[0\] has the right form"):
        bl.load_run(tmp_path / "a", DATA, validation=held + 1)
    with pytest.raises(FileError, match=r"was made with data"):
        bl.load_run(tmp_path / "a", held, validation=held)


def test_loading_a_missing_file_or_a_folder_raises(tmp_path):
    with pytest.raises(FileError, match=r"none\.burlab cannot be read: No such file"):
        bl.load_run(tmp_path / "none.burlab")
    with pytest.raises(FileError, match="it is a folder"):
        bl.load_run(tmp_path)


def test_a_run_cut_anywhere_is_refused(small):
    whole = small.read_bytes()
    for size in range(0, len(whole), 3):
        small.write_bytes(whole[:size])
        with pytest.raises(FileError):
            bl.load_run(small)


def test_a_run_with_any_byte_changed_is_refused(small):
    whole = small.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        small.write_bytes(changed)
        with pytest.raises(FileError):
            bl.load_run(small)


def test_a_run_of_a_newer_burlab_is_refused(small, monkeypatch):
    document, arrays = container.read(small, "run")
    monkeypatch.setattr(container, "VERSION", 7)
    container.write(small, "run", document, arrays)
    monkeypatch.undo()
    with pytest.raises(FileError, match="format is version 7"):
        bl.load_run(small)


def change(*keys, to):
    def apply(document, arrays):
        part = document
        for key in keys[:-1]:
            part = part[key]
        part[keys[-1]] = to

    return apply


def array(name, to):
    def apply(document, arrays):
        arrays[name] = np.asarray(to)

    return apply


def drop(name):
    def apply(document, arrays):
        del arrays[name]

    return apply


def graph(part, change):
    """Return the changed graph of a part of the recipe."""

    def apply(document, arrays):
        name = part(document["recipe"])
        data = json.loads(arrays[name].tobytes())
        change(data)
        arrays[name] = np.frombuffer(json.dumps(data).encode(), np.uint8)

    return apply


def of_update(recipe):
    return recipe["update"]


def of_loss(recipe):
    return recipe["loss"][0][0]


WIDE = np.float64
CHANGES = {
    "a result of the update too many": graph(of_update, lambda g: g["outputs"].append(g["outputs"][0])),
    "a result of the update too few": graph(of_update, lambda g: g["outputs"].pop()),
    "a result of the loss too many": graph(of_loss, lambda g: g["outputs"].append(g["outputs"][0])),
    "a gradient that is a value": graph(of_loss, lambda g: g["outputs"].pop()),
    "a loss that is a validation": change("recipe", "loss", 0, 1, to=[1]),
    "a graph of numbers": array("graph/0", np.zeros(3)),
    "rows that are text": change("tables", "record", to=["2", 2]),
    "a step that is a float": change("standing", "step", to=1.0),
    "more steps than can be counted": change("standing", "done", to=2**64),
    "memory beyond all bounds": change("recipe", "budgets", to=[2**64, 1]),
    "a field too many": change("recipe", "more", to=1),
    "a limit that is no number": change("recipe", "stop", "seconds", to="1e400; x"),
    "hyperparameters of the same name": change("recipe", "hypers", to=["lr", "lr"]),
    "a question that nobody asks": change("recipe", "queries", to=["anything"]),
    "a question without an answer": change("recipe", "queries", to=["full_grad"]),
    "an answer to nothing": change("recipe", "query_losses", to=[["os", 1, []]]),
    "time that runs backwards": array("standing", [-1.0, 0.0, 0.0]),
    "a cursor of three": array("standing", [0.0, 0.0]),
    "no recipe": change("recipe", to=None),
    "no document": change("tables", to={}),
    "a cursor outside": change("standing", "step", to=3),
    "a cursor before": change("standing", "step", to=-1),
    "more done than rows": change("standing", "done", to=5),
    "an unknown reason": change("standing", "reason", to=9),
    "more rows than there are": change("tables", "record", to=[3, 2]),
    "a span of 3": change("tables", "record", to=[2, 3]),
    "a span of 0": change("tables", "record", to=[2, 0]),
    "no path": change("tables", "path", to=None),
    "a path that ends": change("tables", "path", to=[1, 1]),
    "a record without a column": drop("record/2"),
    "a record of other numbers": array("record/0", np.zeros(2, np.float32)),
    "stamps out of order": array("stamps/0", [1.0, 0.0]),
    "no stamps": change("tables", "stamps", to=None),
    "events without values": array("events/2", np.zeros(0)),
    "events later than the run": array("events/0", [9]),
    "events of an unknown hyperparameter": array("events/1", [1]),
    "events of a negative hyperparameter": array("events/1", [-1]),
    "keyframes that begin late": array("frames", [1]),
    "no keyframes": array("frames", np.empty(0, np.int64)),
    "a keyframe of floats": array("frames", [0.0]),
    "a keyframe of another shape": array("frames/0", np.zeros((1, 2))),
    "cells of another dtype": array("cells/0", np.zeros(1, np.float32)),
    "keyframes of another dtype": array("frames/0", np.zeros((1, 1), np.float32)),
    "no cells": drop("cells/0"),
    "no graph": drop("graph/0"),
    "a graph that is none": array("graph/0", np.frombuffer(b"hello", np.uint8)),
    "bytes that are no text": array("graph/0", np.frombuffer(b"\xff\xfe", np.uint8)),
    "graphs exchanged": lambda document, arrays: arrays.update(
        {"graph/0": arrays["graph/1"], "graph/1": arrays["graph/0"]}
    ),
    "another number of hyperparameters": array("hypers", [0.1, 0.2]),
    "a hyperparameter too many": change("recipe", "hypers", to=["lr", "mu"]),
    "an unknown schedule": change("recipe", "schedules", to=["mu"]),
    "a schedule that is none": change("recipe", "schedules", to=["lr"]),
    "an unknown question": change("recipe", "queries", to=["value"]),
    "an unknown sampler": change("recipe", "stream", 2, to="best"),
    "another number of samples": change("recipe", "stream", 0, to=5),
    "a batch of none": change("recipe", "stream", 1, to=0),
    "a seed that is none": change("recipe", "stream", 3, to="a"),
    "a structure of two": change("recipe", "structure", to=["tuple", ["leaf", "leaf"]]),
    "no structure": change("recipe", "structure", to=7),
    "other shapes": change("recipe", "shapes", to=[[2]]),
    "other cells": change("recipe", "cells", to=[[[2], "float64"]]),
    "no threads": change("recipe", "threads", to=0),
    "a budget too small": change("recipe", "budgets", to=[-1, "a"]),
    "a criterion that is none": change("recipe", "stop", "steps", to=-4),
    "other groups": change("recipe", "loss", 0, 1, to=[2]),
    "a metric too many": change("recipe", "loss", 0, 2, to=["a"]),
    "a key too many": change("recipe", "loss", 0, 3, to=True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_contradicts_itself_is_refused(small, name):
    document, arrays = container.read(small, "run")
    container.write(small, "run", document, arrays)
    bl.load_run(small)  # written again it is as good
    CHANGES[name](document, arrays)
    container.write(small, "run", document, arrays)
    with pytest.raises(FileError, match=r"small\.burlab"):
        bl.load_run(small)
