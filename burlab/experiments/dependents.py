"""Arguments of a sweep that are functions of hyperparameters, such as `steps=lambda *, batch: tokens // batch`."""

import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from threading import RLock
from typing import Any, cast

from burlab.graph import tree
from burlab.problems import FiniteSum
from burlab.problems.functions_of_numbers import with_starts
from burlab.run import Run
from burlab.runtime.checks.numbers import MAX_STEPS, whole

from .optimizer_fields import field_paths
from .search_space import DIRECT
from .setting import Always, Setting, check_problem
from .trials import Trial

MAX_SETTINGS = 16  # that are in memory for later runs


def hyper_names(argument: Any, positional: int = 0) -> tuple[str, ...]:
    """Return the hyperparameters that an argument is a function of: its keyword-only parameters without a default.

    Args:
        argument: Of a sweep.
        positional: Positional parameters that it may have besides.

    >>> hyper_names(lambda *, batch: 1000 // batch), hyper_names(lambda x: x), hyper_names(100)
    (('batch',), (), ())
    """
    if not callable(argument) or isinstance(argument, FiniteSum):
        return ()
    try:
        parameters = inspect.signature(argument).parameters.values()
    except (TypeError, ValueError):  # a function of C that has no signature
        return ()
    others = sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)
    names = (one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.default is one.empty)
    return tuple(names) if others <= positional else ()


def dependents_of(setting: Setting, hypers: Any = None) -> tuple[str, ...]:
    """Return the hyperparameters that arguments of a sweep depend on, each once.

    Args:
        setting: Of the sweep.
        hypers: Its choices by name; those that name numbers of the loss are such hyperparameters.
    """
    numbers = [name for name in numbers_of(setting) if isinstance(hypers, Mapping) and name in hypers]
    return tuple(dict.fromkeys([*(name for names in _functions(setting).values() for name in names), *numbers]))


def start_of(x0: Any) -> Callable[[int], tree.Tree]:
    """Return a function that gives x0 for a seed, and for hyperparameters by keyword if `hyper_names` has some.

    Args:
        x0: A start, or a function of the seed, of hyperparameters, or of both.
    """
    names = hyper_names(x0)
    return x0 if callable(x0) and not names else _StartOf(x0) if names else Always(x0)


@dataclass(frozen=True, slots=True)
class _StartOf:
    """A start that is a function of hyperparameters alone."""

    function: Callable[..., tree.Tree]

    def __call__(self, _seed: int, **hypers: Any) -> tree.Tree:
        return self.function(**hypers)


class TrialSettings:
    """Gives each trial its setting, and opens its run: those of equal settings share compiled code."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._functions = _functions(setting)
        self._names, self._numbers = dependents_of(setting), numbers_of(setting)
        self._found: OrderedDict[Any, _OpenSetting] = OrderedDict()
        self._lock = RLock()  # threads of a Dask worker open runs at the same time

    @property
    def target(self) -> int | None:
        """The step at which all runs end at the latest; None if it is not known, or if it depends on the trial."""
        return None if "steps" in self._functions else self.setting.target

    @property
    def one_problem(self) -> bool:
        """Return True if all runs minimize the same function from starts of the same form."""
        return self._functions.keys().isdisjoint(("problem", "start"))

    def of(self, trial: Trial) -> Setting:
        """Return the setting of a trial. Raises what a function of the user's raises, ArgumentError for its result."""
        return self._open(trial).setting

    def open(self, trial: Trial) -> Run:
        """Return the run of a trial at step 0."""
        return self._open(trial).open(trial)

    def validating(self, trial: Trial) -> Callable[[Run], float] | None:
        """Return a function that gives the validation value of a run; None without validation."""
        return self._open(trial).validating

    def _open(self, trial: Trial) -> "_OpenSetting":
        paths = field_paths(trial.optimizer)
        numbers, direct = (
            [name for name in names if name in trial.hypers and name not in paths] for names in (self._numbers, DIRECT)
        )
        values: list[Any] = [trial.hypers[name] for name in (*self._names, *numbers, *direct)]
        key = (*numbers, *direct, *map(type, values), *values)
        with self._lock:
            try:
                found = self._found.pop(key, None)
            except TypeError:  # a value without a hash
                return self._filled_in(trial, numbers, direct)
            found = self._found[key] = self._filled_in(trial, numbers, direct) if found is None else found
            while len(self._found) > MAX_SETTINGS:
                self._found.popitem(last=False)
            return found

    def _filled_in(self, trial: Trial, numbers: list[str], direct: list[str]) -> "_OpenSetting":
        """numbers, direct: the hyperparameters that are numbers of the loss, and arguments of `minimize`."""
        changed: dict[str, Any] = {name: trial.hypers[name] for name in direct}
        for argument, names in self._functions.items():
            chosen = {name: trial.hypers[name] for name in names}
            function = getattr(self.setting, argument)
            changed[argument] = partial(function, **chosen) if argument == "start" else function(**chosen)
        if numbers:
            starts = {name: trial.hypers[name] for name in numbers}
            changed["problem"] = with_starts(cast("FiniteSum", self.setting.problem), starts)
        setting = replace(self.setting, **changed) if changed else self.setting
        if changed.get("steps") is not None:
            whole(setting.steps, "steps", 0, MAX_STEPS)
        if "problem" in changed:
            check_problem(setting.problem)
        return _OpenSetting(setting, setting.opening(), setting.validating())


@dataclass(frozen=True, slots=True)
class _OpenSetting:
    setting: Setting
    open: Callable[[Trial], Run]
    validating: Callable[[Run], float] | None


def numbers_of(setting: Setting) -> tuple[str, ...]:
    """Return the names of the numbers that the loss reads."""
    numbers = setting.problem.oracle.numbers if isinstance(setting.problem, FiniteSum) else None
    return () if numbers is None else numbers.names


def _functions(setting: Setting) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the hyperparameters of each argument that is a function of some."""
    start = setting.start.function if isinstance(setting.start, _StartOf) else setting.start
    found = {name: hyper_names(getattr(setting, name)) for name in ("problem", "batch", "sampler", "steps")}
    found["start"] = hyper_names(start, 1)
    return {name: names for name, names in found.items() if names}
