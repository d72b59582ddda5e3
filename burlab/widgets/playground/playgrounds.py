"""`burlab.playground`: a network that learns in a cell, and is changed by mouse while it does."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from burlab.errors import ArgumentError
from burlab.optim.batches import BATCH
from burlab.run import Run
from burlab.runtime.checks.numbers import shown
from burlab.runtime.displayed import Displayed

from .opening import Opening
from .playground_setting import USER_DATA, PlaygroundSetting, own_data

MAX_EARLIER = 2  # runs whose curves stay when another one takes their place
_DATA = ("data", "noise", "samples", "seed")  # fields of a setting that say what is learned


class Playground(Displayed):
    """A network, its data, and the run that trains it: what `burlab.playground` returns, and a notebook shows.

    Attributes:
        setting: The data, the network and the optimizer.
        earlier: The last runs before this one, each with a label: their losses stay in the picture.
    """

    def __init__(self, setting: PlaygroundSetting) -> None:
        self.setting = setting
        self.earlier: list[tuple[str, Run]] = []
        self._start = setting.network()
        self._run: Run | None = None
        self._opening: Opening | None = None

    @property
    def run(self) -> Run:
        """The run that trains the network; the first use compiles it."""
        while self._run is None:
            opening = self._present_opening()
            try:
                found = opening.result()
            finally:
                self._opening = None
            if opening.start is self._start:  # and no other thread has changed the setting meanwhile
                self._run = found
        return self._run

    def prepare(self) -> bool:
        """Compile the run on a thread of its own, and return True once `run` has it without a wait.

        One run is compiled at a time: while changes come in faster, those between the first and the last are left out.
        """
        if self._run is not None:
            return True
        if self._opening is not None and not self._opening.done:
            return False
        return self._present_opening().done

    def _present_opening(self) -> Opening:
        """Return the opening of the run of the present setting, begun if it is not."""
        if self._opening is None or self._opening.start is not self._start:
            self._opening = Opening(self.setting, self._start)
        return self._opening

    @property
    def opened(self) -> bool:
        """Return True if there is a run: else its first use compiles it."""
        return self._run is not None

    @property
    def network(self) -> Any:
        """The network as it is now."""
        return self._start if self._run is None else self._run.x

    def change(self, **fields: Any) -> None:
        """Change the data, the network or the optimizer: another run begins at step 0, from the same seed.

        Args:
            fields: Fields of `setting`. The learning rate and the batch stay as they are now, but another optimizer
                begins with a rate of its own.

        Raises:
            ArgumentError: For a value that does not fit; then nothing changes.
        """
        live: dict[str, Any] = {} if self._run is None else {"batch": int(self._run.hyper[BATCH])}
        if self._run is not None and "optimizer" not in fields:
            live["lr"] = float(self._run.hyper["lr"])
        elif "optimizer" in fields:
            live["lr"] = None
        found = replace(self.setting, **live | fields)
        start = found.network()
        if self._run is not None:
            self._run.pause()
            if self._run.length:
                self.earlier = [*self.earlier, (_difference(self.setting, found), self._run)][-MAX_EARLIER:]
        if any(getattr(found, name) != getattr(self.setting, name) for name in _DATA):
            self.earlier = []  # the losses of other data are no comparison
        self.setting, self._start, self._run = found, start, None

    def fork(self) -> None:
        """Continue in a branch: the present run stays as it is, and its loss stays in the picture."""
        self._run = self.run.fork()

    def code(self) -> str:
        """Return the lines of code that make the same run.

        >>> import burlab as bl
        >>> print(bl.playground("moons", optimizer="GD").code().splitlines()[3])
        data = bl.data.synthetic_plane("moons", 200, noise=0.2, seed=0)
        """
        if self._run is None:
            return self.setting.code((), 0)
        return self.setting.code(self._run.events, int(self._run.t))

    def __repr__(self) -> str:
        return f"<Playground: {self.setting.title}, layers of {shown(self.setting.widths)}>"


def playground(  # noqa: PLR0913 - all that can be changed by mouse
    data: Any = "circles",
    *,
    noise: float = 0.2,
    samples: int = 200,
    hidden: Sequence[int] = (4, 3),
    activation: str = "tanh",
    optimizer: str = "Adam",
    lr: float | None = None,
    batch: int = 20,
    dtype: str = "float32",
    numbers: str = "exact",
    rounding: str = "nearest",
    seed: int = 0,
) -> Playground:
    """Return a small network that learns two classes in a plane; a notebook shows it while it learns.

    Every argument is where it begins, and a button or a slider of the view.

    Args:
        data: "circles", "clouds", "moons", "quadrants" or "spirals", see `bl.data.synthetic_plane`; or a pair of your
            arrays: features of shape (n, 2), and labels of shape (n,) with two different values.
        noise: Standard deviation of the noise of the named sets.
        samples: Number of points of the named sets.
        hidden: Neurons of each hidden layer, 1 to 8, at most 6 layers.
        activation: "tanh", "relu", "sigmoid" or "gelu".
        optimizer: "GD", "Momentum", "Nesterov", "RMSProp", "Adam", "Lion" or "SignSGD".
        lr: Learning rate; None for one that suits the optimizer.
        batch: Samples of a step.
        dtype: "float32" or "float64".
        numbers: "exact", "bfloat16", "float16", "e5m2", "e4m3" or "e2m1": what the network, all operations of the loss
            and the gradient are rounded to.
        rounding: "nearest" or "stochastic": of the network after a step. To the nearest, short steps do nothing.
        seed: Seed of the data, of the start and of the samples.

    Returns:
        The `Playground`: `run` is the run, `code()` the lines that make it, `change(...)` begins another one.

    Raises:
        ArgumentError, ShapeError: For a value that does not fit.

    >>> import burlab as bl
    >>> play = bl.playground("spirals", hidden=(6, 4))
    >>> play
    <Playground: Adam on spirals, layers of [2, 6, 4, 1]>
    >>> play.run.step(100); play.change(optimizer="GD"); play.run.t
    0
    """
    options: dict[str, Any] = {
        "noise": noise,
        "samples": samples,
        "hidden": _layers(hidden),
        "activation": activation,
        "optimizer": optimizer,
        "lr": lr,
        "batch": batch,
        "dtype": dtype,
        "numbers": numbers,
        "rounding": rounding,
        "seed": seed,
    }
    if isinstance(data, str):
        return Playground(PlaygroundSetting(data, **options))
    try:
        features, labels = data
    except (TypeError, ValueError):
        raise ArgumentError(
            f"data is {shown(data)}, expected the name of a data set, or a pair (features, labels)."
        ) from None
    own = own_data(features, labels)
    options["batch"] = min(options["batch"], len(own[1]))
    return Playground(PlaygroundSetting(USER_DATA, own=own, **options))


def _layers(hidden: Any) -> tuple[int, ...]:
    """Return the neurons of hidden layers; a setting checks their numbers."""
    try:
        return tuple(hidden)
    except TypeError:
        raise ArgumentError(
            f"hidden is {shown(hidden)}, expected the neurons of each hidden layer, as (4, 3)."
        ) from None


def _difference(before: PlaygroundSetting, after: PlaygroundSetting) -> str:
    """Return what an earlier run is called beside the one that took its place: by what it had of its own."""
    names = ("optimizer", "activation", "dtype", "numbers")
    words = [str(getattr(before, name)) for name in names if getattr(before, name) != getattr(after, name)]
    if before.rounding != after.rounding and before.numbers != "exact":
        words.append(before.rounding)
    if before.hidden != after.hidden:
        words.append("-".join(map(str, before.widths)))
    return ", ".join(words) or "before"
