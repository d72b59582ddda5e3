"""`run.save(path)`: a run in a file."""

import os

import numpy as np

from burlab.errors import StatusError
from burlab.run.loop.loop import RunLoop
from burlab.run.loop.snapshot import TableContents

from . import container
from .recipe import describe, fingerprint

KIND = "run"
STANDING = ("step", "done", "reason")  # whole numbers; elapsed, value and norm are an array
TABLES = ("record", "stamps", "path", "traces")
_FRAMES = 16 << 20  # bytes of keyframes in a file, besides the first and the last one


def identify(engine: object) -> str:
    """A hash of an engine's computation from its start."""
    return fingerprint(_loop(engine).setup)


def save(engine: object, path: str | os.PathLike[str]) -> None:
    """Write an engine to a file, also while it runs. Raises FileError; an older file is then unchanged."""
    loop = _loop(engine)
    saved = loop.saved(_FRAMES)
    recipe, arrays = describe(loop.setup)
    tables: dict[str, TableContents | None] = {name: getattr(saved.tables, name) for name in TABLES}
    document = {
        "recipe": recipe,
        "standing": {name: int(getattr(saved.standing, name)) for name in STANDING},
        "tables": {name: None if kept is None else [kept.rows, kept.span] for name, kept in tables.items()},
    }
    arrays["standing"] = np.array([saved.standing.elapsed, saved.standing.value, saved.standing.norm])
    for name, kept in tables.items():
        arrays |= {} if kept is None else {f"{name}/{k}": column for k, column in enumerate(kept.columns)}
    arrays |= {f"events/{k}": column for k, column in enumerate(saved.events)}
    arrays["frames"] = saved.frame_steps
    arrays |= {f"frames/{k}": frame for k, frame in enumerate(saved.frames)}
    arrays |= {f"cells/{k}": cell for k, cell in enumerate(saved.buffers)}
    container.write(path, KIND, document, arrays)


def _loop(engine: object) -> RunLoop:
    if not isinstance(engine, RunLoop):
        raise StatusError(
            "a minimizer of SciPy cannot be saved: what it remembers is its own. Save run.x and run.history instead."
        )
    return engine
