"""The choices of a sweep as parameters of a trial of Optuna, and back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from burlab.runtime.extras import late

from .search_space import Between, Choices, Space
from .trials import hyper_text

optuna = late("optuna", "search")
OPTIMIZER = "optimizer"  # the parameter that chooses one of several
_PLAIN = (bool, int, float, str)


class OptunaParameters:
    """Parameters of a trial of Optuna: the name of the optimizer, where there are several, and its hyperparameters."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def suggested(self, proposal: Any) -> tuple[str, dict[str, Any]]:
        """Return the optimizer and the hyperparameters that a trial of Optuna suggests."""
        names = list(self._space.optimizers)
        name = names[0] if len(names) == 1 else proposal.suggest_categorical(OPTIMIZER, names)
        chosen = {hyper: _suggest(proposal, hyper, self._space.hypers[hyper]) for hyper in self._space.names(name)}
        return name, chosen

    def encoded(self, name: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of an optimizer and its hyperparameters, as JSON."""
        own = {hyper: _encoded(value, self._space.hypers[hyper]) for hyper, value in chosen.items()}
        return own if len(self._space.optimizers) == 1 else {OPTIMIZER: name, **own}

    def decoded(self, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the optimizer and the hyperparameters that have these parameters."""
        name = parameters.get(OPTIMIZER, next(iter(self._space.optimizers)))
        return name, {
            hyper: _decoded(parameters[hyper], self._space.hypers[hyper]) for hyper in self._space.names(name)
        }

    def distributions(self, parameters: Iterable[str]) -> dict[str, Any]:
        """Return Optuna's distribution of each parameter."""
        return {name: self._distribution(name) for name in parameters}

    def _distribution(self, name: str) -> Any:
        if name == OPTIMIZER and name not in self._space.hypers:
            return optuna.distributions.CategoricalDistribution(list(self._space.optimizers))
        return _distribution(self._space.hypers[name])


def _suggest(proposal: Any, name: str, choices: Choices) -> Any:
    if isinstance(choices, Between):
        suggest = proposal.suggest_int if choices.whole else proposal.suggest_float
        return suggest(name, choices.low, choices.high, log=choices.log)
    return _decoded(proposal.suggest_categorical(name, _texts(choices)), choices)


def _distribution(choices: Choices) -> Any:
    known = optuna.distributions
    if isinstance(choices, Between):
        kind = known.IntDistribution if choices.whole else known.FloatDistribution
        return kind(choices.low, choices.high, log=choices.log)
    return known.CategoricalDistribution(_texts(choices))


def _texts(choices: Sequence[Any]) -> list[Any]:
    """Return choices as Optuna stores them: what is no number, text or None by its name and its place."""
    plain = all(one is None or isinstance(one, _PLAIN) for one in choices)
    return list(choices) if plain else [f"{place}: {hyper_text(one)}" for place, one in enumerate(choices)]


def _encoded(value: Any, choices: Choices) -> Any:
    if isinstance(choices, Between):
        return value
    place = next(k for k, one in enumerate(choices) if one is value or (isinstance(one, _PLAIN) and one == value))
    return _texts(choices)[place]


def _decoded(parameter: Any, choices: Choices) -> Any:
    return parameter if isinstance(choices, Between) else choices[_texts(choices).index(parameter)]
