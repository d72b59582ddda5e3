"""Logs of other tools, such as TensorBoard, MLflow and Weights & Biases: rows of numbers are sent to them."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

Row = Mapping[str, float]
"""Numbers of one step by name."""


class Sink:
    """Sends rows to an object that has one of three methods, found in this order.

    add_scalar(name, number, step): `SummaryWriter` of torch.utils.tensorboard and of tensorboardX.
    log_metrics(numbers, step=): the module `mlflow`, loggers of Lightning. log(numbers, step=): a run of wandb, the
    modules wandb and trackio.

    >>> class Printer:
    ...     def log(self, numbers, step=None):
    ...         print(step, numbers)
    >>> Sink(Printer()).write(3, {"value": 0.5})
    3 {'value': 0.5}
    """

    def __init__(self, target: Any, name: str = "to") -> None:
        """target: the object. name: of the argument that it was. Raises ArgumentError for another object."""
        found = sender(target)
        if found is None:
            raise ArgumentError(
                f"{name} is {shown(target)}, expected an object with a method add_scalar(name, number, step), such as "
                "a SummaryWriter of TensorBoard; log_metrics(numbers, step=), such as the module mlflow; or "
                "log(numbers, step=), such as a run of wandb."
            )
        self._send = found

    def write(self, step: int, row: Row) -> None:
        """Send the numbers of a step. Raises what the other tool raises."""
        self._send(step, row)


def sender(target: Any) -> Callable[[int, Row], None] | None:
    """Return a function that sends a row to an object; None if the object has none of the methods."""
    add_scalar = getattr(target, "add_scalar", None)
    if callable(add_scalar) and not isinstance(target, type):

        def add_each(step: int, row: Row) -> None:
            for name, number in row.items():
                add_scalar(name, number, step)

        return add_each
    logs = (getattr(target, name, None) for name in ("log_metrics", "log"))
    log = next((one for one in logs if callable(one) and _takes_step(one)), None)
    if log is None:
        return None

    def add_row(step: int, row: Row) -> None:
        log(dict(row), step=step)

    return add_row


def _takes_step(log: Callable[..., Any]) -> bool:
    """Return True if a function can be called as `log(numbers, step=0)`: the `log` of Python's loggers cannot."""
    try:
        inspect.signature(log).bind({}, step=0)
    except TypeError:
        return False
    except ValueError:  # a function of C that has no signature
        return True
    return True
