"""Items by name, which may be read and written as attributes, too."""

from collections.abc import Iterable
from typing import Any


class Attributes:
    """For a mapping of names: `hyper.lr = 0.1` is `hyper["lr"] = 0.1`, and what it has not got is refused either way.

    What begins with an underscore is the object's own.
    """

    def __getattr__(self, name: str) -> Any:
        this: Any = self
        if name.startswith("_") or name not in this:
            known = "" if name.startswith("_") else f"; it has {', '.join(this) or 'none'}"
            raise AttributeError(f"{type(self).__name__} has no {name!r}{known}.", name=name, obj=self)
        return this[name]

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            this: Any = self
            this[name] = value

    def __dir__(self) -> list[str]:
        this: Any = self
        return [*object.__dir__(self), *this]


def refuse_hyper(name: str, known: Iterable[str], owner: str) -> None:
    """Raise AttributeError where the name that is set on an object is that of one of its hyperparameters."""
    if name in known:
        raise AttributeError(f"{name} is a hyperparameter. Set {owner}.hyper.{name}, or {owner}.hyper[{name!r}].")
