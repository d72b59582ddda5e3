"""Bundle adjustments for SciPy: all residuals of a vector in NumPy, and the pattern of their Jacobian."""

from typing import Any

import numpy as np
from scipy import sparse

from burlab.problems import Scene


def vector(tables: Any) -> Any:
    """Cameras and points as one vector."""
    return np.concatenate([table.ravel() for table in tables])


def pattern(scene: Scene) -> Any:
    """Which residual depends on which number."""
    rows = 2 * np.arange(scene.camera.size)
    table = sparse.lil_matrix((2 * rows.size, vector(scene.start).size), dtype=int)
    for numbers, width, first in ((scene.camera, 9, 0), (scene.point, 3, scene.start[0].size)):
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
