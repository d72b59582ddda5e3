"""The compilation of a playground's run on a thread of its own, so that its controls answer meanwhile."""

from typing import Any

from burlab.run import Run
from burlab.runtime.flag import Flag, Thread

from .playground_setting import PlaygroundSetting


class Opening:
    """The opening of a run, which begins at once on a thread. Python does not end before it has ended.

    Attributes:
        start: The network that the run begins with.
    """

    def __init__(self, setting: PlaygroundSetting, start: Any) -> None:
        self.start = start
        self._setting = setting
        self._run: Run | None = None
        self._error: BaseException | None = None
        self._ended = Flag()
        Thread(self._open, "burlab opening", daemon=False).start()

    @property
    def done(self) -> bool:
        """Return True once `result` has an answer without a wait."""
        return self._ended.is_set()

    def result(self) -> Run:
        """Wait for the run and return it, the same one for every caller.

        Raises:
            BurlabError: What the opening raised.
        """
        self._ended.wait()
        if self._run is None:
            raise self._error or RuntimeError("the opening of the run ended without a run")
        return self._run

    def _open(self) -> None:
        try:
            self._run = self._setting.run(self.start)
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()
