"""States of losses that cannot be: refused before the first step, with the argument's name and the user's line."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, DTypeError, FileError, ShapeError
from burlab.optim import GD
from burlab.run.file import container
from burlab.run.file.save_run import KIND

A = np.arange(6.0).reshape(3, 2)
M = {"m": np.zeros(2)}


def fine(x: Any, a: Any, state: Any) -> Any:
    return np.sum((x - a) ** 2), state


def other_structure(x: Any, a: Any, state: Any) -> Any:
    return np.sum((x - a) ** 2), {"n": state["m"]}


def other_shape(x: Any, a: Any, state: Any) -> Any:
    new = np.concatenate([state["m"], a])  # here
    return np.sum((x - a) ** 2), {"m": new}


def other_dtype(x: Any, a: Any, state: Any) -> Any:
    new = state["m"] > a  # here
    return np.sum((x - a) ** 2), {"m": new}


def no_state(x: Any, a: Any, state: Any) -> Any:
    return np.sum((x - a - state["m"]) ** 2)


def no_array(x: Any, a: Any, state: Any) -> Any:
    return np.sum((x - a - state["m"]) ** 2), {"m": "text"}


def counted(x: Any, a: Any, state: Any) -> Any:
    new = state["m"] + (a > 1.0).astype(np.int64)  # here
    return np.sum((x - a) ** 2), {"m": new}


def drawn(x: Any, a: Any, state: Any, key: Any) -> Any:
    mask = bl.random.uniform(key, (2,)) < 0.5  # here
    return np.sum((x - a) ** 2), {"m": mask}


COUNTS, MASK = {"m": np.zeros(2, int)}, {"m": np.ones(2, bool)}
IN_LOSS: list[tuple[Callable[..., Any], Any, Any, type[Exception], str, str]] = [
    (other_structure, M, 1, ArgumentError, "the tree {'n': [*]}, expected the tree {'m': [*]}, as loss_state", "def "),
    (other_shape, M, 1, ShapeError, r"shape \(4,\) for loss_state\['m'\], expected \(2,\)", "# here"),
    (other_dtype, M, 1, DTypeError, r"bool for loss_state\['m'\], expected float64", "# here"),
    (no_state, M, 1, ArgumentError, r"returns \(value, state\); no_state returned one number", "def "),
    (no_array, M, 1, ArgumentError, r"a str for loss_state\['m'\], expected an array", "def "),
    (counted, COUNTS, 2, ArgumentError, r"loss_state\['m'\] is int64 and depends on the sample, .* batch=1", "# here"),
    (counted, COUNTS, None, ArgumentError, r"has up to 3 samples", "# here"),
    (counted, COUNTS, bl.Batch(1), ArgumentError, r"has up to 3 samples", "# here"),
    (drawn, MASK, 2, ArgumentError, r"loss_state\['m'\] is bool and depends on the sample", "# here"),
]


@pytest.mark.parametrize(("loss", "start", "batch", "error", "words", "line"), IN_LOSS)
def test_a_state_that_does_not_fit_is_refused_with_the_line_of_the_loss(
    loss: Callable[..., Any], start: Any, batch: Any, error: type[Exception], words: str, line: str
) -> None:
    with pytest.raises(error, match=words.replace("[*]", r"\*")) as found:
        bl.minimize(bl.FiniteSum(loss, A, loss_state=start), np.zeros(2), GD(0.1), batch=batch)
    assert isinstance(found.value, BurlabError)
    lines, first = inspect.getsourcelines(loss)
    number = next(k for k, text in enumerate(lines, first) if line in text)
    assert f'test_loss_state_refusals.py", line {number}: ' in str(found.value)


def test_whole_numbers_that_depend_on_the_sample_are_fine_where_a_step_sees_them_together() -> None:
    one = bl.minimize(bl.FiniteSum(counted, A, loss_state=COUNTS), np.zeros(2), GD(0.1), batch=1, steps=3)
    assert one.loss_state["m"].tolist() == [2, 2]
    many = bl.FiniteSum(counted, A, loss_state=COUNTS)  # queries write no state, so they take it
    assert many.value(np.ones(2)) == np.mean(np.sum((1 - A) ** 2, axis=1))


SUM: Any = bl.FiniteSum(fine, A, loss_state=M)
X0 = np.zeros(2)
SHARES = np.full(3, 1 / 3)
ELSEWHERE: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: bl.FiniteSum(fine, A), ArgumentError, r"required argument: 'state'.*loss_state="),
    (lambda: bl.BatchLoss(fine, A), ArgumentError, r"required argument: 'state'.*loss_state="),
    (lambda: bl.FiniteSum(lambda x, a: x @ a, A, loss_state=M), ArgumentError, "loss_state .* which takes none"),
    (lambda: bl.FiniteSum(lambda x, state: x @ state, A, loss_state=M), ArgumentError, "loss_state .* takes none"),
    (lambda: bl.FiniteSum(fine, A, loss_state={}), ArgumentError, "loss_state holds no array"),
    (lambda: bl.FiniteSum(fine, A, loss_state={"m": "text"}), DTypeError, r"loss_state\['m'\] is a str"),
    (lambda: bl.FiniteSum(fine, A, loss_state=np.float16(1)), DTypeError, "loss_state has dtype float16"),
    (lambda: SUM.value(X0, state={"m": np.zeros(3)}), ShapeError, r"state\['m'\] has shape \(3,\), expected \(2,\)"),
    (lambda: SUM.grad(X0, state={"m": np.zeros(2, int)}), DTypeError, r"state\['m'\] has dtype int64"),
    (lambda: SUM.hvp(X0, X0, state=[np.zeros(2)]), ArgumentError, "state is the tree"),
    (lambda: bl.FiniteSum(lambda x, a: x @ a, A).value(X0, state=M), ArgumentError, "state was given"),
    (lambda: bl.minimize(SUM, X0, GD(0.1), sampler=SHARES, batch=1), ArgumentError, "loss_state= has no weights"),
    (lambda: bl.minimize(SUM, X0, bl.optim.SciPy("BFGS")), ArgumentError, r"hyper, t or state"),
    (lambda: bl.FiniteSum(fine, A, model=lambda x, a: x - a, loss_state=M), ArgumentError, "not for one with model="),
    (lambda: bl.problems.federated(fine, [A, A]), ArgumentError, "'state'"),
    (lambda: bl.minimize(lambda x, state: x @ x, X0, GD(0.1)), ArgumentError, "'state'"),
    (lambda: bl.minimize(lambda x: x @ x, X0, GD(0.1), validation=SUM), ArgumentError, "validation reads what"),
    (
        lambda: bl.minimize(SUM, X0, GD(0.1), validation=bl.FiniteSum(fine, A, loss_state=(1.0, 2.0))),
        ArgumentError,
        "validation reads a state of its loss, the tree",
    ),
    (
        lambda: bl.minimize(bl.FiniteSum(fine, A, loss_state=M, has_aux=True), X0, GD(0.1)),
        ArgumentError,
        r"returns \(value, state, metrics\); fine returned a tuple of 2",
    ),
]


@pytest.mark.parametrize(("bad", "error", "words"), ELSEWHERE)
def test_bad_states_are_refused(bad: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as found:
        bad()
    assert isinstance(found.value, BurlabError)


def test_a_parameter_with_a_value_of_its_own_keeps_it() -> None:
    assert bl.FiniteSum(lambda x, a, state=2.0: state * x * a, np.ones(3)).value(1.0) == 2.0
    assert bl.FiniteSum(lambda x, state: x * state, np.arange(4.0)).value(1.0) == 1.5


def test_a_python_number_stands_for_a_leaf_that_can_hold_it() -> None:
    f = bl.FiniteSum(lambda x, a, state: (x * a, (1, 0.0)), np.ones(2), loss_state=(0.5, np.float32(1)))
    run = bl.minimize(f, 1.0, GD(0.1), steps=1)
    assert [leaf.dtype.name for leaf in run.loss_state] == ["float64", "float32"]
    assert run.loss_state == (1.0, 0.0)
    f = bl.FiniteSum(lambda x, a, state: (x * a, 0.5), np.ones(2), loss_state=0)
    with pytest.raises(DTypeError, match="float64 for loss_state, expected int64"):
        bl.minimize(f, 1.0, GD(0.1))


def _without(recipe: Any) -> None:
    del recipe["loss_state"]


def _too_many(recipe: Any) -> None:
    recipe["loss_state"][0] = 9


def _of_another_form(recipe: Any) -> None:
    recipe["loss_state"][1] = ["dict", [["m", "leaf"], ["n", "leaf"]]]


def _unread(recipe: Any) -> None:
    recipe["numbers"] = None


DAMAGES: list[tuple[Callable[[Any], None], str]] = [
    (_without, "its loss does not fit its kernels|expected"),
    (_too_many, "has 9 arrays of 2"),
    (_of_another_form, "1 arrays, and a structure of 2"),
    (_unread, "read by none"),
]


@pytest.mark.parametrize(("damage", "words"), DAMAGES)
def test_a_damaged_file_is_refused(damage: Callable[[Any], None], words: str, tmp_path: Path) -> None:
    run = bl.minimize(SUM, X0, GD(0.1), batch=1, steps=3)
    run.save(tmp_path / "run.burlab")
    document, arrays = container.read(tmp_path / "run.burlab", KIND)
    damage(document["recipe"])
    container.write(tmp_path / "damaged.burlab", KIND, document, arrays)
    with pytest.raises(FileError, match=words):
        bl.load_run(tmp_path / "damaged.burlab", A)
