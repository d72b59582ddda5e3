"""A chart under fingers: two zoom and move it, one moves what is zoomed in. Real touch events of the browser."""

import pytest

from tests.browser.test_chart import drawn, page, place  # noqa: F401 - fixtures

pytestmark = pytest.mark.browser


@pytest.fixture
def fingers(drawn):  # noqa: F811 - the fixture above
    """Put fingers on places of the page, move them to others, and lift them."""
    session = drawn.context.new_cdp_session(drawn)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})

    def send(kind, places):
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def go(first, last, steps=6):
        send("touchStart", first)
        for k in range(1, steps + 1):
            t = k / steps
            send(
                "touchMove",
                [((1 - t) * a + t * c, (1 - t) * b + t * d) for (a, b), (c, d) in zip(first, last, strict=True)],
            )
        send("touchEnd", [])

    yield go
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    session.detach()


def places(chart, name, *across, up=0.5):
    return [place(chart, name, share, up) for share in across]


def zoom(chart, key):
    return chart.evaluate(f"chart.zooms.get('{key}') ?? null")


def test_two_fingers_zoom_a_plot_one_moves_it_and_two_bring_it_back(drawn, fingers):  # noqa: F811
    low, high = drawn.evaluate("[part('value').frame.sx.low, part('value').frame.sx.high]")
    wide = high - low
    fingers(places(drawn, "value", 0.4, 0.6), places(drawn, "value", 0.2, 0.8))
    assert zoom(drawn, "x step") == pytest.approx([low + wide / 3, low + 2 * wide / 3], abs=0.01 * wide)
    drawn.wait_for_function(f"part('bytes').frame.sx.low > {low + 0.2 * wide}")
    assert zoom(drawn, "y value") is None, "heights follow what is in sight"
    fingers(places(drawn, "value", 0.5), places(drawn, "value", 0.8))
    assert zoom(drawn, "x step") == pytest.approx([low + 0.2333 * wide, low + 0.5667 * wide], abs=0.01 * wide)
    drawn.wait_for_function(f"part('bytes').frame.sx.low < {low + 0.3 * wide}")
    fingers(places(drawn, "value", 0.2), places(drawn, "value", 0.9))
    drawn.wait_for_function(f"Math.abs(part('bytes').frame.sx.low - {low}) < {0.01 * wide}")
    assert zoom(drawn, "x step")[1] == pytest.approx(low + wide / 3, abs=0.01 * wide), "it stays within the record"
    fingers(places(drawn, "value", 0.1, 0.9), places(drawn, "value", 0.45, 0.55))
    assert zoom(drawn, "x step") is None


def test_two_fingers_zoom_a_map_both_ways_and_a_tap_is_a_click(drawn, fingers):  # noqa: F811
    fingers(
        [place(drawn, "plane", 0.4, 0.4), place(drawn, "plane", 0.6, 0.6)],
        [place(drawn, "plane", 0.3, 0.3), place(drawn, "plane", 0.7, 0.7)],
    )
    assert zoom(drawn, "map plane") == pytest.approx([-0.5, 0.5], abs=0.02)
    assert zoom(drawn, "y plane") == pytest.approx([-0.5, 0.5], abs=0.02)
    drawn.wait_for_function("part('plane').frame.sy.high < 0.6")
    fingers(places(drawn, "plane", 0.5), [place(drawn, "plane", 0.5, 0.7)])
    assert zoom(drawn, "y plane") == pytest.approx([-0.7, 0.3], abs=0.02)
    drawn.wait_for_function("part('plane').frame.sy.high < 0.35")
    drawn.evaluate("said.length = 0")
    fingers(places(drawn, "plane", 0.5), places(drawn, "plane", 0.5))
    (tapped,) = drawn.evaluate("said.filter(({ type }) => type === 'pick')")
    assert (tapped["part"], tapped["x"], tapped["y"]) == (
        "plane",
        pytest.approx(0, abs=0.02),
        pytest.approx(-0.2, abs=0.02),
    )


def test_one_finger_on_a_whole_plot_looks_and_selects(drawn, fingers):  # noqa: F811
    low, high = drawn.evaluate("[part('value').frame.sx.low, part('value').frame.sx.high]")
    fingers(places(drawn, "value", 0.5), places(drawn, "value", 0.75))
    assert zoom(drawn, "x step") == pytest.approx([low + 0.5 * (high - low), low + 0.75 * (high - low)], rel=0.02)
