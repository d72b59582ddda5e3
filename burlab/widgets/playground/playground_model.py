"""The state of a playground, and the actions of its controls: the panel of its run, and what can be changed besides."""

from typing import Any

import numpy as np

from burlab.charts import Chart
from burlab.errors import ArgumentError
from burlab.optim.batches import BATCH
from burlab.widgets.live import readable
from burlab.widgets.live.fields import one_of, real_from, whole_from
from burlab.widgets.live.live_model import LiveModel
from burlab.widgets.page_worker import Intent
from burlab.widgets.panel.panel_model import PanelModel
from burlab.widgets.panel.scales import SliderScale, texts

from .network_pictures import PlaneGrid, answers, network_state
from .playground_chart import LossPlot, chart_of, plane_map, points_of
from .playground_setting import MAX_LAYERS, MAX_NEURONS, USER_DATA
from .playgrounds import Playground

_NOISE = SliderScale("linear", 0.0, 1.0)
_KNOBS = ("lr", BATCH, "mu", "noise")  # in this order; further hyperparameters are left to code
_MENUS = ("data", "activation", "optimizer", "dtype", "numbers", "rounding")
_PANEL_INTENTS = ("play", "back", "pause", "step", "rewind", "reset", "seek", "speed", "slide", "enter", "zoom")
_COMPILING = "Compiling the training step: a moment, and longer for the first time on this machine"


class PlaygroundModel(LiveModel):
    """The view of one playground: a `PanelModel` drives its run."""

    def __init__(self, playground: Playground) -> None:
        super().__init__()
        self.playground = playground
        self.panel: PanelModel | None = None
        self._due = playground.opened  # whether a run is to be opened, or shown
        self._plays = False  # whether it plays then
        self._probed: tuple[int, int] | None = None  # the layer and the neuron that the map shows
        self._loss = LossPlot()
        self._version = 0
        self._drawn: Any = None  # what the map was drawn of
        self._chart = Chart(())
        self._network: dict[str, Any] = {}
        self._knobs: list[dict[str, Any]] = []  # of the run; until another one is open those of the one before
        self._texts: dict[str, tuple[str, ...]] = {}
        self._show_data()
        self.refresh()

    @property
    def active(self) -> bool:
        """Return True while it learns, or is about to."""
        return self._due or (self.panel is not None and self.panel.active)

    @property
    def driven(self) -> bool:
        """Return True while it plays slowly or backwards."""
        return self.panel is not None and self.panel.driven

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:  # pyright: ignore[reportIncompatibleVariableOverride] - not settable
        """The texts of the sliders."""
        return self._texts | {"noise": texts(_NOISE)}

    def interrupt(self) -> None:
        """Interrupt a long seek."""
        if self.panel is not None:
            self.panel.interrupt()

    def wait(self, seconds: float) -> None:
        """Wait for the value where the run rests."""
        if self.panel is not None:
            self.panel.wait(seconds)

    def refresh(self) -> bool:
        """Open a run that is due, once it is compiled, and read what is new."""
        if self._due and self.playground.prepare():
            try:
                self._open()
            except Exception as error:  # shown, as those of intents are
                self.error = f"{type(error).__name__}: {error}"
        if self.panel is not None:
            self.panel.refresh()
            self._texts = dict(self.panel.texts)
            self.behind = self.panel.behind
        self._draw()
        return True

    def chart(self) -> Chart:
        """Return the loss, and the map."""
        return self._chart

    def state(self) -> dict[str, Any]:
        """Return what is shown besides: transport, knobs, menus, and the network; see `messages.d.ts`."""
        setting = self.playground.setting
        panel = {} if self.panel is None else self.panel.state()
        self._knobs = panel.get("knobs", self._knobs)
        shown = {"step": 0, "length": 0, "playing": False, "seekable": True, "ended": False, "speed": -1.0}
        shown = {name: panel.get(name, value) for name, value in shown.items()}
        tone, status = panel.get("tone", "ready"), panel.get("status", "Ready at step 0")
        if self._due:
            tone, status = "running", _COMPILING
        if self.error:
            tone, status = "failed", self.error
        return shown | {
            "tone": tone,
            "status": status,
            "title": setting.title,
            "knobs": self._shown_knobs(),
            "setting": {name: getattr(setting, name) for name in _MENUS} | {"own": setting.own is not None},
            "network": self._network,
            "room": [len(setting.hidden) < MAX_LAYERS, MAX_NEURONS],
        }

    def _act(self, intent: Intent) -> None:
        self.error = ""
        name = intent.get("name")
        if intent.get("type") in _PANEL_INTENTS and name != "noise":
            self._ready().apply(intent)
            self._due = False
        else:
            super()._act(intent)

    def _do_begin(self, _: Intent) -> None:
        """A page has drawn it for the first time."""
        if not self.playground.opened:
            self._due = self._plays = True

    def _do_choose(self, intent: Intent) -> None:
        name = one_of(intent.get("name"), _MENUS, "the name of a menu")
        self._change(**{name: str(intent["value"])})

    def _do_slide(self, intent: Intent) -> None:
        self._change(noise=_NOISE.value(float(intent["place"])))

    def _do_enter(self, intent: Intent) -> None:
        self._change(noise=real_from(intent["text"], "noise"))

    def _do_layers(self, intent: Intent) -> None:
        hidden = self.playground.setting.hidden
        self._change(hidden=(*hidden, hidden[-1] if hidden else 2) if int(intent["by"]) > 0 else hidden[:-1])

    def _do_neurons(self, intent: Intent) -> None:
        hidden = self.playground.setting.hidden
        layer, by = whole_from(intent["layer"], "the layer", 0), 1 if int(intent["by"]) > 0 else -1
        if layer >= len(hidden):
            raise ArgumentError(f"the layer is {layer}, expected one of the {len(hidden)} hidden layers, from 0 on.")
        self._change(hidden=tuple(count + by * (k == layer) for k, count in enumerate(hidden)))

    def _do_again(self, _: Intent) -> None:
        """Another seed: other data, another start."""
        self._change(seed=self.playground.setting.seed + 1)

    def _do_fork(self, _: Intent) -> None:
        playing = self._ready().active
        self.playground.fork()
        self.panel, self._due, self._plays = None, True, playing

    def _do_probe(self, intent: Intent) -> None:
        layer, neuron = intent.get("layer"), intent.get("neuron")
        self._probed = None if layer is None or neuron is None else (int(layer), int(neuron))

    def _change(self, **fields: Any) -> None:
        playing = self._plays or (self.panel is not None and self.panel.active)
        self.playground.change(**fields)
        self.panel, self._due, self._plays, self._probed = None, True, playing, None
        self._show_data()

    def _ready(self) -> PanelModel:
        """The panel of the run, which this opens if need be."""
        return self._open() if self.panel is None else self.panel

    def _open(self) -> PanelModel:
        plays, self._due, self._plays = self._plays, False, False  # also after an error, which is raised once
        panel = self.panel = PanelModel(self.playground.run)
        if plays:
            panel.apply({"type": "play"})
        return panel

    def _show_data(self) -> None:
        setting = self.playground.setting
        points, classes = setting.points
        self._plane = PlaneGrid(points, setting.data == USER_DATA)
        self._dots = points_of(points, classes, self._plane)

    def _draw(self) -> None:
        """Draw the network and the map again if the network, the data or the look has changed."""
        network = self.playground.network
        leaves = [np.asarray(part) for layer in network.layers for part in (layer.weight, layer.bias)]
        key = (b"".join(leaf.tobytes() for leaf in leaves), self._probed, id(self._dots))
        plot = self._loss.plot(self.panel, self.playground.earlier)
        if key != self._drawn:
            self._drawn = key
            self._version += 1
            found = answers(network, self._plane)
            self._network = network_state(network, found)
            answer, title = found[-1][:, 0], "what the network says"
            if self._probed is not None:
                layer, neuron = self._probed
                answer, title = found[layer][:, neuron], f"neuron {neuron + 1} of layer {layer}"
            heights = np.tanh(0.5 * answer.astype(np.float64)) if self._probed is None else answer.astype(np.float64)
            self._map = plane_map(self._plane, heights, self._dots, title, self._version)
        elif self._chart.parts and self._chart.parts[0] is plot:
            return
        step = 0 if self.panel is None else int(self.panel.run.t)
        self._chart = chart_of(plot, self._map, f"the loss, and what the network says at step {readable.count(step)}")

    def _shown_knobs(self) -> list[dict[str, Any]]:
        setting = self.playground.setting
        found = {knob["name"]: knob | {"schedule": ""} for knob in self._knobs}  # that of a `bl.Batch` is one number
        if setting.data != USER_DATA:
            found["noise"] = {
                "name": "noise",
                "place": _NOISE.place(setting.noise),
                "text": readable.exact(setting.noise),
                "low": "0",
                "high": "1",
                "decades": 0,
                "schedule": "",
            }
        return [found[name] for name in _KNOBS if name in found]
