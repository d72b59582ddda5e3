"""The panel of a race: play, standings, curves and paths; racers come and go."""

from burlab.experiments import Race
from burlab.widgets.assets import module
from burlab.widgets.live.live_view import LiveView, style

from .race_model import RaceModel


class RaceView(LiveView):
    """The view of a race, which a notebook shows for a `Race`; a page can control it.

    >>> import burlab as bl
    >>> f = bl.problems.rosenbrock()
    >>> view = RaceView(bl.race(f, f.start, {"GD": bl.optim.GD(1e-3), "Adam": bl.optim.Adam(1e-2)}))
    """

    _esm = module("race/race.js")
    _css = style()

    def __init__(self, race: Race) -> None:
        super().__init__(race, RaceModel)
