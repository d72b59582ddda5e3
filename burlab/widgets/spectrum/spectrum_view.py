"""`SpectrumView`: the eigenvalues of the Hessian beside 2 / lr, in a notebook, while a run does steps."""

from typing import Any

from burlab.errors import ArgumentError
from burlab.run import Run
from burlab.runtime.checks.numbers import shown
from burlab.widgets.assets import module
from burlab.widgets.live.live_view import LiveView, style

from .spectrum_model import SpectrumModel


class SpectrumView(LiveView):
    """The density of the eigenvalues of the Hessian where a run is, beside 2 / lr, whole or for each layer.

    It follows the run while a page shows it, at 2% of a core: exact up to 256 parameters, else by Lanczos quadrature,
    coarse while the run moves and finer where it rests. Beyond 2 / lr gradient descent on a quadratic diverges.
    `burlab.analysis.spectrum` and `spectra` give the same at one point, as plain calls.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(np.arange(1, 4) * x**2), np.ones(3), bl.optim.GD(0.1))
    >>> view = bl.SpectrumView(run)
    >>> view.close()
    """

    _esm = module("spectrum/spectrum.js")
    _css = style()

    def __new__(cls, run: Run) -> Any:
        """Create a view; other types than runs are refused before there is a widget to clean up."""
        if not isinstance(run, Run):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(f"run is {shown(run)}, expected a run, such as bl.minimize gives.")
        above: Any = super()
        return above.__new__(cls, run)

    def __init__(self, run: Run) -> None:
        super().__init__(run, SpectrumModel)
