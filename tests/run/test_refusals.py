"""Invalid numbers, paths and runs of users and files: each is refused with a clear error."""

import json

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, FileError
from burlab.experiments.folder import Folder
from burlab.experiments.sweep_rows import from_json
from burlab.experiments.trial_lists import trials_of


def bowl(x):
    return np.sum(x**2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: bl.optim.LBFGS(memory=10**9),
        lambda: bl.optim.MFAC(memory=10**9),
        lambda: bl.problems.rosenbrock(10**15),
        lambda: bl.optim.SciPy(bounds=(2, 1)),
        lambda: bl.plots.compare(None),
        lambda: bl.plots.compare({"a": 3}),
        lambda: bl.plots.compare({"a": {"step": [0]}}),
        lambda: bl.SpectrumView(0),
        lambda: bl.minimize(bowl, np.ones(2), bl.optim.GD(), has_aux="no"),
        lambda: bl.minimize(bowl, np.ones(2), bl.optim.GD(), steps=1, progress="no"),
        lambda: bl.Stop(grad_norm=-1),
    ],
)
def test_an_argument(make):
    with pytest.raises(ArgumentError, match=r"[Pp]ass|expected"):
        make()


@pytest.mark.parametrize("name", ["x" * 400, "é" * 200])
def test_a_name_that_is_too_long(tmp_path, name):
    run = bl.minimize(bowl, np.ones(2), bl.optim.GD(), steps=1)
    with pytest.raises(FileError, match="too long"):
        run.save(tmp_path / name)


def test_a_name_with_half_a_character(tmp_path):
    run = bl.minimize(bowl, np.ones(2), bl.optim.GD(), steps=1)
    with pytest.raises(ArgumentError, match="no file's name can"):
        run.save(str(tmp_path / "a\ud800.burlab"))
    with pytest.raises(ArgumentError, match="no file's name can"):
        bl.load_run(str(tmp_path / "a\ud800.burlab"))


def test_a_name_as_long_as_names_can_be(tmp_path):
    run = bl.minimize(bowl, np.ones(2), bl.optim.GD(), steps=1)
    place = tmp_path / ("x" * 255)
    run.save(place)
    np.testing.assert_array_equal(bl.load_run(place).x, run.x)


ROWS = [
    '{"counts": null}',
    "null",
    "[]",
    '"text"',
    "3",
    "[" * 100_000 + "]" * 100_000,
    '{"a":' * 100_000 + "1" + "}" * 100_000,
    '{"value": 1e999, "seconds": "0x0p0"}',
]


def row(**changes):
    trial = trials_of(bl.optim.GD(), None, 1)[0]
    plain = {
        "value": "0x1p0", "seconds": "0x1p0", "validation": None, "steps": 1, "counts": {}, "reason": "steps",
        "message": "",
    }  # fmt: skip
    assert from_json(trial, json.dumps(plain)).value == 1.0
    return json.dumps(plain | changes)


@pytest.mark.parametrize(
    "text",
    [
        *ROWS,
        *(row(**{k: v}) for k in ("counts", "value", "steps", "validation") for v in (None, [], {}, 1e300, "x", True)),
    ],
)
def test_a_row_of_a_sweep_that_is_none_is_done_again(tmp_path, text):
    trial = trials_of(bl.optim.GD(), None, 1)[0]
    folder = Folder(tmp_path)
    (tmp_path / "00000.json").write_text(text)
    (tmp_path / "00000.burlab").write_bytes(b"")
    found = folder.row(trial)
    assert found is None or np.isfinite(found.value)
