"""Trials that a study of Optuna proposes, from the values of runs that have ended."""

import math
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.extras import late

from .optuna_parameters import OptunaParameters
from .search_space import Between, Space
from .sweep_rows import SweepRow, TrialOutcome
from .trial_source import TrialStore
from .trials import Trial, exact_text

optuna = late("optuna", "search")
ATTRIBUTE = "burlab_sweep"  # of a trial of Optuna: the name of the sweep, and the number of its run


class OptunaSearch:
    """A search by Optuna: each run is a trial of a study, which minimizes the validation value where there is one.

    A study may have other trials, also of other processes; those of this sweep have the attribute "burlab_sweep".
    """

    reports = True

    def __init__(self, study: Any, space: Space, count: int, seed: int) -> None:
        """study: of Optuna. count: runs of the sweep. seed: of every run."""
        self._study, self._space, self._seed = study, space, seed
        self._parameters = OptunaParameters(space)
        name = next(iter(space.optimizers))
        self._trials = [Trial(number, "", space.optimizers[name], {}, seed) for number in range(count)]
        self.due: deque[Trial] = deque()
        self._new: deque[int] = deque()  # numbers without parameters
        self._lost: deque[tuple[int, Mapping[str, Any]]] = deque()  # numbers whose run was lost, with its parameters
        self._open: dict[int, Any] = {}  # trials of Optuna that this process works on
        self._curves: dict[int, list[tuple[int, float]]] = {}
        self._answers: dict[int, dict[int, bool]] = {}  # by the steps of the curve: True to stop there
        self._name = ""

    @property
    def trials(self) -> Sequence[Trial]:
        """All trials by number; without a name those that are not known yet."""
        return self._trials

    def examples(self) -> Sequence[Trial]:
        """Return the trials at the ends of the choices."""
        return self._space.ends()

    def described(self) -> Any:
        """Return the choices and the seed; not the number of trials, which may grow."""
        choices = {
            name: repr(one) if isinstance(one, Between) else [exact_text(value) for value in one]
            for name, one in self._space.hypers.items()
        }
        return {"search": choices, "optimizers": list(self._space.optimizers), "seed": self._seed}

    def resume(self, rows: Sequence[SweepRow], store: TrialStore) -> list[SweepRow]:
        """Bring the study and the store to one state, and return all rows.

        A run that was lost, or failed with an error, is due again with the same parameters.
        """
        self._name = store.name
        seen, notes = self._frozen(), store.notes()
        ended = {row.number for row in rows if row.done and row.reason != "error"}
        for number, note in notes.items():
            if number < len(self.trials) and self._restored(number, note, seen.get(number), store):
                ended.add(number)
        lost = {number: one for number, one in seen.items() if number not in ended and number not in self._open}
        for one in lost.values():
            if not one.state.is_finished():
                self._study.tell(one.number, state=optuna.trial.TrialState.FAIL)
        self.due = deque(self.trials[number] for number in self._open)
        self._lost = deque((number, lost[number].params) for number in sorted(lost) if number < len(self.trials))
        known = {*ended, *lost, *self._open}
        self._new = deque(number for number in range(len(self.trials)) if number not in known)
        return [store.row(trial) or row for trial, row in zip(self.trials, rows, strict=True)]

    def refill(self) -> bool:
        """Add a trial that the study proposes, if there is another run to do, and return True if one is due."""
        if not self.due and (self._lost or self._new):
            if self._lost:
                number, parameters = self._lost.popleft()
                self._study.enqueue_trial(dict(parameters))
            else:
                number = self._new.popleft()
            with _quiet():
                proposal = self._study.ask()
            proposal.set_user_attr(ATTRIBUTE, [self._name, number])
            name, chosen = self._parameters.suggested(proposal)
            self._open[number] = proposal
            self._curves[number], self._answers[number] = [], {}  # without those of a run that was lost or failed
            self._trials[number] = self._trial(number, name, chosen)
            self.due.append(self._trials[number])
        return bool(self.due)

    def is_hopeless(self, trial: Trial, step: int, value: float) -> bool:
        """Report a value to the study, and return True if its pruner stops the run.

        A run that is done again, as its worker was lost, gets the answers that it has got before.
        """
        proposal, answers = self._open[trial.number], self._answers[trial.number]
        if step not in answers:
            self._curves[trial.number].append((step, value))
            proposal.report(value, step)
            answers[step] = bool(proposal.should_prune())
        return answers[step]

    def finish(self, outcome: TrialOutcome) -> None:
        """Tell the study the result of a run. One that diverged has the value inf; an error is a failed trial."""
        row = outcome.row
        number = self._open.pop(row.number).number
        self._study.tell(number, **_verdict(row))

    def note(self, number: int) -> Any:
        """Return the parameters of a run and its curve, as JSON."""
        trial = self.trials[number]
        return {"parameters": self._parameters.encoded(trial.name, trial.hypers), "curve": self._curves.get(number, [])}

    def _frozen(self) -> dict[int, Any]:
        """Return the newest trial of the study for each run of this sweep."""
        found: dict[int, Any] = {}
        for one in self._study.get_trials(deepcopy=False):
            name, number = one.user_attrs.get(ATTRIBUTE, ("", 0))
            if name == self._name:
                found[number] = one
        return found

    def _restored(self, number: int, note: Mapping[str, Any], frozen: Any, store: TrialStore) -> bool:
        """Take over a run of the store, and return True if its row can be read; the study then knows its end."""
        parameters, curve = note["parameters"], note["curve"]
        trial = self._trial(number, *self._parameters.decoded(parameters))
        row = store.row(trial)
        if row is None:
            return False
        self._trials[number] = trial
        if frozen is None:
            verdict = {"state": optuna.trial.TrialState.COMPLETE, **_verdict(row)}
            pruned_at = curve[-1][1] if curve else None
            self._study.add_trial(
                optuna.trial.create_trial(
                    state=verdict["state"],
                    value=verdict.get("values", pruned_at),
                    params=dict(parameters),
                    distributions=self._parameters.distributions(parameters),
                    intermediate_values={int(step): float(value) for step, value in curve},
                    user_attrs={ATTRIBUTE: [self._name, number]},
                )
            )
        elif not frozen.state.is_finished():
            self._study.tell(frozen.number, **_verdict(row))
        return True

    def _trial(self, number: int, name: str, chosen: Mapping[str, Any]) -> Trial:
        return Trial(number, name, self._space.optimizer(name, chosen), chosen, self._seed)


def study_of(search: Any) -> Any:
    """Return the study of a search: the one given, or a new one in memory for a sampler. Raises ArgumentError."""
    if isinstance(search, optuna.samplers.BaseSampler):
        with _quiet():
            return optuna.create_study(sampler=search)
    if not isinstance(search, optuna.Study):
        raise ArgumentError(
            f"search is {shown(search)}, expected 'random', a NumPy generator, or a study or sampler of Optuna, "
            "such as optuna.samplers.TPESampler(seed=0)."
        )
    directions = [direction.name.lower() for direction in search.directions]
    if directions != ["minimize"]:
        raise ArgumentError(
            f"the study has the direction {' and '.join(directions)}, but a sweep minimizes one value. Pass "
            "optuna.create_study(direction='minimize')."
        )
    return search


def _verdict(row: SweepRow) -> dict[str, Any]:
    """Return the arguments of `Study.tell` for a row."""
    states = optuna.trial.TrialState
    if row.reason in ("error", "pruned"):
        return {"state": states.FAIL if row.reason == "error" else states.PRUNED}
    value = row.value if row.validation is None else row.validation
    return {"values": math.inf if row.failed or math.isnan(value) else value}


@contextmanager
def _quiet() -> Generator[None]:
    """Let Optuna log warnings alone."""
    before = cast("int", optuna.logging.get_verbosity())
    optuna.logging.set_verbosity(max(before, optuna.logging.WARNING))
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
