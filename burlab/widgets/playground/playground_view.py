"""The widget of a playground."""

from typing import Any, cast

import traitlets

import burlab as bl
from burlab.data.planar_sets import KINDS
from burlab.widgets.assets import module
from burlab.widgets.export.page import html
from burlab.widgets.export.page_sections import page_of
from burlab.widgets.live.live_view import LiveView, style
from burlab.widgets.page_worker import Intent

from .playground_model import PlaygroundModel
from .playground_setting import ACTIVATIONS, DTYPES, NUMBERS, RATES, ROUNDINGS
from .playgrounds import Playground

_THUMB = 60  # points of a button's picture


class PlaygroundView(LiveView):
    """The view of a playground: buttons, sliders, the network, the map and the loss."""

    _esm = module("playground/playground.js")
    _css = style("playground/playground.css")
    offers = traitlets.Dict().tag(sync=True)

    def __init__(self, playground: Playground) -> None:
        playground.prepare()  # while pages draw it
        super().__init__(playground, PlaygroundModel)
        self.offers = {
            "data": {kind: _thumbnail(kind) for kind in KINDS},
            "activation": ACTIVATIONS,
            "optimizer": tuple(RATES),
            "dtype": DTYPES,
            "numbers": tuple(NUMBERS.items()),
            "rounding": ROUNDINGS,
        }

    def on_message(self, message: Intent) -> None:
        """Answer a wish for the code or for a page; other messages as every live view."""
        playground, kind = self._subject(), message.get("type")
        if playground is not None and kind in ("code", "page"):
            text = playground.code() if kind == "code" else html(page_of(playground))
            cast("Any", self).send({"type": kind, "text": text})
        else:
            super().on_message(message)


def _thumbnail(kind: str) -> list[list[float]]:
    """Return the points of a data set for a small picture: x, y and class, rounded."""
    data = bl.data.synthetic_plane(kind, _THUMB, noise=0.0)
    rows: Any = [[*point, target] for point, target in zip(data.features, data.targets, strict=True)]
    return [[round(float(number), 2) for number in row] for row in rows]
