import pytest
from tests.browser.panels import ENDLESS, SETUP, Panel, write_run

pytestmark = pytest.mark.browser
WATCH = """
with bl.watch("my loop", lr=0.25) as w:
    x = 1.0
    for step in range(STEPS):
        w.log(step, value=x**2 + 1e-9, accuracy=1 - 0.9**step)
        x -= w.lr * 0.02 * x
        time.sleep(0.003)
"""


def both(panel, name):
    for size in ((1366, 768), (600, 768)):
        panel.page.set_viewport_size({"width": size[0], "height": 1900})
        panel.page.wait_for_timeout(900)
        panel.shot(f"{name}_{size[0]}_full")
        panel.page.set_viewport_size({"width": size[0], "height": size[1]})
        panel.page.wait_for_timeout(600)
        panel.page.screenshot(path=f"build/screenshots/{name}_{size[0]}.png")
    panel.page.set_viewport_size({"width": 1280, "height": 1500})


@pytest.mark.parametrize("panel", [write_run(ENDLESS)], indirect=True)
def test_running(panel):
    panel.press("play")
    panel.says(r"Running: step [\d,]{3,}, .* steps per second")
    both(panel, "zz_running")
    panel.press("pause")
    panel.says("Paused at step")
    panel.enter("go to step", "100")
    panel.says("At step 100")
    both(panel, "zz_past")


def test_paused(panel):
    panel.enter("number of steps", "300")
    panel.says("Paused at step 300$")
    both(panel, "zz_paused")


@pytest.mark.parametrize("panel", [write_run("1.0")], indirect=True)
def test_diverged(panel):
    panel.enter("number of steps", "100")
    panel.says("Stopped at step")
    both(panel, "zz_diverged")


def test_watch(open_notebook):
    notebook = open_notebook("watchshot", [SETUP, WATCH.replace("STEPS", "100000"), "pass"])
    notebook.start(1)
    panel = Panel(notebook)
    panel.says(r"^Running: step [\d,]{3,}, .* steps per second")
    both(panel, "zz_watch_running")
    panel.press("pause")
    panel.says(r"^Paused at step")
    both(panel, "zz_watch_paused")
    notebook.command("notebook:interrupt-kernel")
    panel.says(r"^The loop was interrupted")
    both(panel, "zz_watch_ended")


def test_race(open_notebook):
    notebook = open_notebook(
        "raceshot",
        [
            SETUP,
            'f = bl.problems.rosenbrock()\nrace = bl.race(f, f.start, {"momentum": bl.optim.Momentum(5e-4, mu=0.9), "Adam": bl.optim.Adam(2e-2)})\nrace',
            "pass",
        ],
    )
    notebook.run(1)

    class R(Panel):
        kind = "burlab-race"

    panel = R(notebook)
    panel.press("play")
    panel.says(r"step \d{2,}")
    both(panel, "zz_race")
    panel.press("pause")
