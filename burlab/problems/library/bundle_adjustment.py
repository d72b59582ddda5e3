"""Bundle adjustment: cameras and points from where the cameras see the points."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ShapeError
from burlab.problems.residual_sum import Residuals
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.memory import check_fits
from burlab.runtime.plain import as_array
from burlab.runtime.ranges import NOT_NEGATIVE, SHARE, number_in
from burlab.typing import ArrayLike

from .benchmark_function import Points

Numbers = np.ndarray[Any, np.dtype[np.int64]]


def bundle_adjustment(
    camera: ArrayLike, point: ArrayLike, seen: ArrayLike, *, loss: str = "linear", scale: float = 1.0
) -> Residuals:
    """Positions of cameras and points from n observations: 1/n sum of the squared errors of projections, halved.

    The camera is that of Agarwal, Snavely, Seitz and Szeliski 2010, Bundle adjustment in the large: w and t turn and
    move a point, X' = R(w) X + t; with p = -X'_xy / X'_z it is seen at f (1 + k1 |p|^2 + k2 |p|^4) p. Zhan et al. 2024,
    arXiv:2409.12190, solve it by a sparse Levenberg-Marquardt method, as `bl.optim.LevenbergMarquardt` does.

    Args:
        camera, point: Numbers of the camera and of the point of each observation, integers, shape (n,).
        seen: Where the camera sees the point, shape (n, 2), in pixels.
        loss, scale: As for `bl.Residuals`.

    Returns:
        The `bl.Residuals` over a pair of tables: cameras, shape (p, 9), with columns w (a rotation by |w| radians
        around w), t, f, k1, k2; and points, shape (q, 3). Its Jacobian is sparse: 12 entries a row.

    Raises:
        ShapeError: For observations that are no pairs of numbers.
        DTypeError: For numbers of cameras and points that are no integers.

    >>> import burlab as bl
    >>> scene = bl.problems.synthetic_scene(cameras=4, points=30, noise=0.0)
    >>> f = bl.problems.bundle_adjustment(scene.camera, scene.point, scene.seen)
    >>> run = bl.minimize(f, scene.start, bl.optim.LevenbergMarquardt(), steps=10)
    >>> bool(f.value(scene.start) > 1.0), bool(run.value < 1e-10)
    (True, True)
    """
    pixels = as_array(seen, "seen")
    if pixels.ndim != 2 or pixels.shape[1] != 2:
        raise ShapeError(f"seen has shape {pixels.shape}, expected (n, 2): two coordinates of each observation.")
    return Residuals(_reprojection, (camera, point, pixels), pairs=True, loss=loss, scale=scale)


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Observations of points by cameras, with the truth, and a start near it.

    Args:
        camera, point: Numbers of the camera and of the point of each observation, int64, shape (n,).
        seen: Where the camera sees the point, float64, shape (n, 2), in pixels.
        start: Cameras, shape (p, 9), and points, shape (q, 3), to start from, float64.
        truth: The cameras and points that observations are made of.

    >>> import burlab as bl
    >>> scene = bl.problems.synthetic_scene(cameras=3, points=10)
    >>> scene.start[0].shape, scene.truth[1].shape
    ((3, 9), (10, 3))
    """

    camera: Numbers
    point: Numbers
    seen: Points
    start: tuple[Points, Points]
    truth: tuple[Points, Points]

    def __repr__(self) -> str:
        return (
            f"<Scene of {len(self.seen)} observations of {len(self.truth[1])} points by {len(self.truth[0])} cameras>"
        )


def synthetic_scene(
    cameras: int = 6, points: int = 100, *, visible: float = 0.5, noise: float = 0.5, seed: int = 0
) -> Scene:
    """A cloud of Gaussian points, and cameras about 8 in front of it, for `bl.problems.bundle_adjustment`.

    The start is off by 0.02 in rotations and translations, 5 pixels in focal lengths near 500, and 0.05 in points.

    Args:
        cameras: Number p of cameras, at least 2.
        points: Number q of points.
        visible: Share of the points that a camera sees, drawn; every point is seen by two cameras at least.
        noise: Standard deviation of what is seen, in pixels.
        seed: The same seed gives the same scene.

    Returns:
        The observations, with the truth and a start.

    Raises:
        ArgumentError: For too few cameras or points, a share outside of [0, 1], or noise below 0.

    >>> import burlab as bl
    >>> bl.problems.synthetic_scene(cameras=2, points=5)
    <Scene of 10 observations of 5 points by 2 cameras>
    """
    whole(cameras, "cameras", 2)
    whole(points, "points", 1)
    check_fits(8 * cameras * points, f"{shown(cameras)} cameras that see {shown(points)} points")
    visible, noise = number_in(SHARE, visible, "visible"), number_in(NOT_NEGATIVE, noise, "noise")
    rng = np.random.default_rng(whole(seed, "seed", 0))
    rotation, across = 0.2 * rng.normal(size=(cameras, 3)), 0.3 * rng.normal(size=(cameras, 2))
    depth, focal = -8 + 0.5 * rng.normal(size=(cameras, 1)), 500 + 10 * rng.normal(size=(cameras, 1))
    lenses = 0.01 * rng.normal(size=(cameras, 2))
    truth = np.concatenate([rotation, across, depth, focal, lenses], axis=1), rng.normal(size=(points, 3))
    drawn = rng.random((cameras, points))
    camera, point = np.nonzero(drawn <= np.maximum(visible, np.sort(drawn, axis=0)[1]))
    exact = bundle_adjustment(camera, point, np.zeros((camera.size, 2))).residuals(truth)
    seen = exact.reshape(-1, 2) + noise * rng.normal(size=(camera.size, 2))
    off = rng.normal(size=(cameras, 9)) * np.repeat([0.02, 5.0, 0.0], [6, 1, 2])
    return Scene(camera, point, seen, (truth[0] + off, truth[1] + 0.05 * rng.normal(size=(points, 3))), truth)


def _rotated(w: Any, x: Any) -> Any:
    """Rodrigues' formula for one point."""
    angle = np.sqrt(np.sum(w * w) + 1e-30)  # a derivative at w = 0, too
    k = w / angle
    across = np.stack([k[1] * x[2] - k[2] * x[1], k[2] * x[0] - k[0] * x[2], k[0] * x[1] - k[1] * x[0]])
    return x * np.cos(angle) + across * np.sin(angle) + k * np.sum(k * x) * (1 - np.cos(angle))


def _reprojection(camera: Any, point: Any, seen: Any) -> Any:
    """The residuals of one observation."""
    moved = _rotated(camera[:3], point) + camera[3:6]
    plane = -moved[:2] / moved[2]
    squared = np.sum(plane * plane)
    return camera[6] * (1 + camera[7] * squared + camera[8] * squared**2) * plane - seen
