"""The eigenvalues of a Hessian: all of a small one, the density of a large one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from burlab.charts.chart import Axis, Band, Chart, Curve, Mark, Plot
from burlab.errors import ArgumentError, NonFiniteError, ShapeError
from burlab.graph import tree
from burlab.runtime.checks.numbers import real, shown, whole
from burlab.runtime.checks.text_table import aligned
from burlab.runtime.displayed import Displayed
from burlab.typing import ArrayLike, Numbers, Tree

from .flat_objective import FlatObjective, Subject
from .lanczos import lanczos

_MAX_EXACT = 256  # entries up to which a Hessian is formed
_POINTS = 1024  # of a density
_WIDTH = 0.01  # of a density's bumps, in its range


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum(Displayed):
    """Eigenvalues of the Hessian of f at a point, or of one of its diagonal blocks.

    name: "all", or the leaf that the block belongs to. size: its number of rows. exact: True if `values` are
    all eigenvalues. values, weights: float64, shape (k,): the places of the density's mass, and its parts, of sum 1.
    """

    name: str
    size: int
    exact: bool
    values: Numbers
    weights: Numbers

    @property
    def largest(self) -> float:
        """The largest eigenvalue: gradient descent on a quadratic converges for lr < 2 / largest."""
        return float(self.values.max())

    @property
    def smallest(self) -> float:
        """The smallest eigenvalue; below 0 at a saddle."""
        return float(self.values.min())

    @property
    def trace(self) -> float:
        """The sum of all eigenvalues; of a density that of its probes (Hutchinson 1990)."""
        return self.size * float(self.weights @ self.values)

    def __str__(self) -> str:
        kind = "exact" if self.exact else f"a density of {len(self.values)} points"
        count = f"{self.size:,} eigenvalue{'s' * (self.size != 1)}"
        rows = [("spectrum", f"{self.name}: {count}, {kind}"), ("largest", f"{self.largest:.6g}")]
        return aligned([*rows, ("smallest", f"{self.smallest:.6g}"), ("trace", f"{self.trace:.6g}")])

    __repr__ = __str__

    def chart(self, lr: float | None = None) -> Chart:
        """Its density; see `spectrum_chart`."""
        return spectrum_chart(self, lr=lr)

    def density(self, at: Numbers, width: float | None = None) -> Numbers:
        """The density at numbers, shape (m,): a normal bump for each of `values`. width: its standard deviation."""
        spread = (self.largest - self.smallest) or abs(self.largest) or 1.0
        sigma = _WIDTH * spread if width is None else real(width, "width")
        if sigma <= 0:
            raise ArgumentError(f"width={shown(width)} is not positive. Pass a standard deviation, or leave it out.")
        z = (np.asarray(at, np.float64)[:, None] - self.values) / sigma
        return np.exp(-0.5 * z**2) @ self.weights / (sigma * np.sqrt(2 * np.pi))


def spectrum(
    problem: Subject,
    x: Tree = None,
    *,
    steps: int = 80,
    probes: int = 4,
    seed: int = 0,
    indices: ArrayLike | None = None,
) -> Spectrum:
    """The spectrum of the Hessian of f at x: exact up to 256 parameters, else by stochastic Lanczos quadrature.

    problem: a function of x, a `FiniteSum`, or a run, at its point. indices: of a finite sum, the samples that count.
    steps: Hessian-vector products per probe; the ends of the spectrum are accurate after few. probes: random vectors
    of signs that are averaged; the error of the density falls as 1 / sqrt(probes * d). seed: of them.
    Golub and Welsch 1969; Ubaru, Chen and Saad 2017; for losses Ghorbani, Krishnan and Xiao 2019, arXiv:1901.10159.

    >>> import burlab as bl
    >>> spectrum(lambda x: x[0] ** 2 + 3.0 * x[1] ** 2, np.zeros(2)).values
    array([2., 6.])
    """
    objective = FlatObjective.of(problem, x, indices)
    size = objective.x.size
    return _spectrum("all", size, objective.hvp, *_checked(steps, probes, seed))


def spectra(
    problem: Subject,
    x: Tree = None,
    *,
    steps: int = 80,
    probes: int = 4,
    seed: int = 0,
    indices: ArrayLike | None = None,
) -> list[Spectrum]:
    """The spectra of the diagonal blocks of the Hessian, one for each leaf of x, named as in a tree; see `spectrum`.

    >>> import burlab as bl
    >>> f = lambda p: np.sum(p["w"] ** 2) + 4.0 * np.sum(p["b"] ** 2)
    >>> [(s.name, s.largest) for s in spectra(f, {"w": np.ones(3), "b": np.ones(1)})]
    [('b', 8.0), ('w', 2.0)]
    """
    objective = FlatObjective.of(problem, x, indices)
    options = _checked(steps, probes, seed)
    names = tree.dotted_names(objective.point.tree)
    stops = np.cumsum(objective.sizes)
    found: list[Spectrum] = []
    for name, size, stop in zip(names, objective.sizes, stops, strict=True):
        if size:
            block = _block(objective, slice(int(stop) - size, int(stop)))
            found.append(_spectrum(name or "x", size, block, *options))
    return found


def spectrum_chart(*found: Spectrum, lr: float | None = None) -> Chart:
    """Return densities above one another, their ends next to the titles. lr: draws 2 / lr, beyond which it diverges.

    >>> spectrum_chart(spectrum(lambda x: x[0] ** 2, np.zeros(1)), lr=0.1).parts[0].marks[0].at
    20.0
    """
    if not all(isinstance(one, Spectrum) for one in found):  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(f"spectrum_chart takes spectra, as bl.analysis.spectrum gives them, got {shown(found)}.")
    return Chart(tuple(_plot(one, k, lr) for k, one in enumerate(found)), about="Eigenvalues of the Hessian")


def _plot(found: Spectrum, k: int, lr: float | None) -> Plot:
    spare = 0.05 * ((found.largest - found.smallest) or abs(found.largest) or 1.0)
    at = np.linspace(found.smallest - spare, found.largest + spare, _POINTS)
    density = found.density(at)
    floor = 1e-6 * float(density.max())
    shown = np.maximum(density, floor)
    marks = () if lr is None else (Mark(2.0 / real(lr, "lr", 1e-300), "2 / lr"),)
    note = f"{'all' if found.exact else 'density of'} {found.size:,}, from {found.smallest:.4g} to {found.largest:.4g}"
    title = "eigenvalues of the Hessian" if found.name == "all" else found.name
    y = Axis("density", log=True, low=floor)
    curves, bands = (Curve(at, shown, colour=k),), (Band(at, np.full_like(at, floor), shown, colour=k),)
    return Plot(found.name, title, Axis("eigenvalue"), y, curves, bands, marks=marks, note=note, tall=2.0)


def _checked(steps: int, probes: int, seed: int) -> tuple[int, int, int]:
    return whole(steps, "steps", 2), whole(probes, "probes", 1), whole(seed, "seed", 0)


def _block(objective: FlatObjective, rows: slice) -> Callable[[Numbers], Numbers]:
    """A diagonal block of the Hessian times a vector."""

    def product(v: Numbers) -> Numbers:
        wide = np.zeros(objective.x.size)
        wide[rows] = v
        return objective.hvp(wide)[rows]

    return product


def _spectrum(
    name: str, size: int, product: Callable[[Numbers], Numbers], steps: int, probes: int, seed: int
) -> Spectrum:
    if not size:
        raise ShapeError("x must have at least one entry to have a Hessian; got none.")
    if size <= _MAX_EXACT:
        matrix = np.stack([_finite(product(unit)) for unit in np.eye(size)])
        values = np.asarray(np.linalg.eigvalsh((matrix + matrix.T) / 2), np.float64)
        return Spectrum(name, size, True, values, np.full(size, 1 / size))
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (probes, size))
    found = [lanczos(lambda v: _finite(product(v)), start, steps) for start in signs]
    values = np.concatenate([one.values for one in found])
    weights = np.concatenate([one.weights for one in found]) / probes
    order = np.argsort(values)
    return Spectrum(name, size, False, values[order], weights[order])


def _finite(v: Numbers) -> Numbers:
    if not np.isfinite(v).all():
        raise NonFiniteError(
            "the Hessian times a vector is not finite at this point, so it has no spectrum there. Pass a point at "
            "which the function is smooth and has finite second derivatives."
        )
    return v
