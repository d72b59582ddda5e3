"""Bodies of control flow open as scopes, with the numbers of their last iteration."""

import numpy as np
import pytest

import burlab as bl
from burlab.widgets.graph_view.detail import detail
from burlab.widgets.graph_view.graph_model import GraphModel
from burlab.widgets.graph_view.value_summary import summarize
from burlab.widgets.graph_view.viewed_graph import subjects_of

XS = np.array([0.3, -0.2, 0.7, 1.1])


def model_of(thing, *args):
    model = GraphModel(next(iter(subjects_of(thing, args).values()))())
    model.show_numbers(True)
    return model


def group(model, title):
    return next(g for g, name in model.groups.titles.items() if name == title)


def inside(model, title, head):
    """The text of the value with this head in this group."""
    members = model.groups.members[group(model, title)]
    (k,) = (k for k in members if model.network.vertices[k].head == head)
    return model.sweep.values[k].text


def cumulated(w, xs):
    return bl.scan(lambda c, x: (np.tanh(c * w + x), np.sin(c)), 0.1, xs)


def summed(w, xs):
    c, sines = cumulated(w, xs)
    return c + np.sum(sines)


def states(w, xs, reverse=False):
    """The carries before each iteration, and the last one, in plain Python."""
    found = [0.1]
    for x in xs[::-1] if reverse else xs:
        found.append(np.tanh(found[-1] * w + x))
    return found


def test_a_scan_opens_and_shows_its_last_iteration():
    model = model_of(summed, 0.6, XS)
    title = "scan, 4 iterations"
    assert group(model, title) not in model.opened
    model.toggle(group(model, title))
    assert inside(model, title, "carry, first 0.1") == summarize(states(0.6, XS)[3]).text
    assert inside(model, title, "tanh") == summarize(states(0.6, XS)[4]).text
    assert inside(model, title, "sin") == summarize(np.sin(states(0.6, XS)[3])).text
    assert {"tanh", "sin"} <= {
        model.network.vertices[box.item].head for box in model.picture.boxes if box.item < len(model.network.vertices)
    }


def read_by(model, head):
    """The heads of what a vertex is computed from."""
    (k,) = (k for k, v in enumerate(model.network.vertices) if v.head == head)
    return [model.network.vertices[x].head for x in model.network.vertices[k].operands]


def test_each_result_comes_from_what_gives_it():
    model = model_of(cumulated, 0.6, XS)
    assert read_by(model, "scan [0]") == ["tanh"]
    assert read_by(model, "scan [1]") == ["sin"]
    kernel = model_of(bl.compile(lambda w: cumulated(w, XS)[0], 0.6))
    assert read_by(kernel, "scan [2]") == ["carry, first 0.1"], "what the carry was before each iteration"
    assert read_by(model_of(halved, 20.0), "while [1]") == ["greater(·, 1)", "add"]
    assert read_by(model_of(chosen, 0.5), "cond [0]") == ["greater(·, 0)", "sin", "mul(·, 3)"]


def test_reverse_scan_ends_at_the_first_element():
    model = model_of(lambda w, xs: bl.scan(lambda c, x: (np.tanh(c * w + x), c), 0.1, xs, reverse=True)[0], 0.6, XS)
    assert inside(model, "scan, 4 iterations", "tanh") == summarize(states(0.6, XS, reverse=True)[4]).text


def test_a_scan_without_iterations_executes_nothing():
    model = model_of(cumulated, 0.6, XS[:0])
    assert inside(model, "scan, 0 iterations", "tanh") == "not executed"


def halved(x):
    return bl.while_loop(lambda s: s[0] > 1, lambda s: (s[0] / 2, s[1] + s[0]), (x, 0.0))


def test_a_loop_shows_the_last_question_and_the_last_iteration():
    model = model_of(halved, 20.0)
    assert inside(model, "condition", "greater(·, 1)") == "False"
    assert inside(model, "condition", "s.0") == "0.625"
    assert inside(model, "body", "s.0") == "1.25"
    assert inside(model, "body", "add") == summarize(20 + 10 + 5 + 2.5 + 1.25).text


def test_a_loop_that_never_runs_has_no_last_iteration():
    model = model_of(halved, 0.5)
    assert inside(model, "condition", "greater(·, 1)") == "False"
    assert inside(model, "body", "s.0") == "not executed"


def chosen(x):
    return bl.cond(x > 0, np.sin, lambda v: v * 3, x)


@pytest.mark.parametrize(("x", "taken", "left"), [(0.5, "sin", "mul(·, 3)"), (-0.5, "mul(·, 3)", "sin")])
def test_of_a_choice_only_the_side_that_was_taken_has_numbers(x, taken, left):
    model = model_of(chosen, x)
    sides = {"sin": ("true", np.sin(x)), "mul(·, 3)": ("false", x * 3)}
    assert inside(model, sides[taken][0], taken) == summarize(sides[taken][1]).text
    assert inside(model, sides[left][0], left) == "not executed"
    executed = {model.network.vertices[step.vertex].head for step in model.sweep.steps}
    assert taken in executed
    assert left not in executed


def test_batched_branches_have_no_single_number():
    model = model_of(bl.vmap(chosen), XS)
    assert inside(model, "true", "sin") == "one for each row"
    assert any(title.startswith("cond, for 4 rows") for title in model.groups.titles.values())


def test_a_scan_in_a_scan_opens_too():
    def f(w, xs):
        return bl.scan(lambda c, x: (bl.scan(lambda d, y: (np.tanh(d * w) + y, d), c, xs[:3])[0] * x, c), 0.1, xs)[0]

    model = model_of(f, 0.6, XS)
    c = 0.1
    for x in XS:
        d = c
        for y in XS[:3]:
            tanh = np.tanh(d * 0.6)
            d = tanh + y
        c = d * x
    outer, inner = group(model, "scan, 4 iterations"), group(model, "scan, 3 iterations")
    assert model.groups.parent[inner] == outer
    assert inside(model, "scan, 3 iterations", "tanh") == summarize(tanh).text


def test_a_region_that_is_executed_twice_opens_twice():
    f = bl.jit(cumulated)

    def twice(w, xs):
        return f(w, xs)[0] + f(2 * w, xs)[0]

    model = model_of(twice, 0.6, XS)
    for title, w in (("scan, 4 iterations", 0.6), ("scan, 4 iterations (2)", 1.2)):
        assert inside(model, title, "tanh") == summarize(states(w, XS)[4]).text


def test_the_backward_scan_of_a_kernel_is_a_scope_of_the_backward_pass():
    kernel = bl.compile(lambda w: cumulated(w, XS)[0], 0.6)
    model = model_of(kernel)
    back = group(model, "∇ scan, 4 iterations")
    assert all(model.network.vertices[k].backward for k in model.groups.members[back])
    forward = group(model, "scan, 4 iterations")
    assert not any(model.network.vertices[k].backward for k in model.groups.members[forward])


def test_a_loop_without_a_derivative_shows_its_values():
    model = model_of(halved, 20.0)
    assert not model.sweep.growth
    assert summarize(halved(20.0)[0]).text in {value.text for value in model.sweep.values}


def test_steps_go_through_the_last_iteration_and_a_closed_scan_is_one():
    model = model_of(summed, 0.6, XS)
    scan = group(model, "scan, 4 iterations")
    model.step()
    assert model.groups.shown(model.step_now.vertex, model.opened) == scan
    model.seek(0)
    model.toggle(scan)
    rules = set()
    while model.done != model.sweep.forward:
        model.step()
        rules.add(model.step_now.rule())
    assert {"y = 0.1, then what the iteration before gave", "y = a[k], in iteration k", "y = tanh(a)"} <= rules


def test_a_line_is_found_inside_and_its_scope_opens():
    model = model_of(summed, 0.6, XS)
    model.search("tanh")
    assert group(model, "scan, 4 iterations") in model.opened
    assert model.network.vertices[model.selected].operation == "tanh"


def test_nodes_inside_share_the_time_and_have_their_own_cpp():
    model = model_of(cumulated, 0.6, XS)
    (tanh,) = (k for k, v in enumerate(model.network.vertices) if v.operation == "tanh")
    told = detail(model, tanh)
    assert any("tanh" in line for line in told["cpp"])
    assert dict(told["rows"])["value, last iteration"] == summarize(states(0.6, XS)[4]).text
    model.colour_by("time")
    whole = model.heats[group(model, "scan, 4 iterations")]
    assert whole.share == 1
    assert model.heats[tanh].share < 1
    place = model.subject.places[tanh]
    assert whole.text == f"{model.subject.times[place.step]:.0f} ns", "the parts are the whole"


def test_nan_inside_of_a_scan_is_marked_up_to_it():
    model = model_of(lambda x: bl.scan(lambda c, y: (np.log(c) + y, c), x, XS)[0], 0.5)
    scan = group(model, "scan, 4 iterations")
    assert model.faults[scan] in ("nan", "inf")


def difference(before, after, *args):
    """The fate of each vertex in control flow, by its scope and what it is."""
    model = bl.GraphView.diff(before, after, *args).model
    pairs = zip(model.network.vertices, model.fates, strict=True)
    return {("/".join(v.scope), v.head): fate for v, fate in pairs if v.scope and v.head != "constant"}


def repeated(act, times=1):
    return lambda w: times * bl.scan(lambda c, x: (act(c * w + x), np.sin(x)), 0.1, XS)[0]


def test_a_difference_opens_what_is_the_same():
    fates = difference(repeated(np.tanh), repeated(np.tanh, 2), 0.6)
    assert len(fates) >= 8
    assert set(fates.values()) == {"same"}
    view = bl.GraphView.diff(repeated(np.tanh), repeated(np.tanh, 2), 0.6)
    assert view.model.fates.count("added") == 1


def test_difference_shows_changes_inside_of_a_scan():
    fates = {head: fate for (_, head), fate in difference(repeated(np.tanh), repeated(np.arctan), 0.6).items()}
    assert (fates["tanh"], fates["arctan"]) == ("removed", "added")
    assert fates["carry, first 0.1"] == fates["mul"] == fates["add"] == "affected", "the carry is another number"
    assert fates["x"] == fates["w"] == fates["sin"] == "same", "what the carry does not reach"
    assert fates["scan [0]"] == "affected"


def test_a_difference_opens_branches_and_loops():
    fates = difference(
        lambda x: bl.cond(x > 0, np.sin, np.cos, x), lambda x: bl.cond(x > 0, np.sin, lambda x: np.cos(x) * 2, x), 0.6
    )
    assert fates["cond/true", "sin"] == fates["cond/false", "cos"] == "same"
    assert fates["cond/false", "mul(·, 2)"] == "added"
    fates = difference(
        lambda x: bl.while_loop(lambda c: c < 10, lambda c: c * 2 + x, x),
        lambda x: bl.while_loop(lambda c: c < 10, lambda c: c * 2 - x, x),
        0.6,
    )
    assert (fates["while_loop/body", "add"], fates["while_loop/body", "sub"]) == ("removed", "added")
    assert fates["while_loop/condition", "less(·, 10)"] == "affected"


def test_a_difference_opens_control_flow_within_another_and_keeps_its_arrows():
    def inner(act):
        def body(c, x):
            return bl.cond(x > 0, act, lambda c: c * 2, c), x

        return lambda c: bl.scan(body, c, XS)[0]

    view = bl.GraphView.diff(inner(np.tanh), inner(np.arctan), 0.5)
    vertices, fates = view.model.network.vertices, view.model.fates
    at = {v.head: k for k, v in enumerate(vertices) if "cond" in "/".join(v.scope)}
    assert (fates[at["tanh"]], fates[at["arctan"]], fates[at["mul(·, 2)"]]) == ("removed", "added", "affected")
    assert vertices[at["tanh"]].operands == vertices[at["arctan"]].operands
    assert all(j < k for k, v in enumerate(vertices) for j in v.operands)


def test_a_difference_keeps_executions_apart_that_are_called_the_same():
    fates = difference(
        lambda x: bl.scan(lambda c, y: (np.tanh(c), y), x, XS)[0],
        lambda x: bl.scan(lambda c, y: (np.sin(c), y), np.ones(2) * x, XS)[0][0],
        0.5,
    )
    assert fates["scan, 4 iterations, before", "tanh"] == "removed"
    assert fates["scan, 4 iterations", "sin"] == "added"


def test_results_of_one_scan_are_not_taken_for_a_gradient():
    """Its carry is a number, and what it stacks has the shape of its sequence."""
    model = model_of(cumulated, 0.6, XS)
    assert not any(v.backward or v.name for v in model.network.vertices)


def test_two_nodes_are_never_matched_to_one():
    def twice(x, a, b):
        return np.sin(x * a) + np.sin(x * b)

    view = bl.GraphView.diff(lambda x: twice(x, 2, 2), lambda x: twice(x, 2, 3), 0.5)
    vertices = view.model.network.vertices
    fates = [fate for v, fate in zip(vertices, view.model.fates, strict=True) if v.operation == "sin"]
    assert sorted(fates) == ["added", "same"]
