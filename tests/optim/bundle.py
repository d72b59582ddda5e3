"""A bundle adjustment: cameras of nine numbers and points, as in Agarwal, Snavely, Seitz and Szeliski 2010."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


def _rotated(w: Any, x: Any) -> Any:
    """Rodrigues' formula for one point."""
    angle = np.sqrt(np.sum(w * w) + 1e-30)
    k = w / angle
    across = np.stack([k[1] * x[2] - k[2] * x[1], k[2] * x[0] - k[0] * x[2], k[0] * x[1] - k[1] * x[0]])
    return x * np.cos(angle) + across * np.sin(angle) + k * np.sum(k * x) * (1 - np.cos(angle))


def reprojection(camera: Any, point: Any, seen: Any) -> Any:
    """Residuals of one observation: rotation, translation, focal length, two distortions."""
    y = _rotated(camera[:3], point) + camera[3:6]
    plane = -y[:2] / y[2]
    squared = np.sum(plane * plane)
    return camera[6] * (1 + camera[7] * squared + camera[8] * squared**2) * plane - seen


@dataclass(frozen=True)
class Scene:
    """camera, point: of each observation. seen: pixels. start: cameras and points."""

    camera: Any
    point: Any
    seen: Any
    start: tuple[Any, Any]

    @staticmethod
    def random(cameras: int, points: int, seed: int) -> "Scene":
        """Half of the points are seen by a camera, with an error of half a pixel."""
        rng = np.random.default_rng(seed)
        place = [0.2 * rng.normal(size=(cameras, 3)), 0.3 * rng.normal(size=(cameras, 2))]
        depth, focal = -8 + 0.5 * rng.normal(size=(cameras, 1)), 500 + 10 * rng.normal(size=(cameras, 1))
        c = np.concatenate([*place, depth, focal, 0.01 * rng.normal(size=(cameras, 2))], axis=1)
        x = rng.normal(size=(points, 3))
        i, j = np.nonzero(rng.random((cameras, points)) < 0.5)
        exact = Scene(i, j, np.zeros((i.size, 2)), (c, x))
        seen = in_numpy(exact)(exact.vector).reshape(-1, 2) + 0.5 * rng.normal(size=(i.size, 2))
        off = [0.02 * rng.normal(size=(cameras, 6)), 5 * rng.normal(size=(cameras, 1)), np.zeros((cameras, 2))]
        return Scene(i, j, seen, (c + np.concatenate(off, axis=1), x + 0.05 * rng.normal(size=x.shape)))

    @property
    def vector(self) -> Any:
        """The start as one vector."""
        return np.concatenate([leaf.ravel() for leaf in self.start])

    def pattern(self) -> Any:
        """Which residual depends on which number."""
        rows = 2 * np.arange(self.camera.size)
        table = sparse.lil_matrix((2 * rows.size, self.vector.size), dtype=int)
        for numbers, width, first in ((self.camera, 9, 0), (self.point, 3, self.start[0].size)):
            for column in range(width):
                table[rows, first + numbers * width + column] = 1
                table[rows + 1, first + numbers * width + column] = 1
        return table


def in_numpy(scene: Scene) -> Any:
    """All residuals of a vector at once, in NumPy."""
    cameras, (i, j) = scene.start[0].shape[0], (scene.camera, scene.point)

    def residuals(x: Any) -> Any:
        c, p = x[: 9 * cameras].reshape(cameras, 9)[i], x[9 * cameras :].reshape(-1, 3)[j]
        angle = np.linalg.norm(c[:, :3], axis=1)[:, None]
        k = c[:, :3] / np.where(angle > 0, angle, 1)
        along = np.sum(k * p, axis=1)[:, None]
        y = np.cos(angle) * p + np.sin(angle) * np.cross(k, p) + along * (1 - np.cos(angle)) * k + c[:, 3:6]
        plane = -y[:, :2] / y[:, 2:]
        squared = np.sum(plane**2, axis=1)
        return ((c[:, 6] * (1 + c[:, 7] * squared + c[:, 8] * squared**2))[:, None] * plane - scene.seen).ravel()

    return residuals
