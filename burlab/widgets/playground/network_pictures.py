"""Pictures of the answers of each neuron over the plane, and the weights between neurons, for a page."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.charts.grid import grid
from burlab.nn.activations import function
from burlab.typing import Numbers

SIZE = 48  # points along each axis of the map
_SKIP = 3  # points of the map for each of a small picture
_FULL = 127  # of a byte with a sign
_MARGIN, _NAMED = 0.15, 3.3  # around the user's points, in their extent; half the side of the square for named sets


class PlaneGrid:
    """The square of the plane that is shown. a, b: its coordinates, shape (SIZE,). at: its points, (SIZE^2, 2)."""

    def __init__(self, points: Numbers, own: bool) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        spare = _MARGIN * np.where(high > low, high - low, 1.0)
        square = np.array([[-_NAMED, _NAMED]] * 2)
        self.a, self.b, self.at = grid(np.stack([low - spare, high + spare], axis=1) if own else square, SIZE)


def answers(network: Any, plane: PlaneGrid) -> list[Numbers]:
    """Return what every layer answers at the points of a plane, the inputs first; each of shape (SIZE^2, neurons)."""
    x: Any = plane.at.astype(network.layers[0].weight.dtype)
    found, act = [x], function(network.activation)
    for layer in network.layers[:-1]:
        found.append(act(layer(found[-1])))
    return [*found, network.layers[-1](found[-1])]


def network_state(network: Any, found: Sequence[Numbers]) -> dict[str, Any]:
    """Return a network as a page draws it.

    Returns:
        widths: neurons of each layer. pictures: of each neuron by layer, bytes from -127 to 127 in base64, rows from
        low to high. weights: by layer, of each neuron those of its inputs, then its bias.
    """
    weights = [np.vstack([layer.weight, layer.bias]).T for layer in network.layers]
    return {
        "widths": [layer.shape[1] for layer in found],
        "pictures": [[_picture(column) for column in layer.T] for layer in found],
        "weights": [[[round(float(w), 4) for w in row] for row in layer] for layer in weights],
    }


def _picture(answer: Numbers) -> str:
    small = answer.reshape(SIZE, SIZE)[_SKIP // 2 :: _SKIP, _SKIP // 2 :: _SKIP]
    most = float(np.abs(small).max())
    scaled = small / most if most > 0 and np.isfinite(most) else np.zeros_like(small)
    return b64encode(np.round(_FULL * scaled).astype(np.int8).tobytes()).decode()
