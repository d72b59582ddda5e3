"""The numbers in the parameter groups of a PyTorch optimizer, as knobs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from burlab.runtime.ranges import DECAY, NOT_NEGATIVE, SHARE, Range

_RANGES: dict[str, Range] = {
    **dict.fromkeys(("lr", "weight_decay", "eps", "lr_decay", "alpha", "lambd", "t0", "momentum_decay"), NOT_NEGATIVE),
    **dict.fromkeys(("momentum", "dampening", "rho"), SHARE),
    "betas": DECAY,
}
_NOT_LIVE = ("initial_lr", "max_lr", "min_lr", "base_momentum", "max_momentum", "initial_accumulator_value")


@dataclass(frozen=True, slots=True)
class Field:
    """A number that some groups have in common.

    name: of the knob. key: in the groups. place: in the tuple that stands there, None where it is a number itself.
    """

    name: str
    key: str
    place: int | None
    groups: tuple[dict[str, Any], ...]

    @property
    def allowed(self) -> Range | None:
        """The range of its values, None if unknown."""
        return _RANGES.get(self.key)

    def read(self) -> float:
        """Return its value in the first of its groups."""
        value = self.groups[0][self.key]
        return float(value if self.place is None else value[self.place])

    def write(self, value: float) -> None:
        """Give it to all of its groups; a tensor, as in graphs of CUDA, stays the same one."""
        for group in self.groups:
            old = group[self.key]
            if self.place is not None:
                group[self.key] = (*old[: self.place], value, *old[self.place + 1 :])
            elif hasattr(old, "fill_"):
                old.fill_(value)
            else:
                group[self.key] = value


def fields_of(groups: list[dict[str, Any]]) -> list[Field]:
    """A field for every number: one where all groups agree, else one for each group, with its position at the end.

    >>> groups = [{"params": [], "lr": 0.1, "betas": (0.9, 0.999)}, {"params": [], "lr": 0.2, "betas": (0.9, 0.999)}]
    >>> [field.name for field in fields_of(groups)]
    ['lr_0', 'lr_1', 'beta1', 'beta2']
    """
    found: list[Field] = []
    for key in dict.fromkeys(key for group in groups for key in group):
        having = tuple(group for group in groups if key in group)
        for name, place in _places(key, having[0][key]):
            common = Field(name, key, place, having)
            if len({Field(name, key, place, (group,)).read() for group in having}) == 1:
                found.append(common)
            else:
                found += [Field(f"{name}_{k}", key, place, (group,)) for k, group in enumerate(groups) if key in group]
    return found


def _places(key: str, value: Any) -> Iterator[tuple[str, int | None]]:
    """Names and places of the numbers that stand at a key."""
    if isinstance(value, tuple):
        values = cast("tuple[Any, ...]", value)
        single = key.removesuffix("s")
        yield from ((f"{single}{k + 1}", k) for k, one in enumerate(values) if isinstance(one, float))
    elif key not in _NOT_LIVE and _is_number(key, value):
        yield key, None


def _is_number(key: str, value: Any) -> bool:
    """Return True if it may change: not for a count such as LBFGS's max_iter, nor for a switch."""
    if isinstance(value, bool):
        return False
    return isinstance(value, float) or (key in _RANGES and (isinstance(value, int) or hasattr(value, "fill_")))
