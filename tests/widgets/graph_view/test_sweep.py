"""The sweeps that a view steps through give the numbers that burlab computes elsewhere, and say true rules."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.widgets.graph_view.graph_model import GraphModel
from burlab.widgets.graph_view.value_summary import summarize
from burlab.widgets.graph_view.viewed_graph import subjects_of

W, X = np.linspace(-1, 1, 6).reshape(3, 2), np.linspace(0, 2, 12).reshape(4, 3)


def loss(w, x):
    y = np.tanh(x @ w)
    return np.sum((y - 0.5) ** 2 / (1 + y**2)) + np.max(w)


def model_of(thing, *args):
    return GraphModel(next(iter(subjects_of(thing, args).values()))())


def number(model, head):
    return next(k for k, v in enumerate(model.network.vertices) if v.head == head)


def test_gradients_of_a_function_are_those_of_grad():
    model = model_of(loss, W, X)
    for name, gradient in zip("wx", bl.grad(loss, argnums=(0, 1))(W, X), strict=True):
        assert model.sweep.gradient(number(model, name)).text == summarize(gradient).text
    assert summarize(loss(W, X)).text in {value.text for value in model.sweep.values}


@pytest.mark.parametrize(
    "f",
    [
        np.max,
        np.min,
        np.linalg.norm,
        lambda w: np.sum(bl.stop_gradient(w) * w),
        lambda w: np.sum(np.sort(w, axis=0) ** 2),
    ],
    ids=["max", "min", "norm", "stop_gradient", "sort"],
)
def test_so_are_those_of_operations_with_a_rule_of_their_own(f):
    def named(w):
        return f(w)

    model = model_of(named, W)
    assert model.sweep.gradient(number(model, "w")).text == summarize(bl.grad(f)(W)).text


def test_a_simplified_graph_has_no_backward_sweep_where_it_lost_derivatives():
    kernel = bl.compile(loss, W, X)
    for model in (model_of(kernel.graph, W, X), GraphModel(subjects_of(kernel, ())["value"]())):
        assert model.sweep.gradient(number(model, "w")) is None
        assert summarize(loss(W, X)).text in {value.text for value in model.sweep.values}
    whole = GraphModel(subjects_of(kernel, ())["value and gradient"]())
    assert whole.sweep.gradient(number(whole, "w")).text == summarize(bl.grad(loss)(W, X)).text


def test_of_a_layer_they_are_those_of_the_sum_of_its_result():
    layer = bl.nn.MLP([3, 4, 2], key=bl.random.key(0), dtype=np.float64)
    model = model_of(layer, X[1])
    gradient = bl.grad(lambda layer: np.sum(layer(X[1])))(layer)
    assert model.sweep.gradient(number(model, "self.layers.0.weight")) == summarize(gradient.layers[0].weight)


def test_a_value_steps_to_the_gradients_of_backward():
    """The graph of the first page of micrograd's test, with the numbers of the paper."""
    a, b = bl.Value(-41.0, label="a"), bl.Value(2.0, label="b")
    d = a * b + b**3
    g = ((a + b) - d) ** 2 / 2
    g.backward()
    model = model_of(g)
    sweep = model.sweep
    assert [sweep.gradient(number(model, name)).text for name in "ab"] == ["-35", "1050"]
    assert sweep.values[-1].text == "612.5"
    partial_sums = [text.text for _, text in sweep.growth[number(model, "b")]]
    assert partial_sums[-1] == "1050"
    assert len(partial_sums) == 3  # a + b, b**3, a * b: each hands on its share


def test_shares_of_a_step_add_up_to_the_gradients():
    model = model_of(lambda x: x * x, 3.0)
    (step,) = [s for s in model.sweep.steps if s.flows]
    assert [flow.share.text for flow in step.flows] == ["3", "3"]
    assert model.sweep.gradient(0).text == "6"


@pytest.mark.parametrize(
    ("f", "rules"),
    [
        (np.tanh, ["ā += ȳ·(1 − y²)"]),
        (np.exp, ["ā += ȳ·y"]),
        (lambda x: x * 3, ["ā += ȳ·3"]),
        (lambda x: 1 / x, ["ā += ȳ·(−y / a)"]),
        (lambda x: x + x, ["ā += ȳ", "ā += ȳ"]),
        (lambda x: x - 2, ["ā += ȳ"]),
    ],
)
def test_the_rule_of_a_step_is_that_of_the_operation(f, rules):
    last = model_of(f, 0.5).sweep.steps[-1]
    assert [flow.rule() for flow in last.flows] == rules


@pytest.mark.parametrize(
    ("f", "rules"),
    [
        (lambda a: a * 2, ["ā += ȳ·2"]),
        (lambda a: a + a, ["ā += ȳ", "ā += ȳ"]),
        (lambda a: 2 - a, ["ā += −ȳ"]),
        (lambda a: a.tanh(), ["ā += ȳ·(1 − y²)"]),
    ],
)
def test_the_rules_of_a_value_are_the_same(f, rules):
    last = model_of(f(bl.Value(0.5))).sweep.steps[-1]
    assert [flow.rule() for flow in last.flows] == rules


def test_a_contraction_shows_the_transposed_one():
    model = model_of(lambda w, x: np.sum(x @ w), W, X)
    step = next(s for s in model.sweep.steps if s.flows and model.network.vertices[s.vertex].operation == "contract")
    assert [flow.rule() for flow in step.flows] == ["ā += contract ac,bc->ab(ȳ, b)", "b̄ += contract ab,ac->bc(a, ȳ)"]


def test_values_appear_forward_and_gradients_backward():
    model = model_of(loss, W, X)
    tanh = number(model, "tanh")
    model.step()
    assert model.lines(tanh)[2:] == ("",)
    while model.step_now.vertex != tanh:
        model.step()
    assert model.lines(tanh)[2] == model.sweep.values[tanh].text
    assert len(model.lines(tanh)) == 3
    model.seek(len(model.sweep.steps))
    assert model.lines(tanh)[3].startswith("∇")
    model.step(-1)
    assert model.done == len(model.sweep.steps) - 1


def test_a_closed_group_is_one_step():
    model = model_of(bl.nn.GPT(key=bl.random.key(0)), np.array([3, 1, 4]))
    boxes = []
    for _ in range(16):
        model.step()
        boxes.append((model.lines(model.groups.shown(model.step_now.vertex, model.opened))[0], model.step_now.phase))
    assert [name for name, _ in boxes[:8]] == ["embedding", *(f"blocks.{k}" for k in range(6)), "head"]
    assert [name for name, _ in boxes[8:]] == [name for name, _ in boxes[7::-1]]
    assert [phase for _, phase in boxes] == ["forward"] * 8 + ["backward"] * 8
    before = model.done
    model.step(-3)
    model.step(3)
    assert model.done == before


def test_of_value_and_gradient_the_backward_nodes_are_the_backward_steps():
    model = GraphModel(subjects_of(bl.compile(loss, W, X), ())["value and gradient"]())
    sweep = model.sweep
    phases = [step.phase for step in sweep.steps]
    assert phases == sorted(phases, reverse=True)
    last = next(k for k, v in enumerate(model.network.vertices) if v.name == "w")
    assert sweep.values[last] == summarize(bl.grad(loss)(W, X))


def test_nonfinite_nodes_are_marked_up_to_their_group():
    def f(x):
        with bl.scope("inner"):
            y = np.log(x - 1)
        return np.sum(y * x) + np.sum(np.tanh(x))

    model = model_of(f, np.array([1.0, 2.0]))
    model.show_numbers(True)
    group = next(g for g, title in model.groups.titles.items() if title == "inner")
    assert model.faults[number(model, "log")] == "inf"
    assert model.faults[group] == "inf"
    assert number(model, "tanh") not in model.faults


def test_numbers_stand_on_boxes_that_do_not_move():
    model = model_of(loss, W, X)
    model.step()
    first = model.picture
    for _ in range(30):
        model.step()
        assert model.picture == first


def test_heat_by_gradient_time_and_bytes():
    model = model_of(lambda w, x: loss(w, x) * 1e-3, W, X)
    model.colour_by("bytes")
    assert model.heats[number(model, "x")].text == "96 B"
    model.colour_by("gradient")
    assert max(h.share for h in model.heats.values()) == 1
    model.colour_by("time")
    assert sum(h.share == 1 for h in model.heats.values()) >= 1
    assert "ns" in model.heats[number(model, "tanh")].text


def test_heat_by_digits_that_are_not_right():
    model = model_of(lambda x: (1 - np.cos(x)) / x**2, 1e-7)
    model.colour_by("digits")
    places = {v.operation: k for k, v in enumerate(model.network.vertices)}
    cold, hot = model.heats[places["cos"]], model.heats[places["sub"]]
    assert cold.share < 0.1
    assert hot.share > 0.8
    assert hot.text.endswith("digits are not right")
    narrow = model_of(lambda x: (1 - np.cos(x)) / x**2, np.float32(3e-4))
    narrow.colour_by("digits")
    assert narrow.heats[places["sub"]].share > 0.8, "all of the digits that a float32 has"


def test_a_view_opens_in_a_colour():
    def naive(x):
        return (1 - np.cos(x)) / x**2

    assert bl.GraphView(naive, 1e-7, colour="digits").svg() != bl.GraphView(naive, 1e-7).svg()
    with pytest.raises(ArgumentError, match="coloured by none, gradient"):
        bl.GraphView(naive, 1e-7, colour="right")


def test_heat_by_gradient_separates_six_decades():
    model = model_of(lambda x, y, z: np.sum(x) + 1e-3 * np.sum(y) + 1e-9 * np.sum(z), W, X, W)
    model.colour_by("gradient")
    shares = [model.heats[number(model, name)].share for name in "xyz"]
    assert shares == pytest.approx([1.0, 0.5, 0.0])
