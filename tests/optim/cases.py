"""Rows of the table of optimizers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from burlab.optim import Optimizer


@dataclass(frozen=True)
class Case:
    """An optimizer, and how another library makes it: `torch(torch.optim)([x])` or `optax(optax)`.

    single: whether paths in float32 can be compared, too; else rounding alone leads them apart.
    """

    optimizer: Optimizer
    torch: Callable[[Any], Callable[[Any], Any]] | None = None
    optax: Callable[[Any], Any] | None = None
    single: bool = True

    def __str__(self) -> str:
        return repr(self.optimizer).replace(" ", "")


def by_torch(name: str, **options: Any) -> Callable[[Any], Callable[[Any], Any]]:
    return lambda module: lambda xs: getattr(module, name)(xs, **options)
