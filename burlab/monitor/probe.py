"""What looks into a loop of a known kind."""

from typing import Any, Protocol


class Probe(Protocol):
    """Measures the steps of a loop that a library does, and sets its hyperparameters."""

    def attach(self, monitor: Any) -> None:
        """The loop begins."""
        ...

    def detach(self) -> None:
        """The loop has ended."""
        ...

    def completed(self, step: int | None, values: dict[str, Any]) -> tuple[int | None, dict[str, Any]]:
        """What the loop logs, with the step that it belongs to, and with what was measured in that."""
        ...

    def memory(self) -> dict[str, int]:
        """Bytes by what they are for."""
        ...
