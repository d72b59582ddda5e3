"""The spectrum of the Hessian where a run is, coarse while it moves and fine where it rests. It knows no screen."""

from time import monotonic, thread_time
from typing import Any

from burlab.analysis import Spectrum, spectra, spectrum, spectrum_chart
from burlab.charts import Chart
from burlab.errors import BurlabError
from burlab.widgets.live.fields import one_of
from burlab.widgets.live.live_model import LiveModel
from burlab.widgets.page_worker import Intent

PARTS = {"all": "whole Hessian", "layers": "each layer"}
STAGES = ({"probes": 1, "steps": 20}, {"probes": 1, "steps": 80}, {"probes": 4, "steps": 80})
_CORE_SHARE = 0.02  # of a core: what is computed while the run does steps


class SpectrumModel(LiveModel):
    """Spectra of a run. part: "all" or "layers", the diagonal block of each leaf; see `burlab.analysis.spectra`.

    found: the finest spectra so far. step: of the run, where they are; -1 before. stage: how many of `STAGES` are done.
    """

    def __init__(self, run: Any) -> None:
        super().__init__()
        self._run = run
        self._point: tuple[int, int] | None = None  # the step and the length of the record that are looked at
        self._rests = 0.0  # until when nothing is computed for a run that moves
        self._lr: float | None = None
        self.part = "all"
        self.found: list[Spectrum] = []
        self.step = -1
        self.stage = 0

    def _do_part(self, intent: Intent) -> None:
        self.part, self._point, self._rests = one_of(intent["value"], PARTS, "the part"), None, 0.0

    def refresh(self) -> bool:
        """Compute the next stage if it is due, and return True if there is something new to draw."""
        point = (int(self._run.t), int(self._run.length))
        if point != self._point and (monotonic() > self._rests or not self._run.running):
            self._point, self.stage = point, 0
        lr = _lr(self._run)
        changed, self._lr = lr != self._lr, lr
        if self.stage == len(STAGES) or point != self._point or (self._run.running and monotonic() < self._rests):
            return changed
        start = thread_time()
        try:
            compute = spectra if self.part == "layers" else _whole
            self.found, self.step, self.error = compute(self._run, **STAGES[self.stage]), point[0], ""
        except BurlabError as error:  # said in the view, which lives on
            self.error = str(error)
        exact = bool(self.found) and all(one.exact for one in self.found)
        self.stage = len(STAGES) if exact or self.error else self.stage + 1
        self._rests = monotonic() + (thread_time() - start) / _CORE_SHARE
        return True

    @property
    def active(self) -> bool:
        """Return True while it changes by itself."""
        return bool(self._run.running) or self.stage < len(STAGES)

    @property
    def driven(self) -> bool:
        """Return True while there is something to compute."""
        return self.active

    def state(self) -> dict[str, Any]:
        """Return the choice of parts, and the status."""
        tone, status = self._status()
        return {"parts": list(PARTS.items()), "part": self.part, "tone": tone, "status": status, "title": ""}

    def chart(self) -> Chart:
        """Return the chart of the densities, with 2 / lr."""
        return spectrum_chart(*self.found, lr=self._lr)

    def _status(self) -> tuple[str, str]:
        if self.error:
            return "failed", self.error
        if not self.found:
            return "ready", "computing ..."
        largest = max(one.largest for one in self.found)
        kind = "exact" if all(one.exact for one in self.found) else f"Lanczos, stage {self.stage} of {len(STAGES)}"
        words = f"step {self.step:,}, {kind}: the largest eigenvalue is {largest:.4g}"
        if self._lr is None:
            return "ready", words
        edge = 2 / self._lr
        beyond = largest > edge
        words += f", {'above' if beyond else f'{largest / edge:.2g} of'} 2 / lr = {edge:.4g}"
        return ("past" if beyond else "running" if self._run.running else "ready"), words


def _whole(run: Any, **options: Any) -> list[Spectrum]:
    return [spectrum(run, **options)]


def _lr(run: Any) -> float | None:
    """The learning rate, where the optimizer has one that is positive."""
    try:
        lr = float(run.hyper["lr"])
    except (KeyError, BurlabError):
        return None
    return lr if lr > 0 else None
