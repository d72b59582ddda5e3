"""`run.save(path)`: a run in a file."""

import hashlib
import os
from typing import Any

import numpy as np

from burlab.errors import StatusError
from burlab.run.loop.continued_loop import ContinuedLoop
from burlab.run.loop.loop import RunLoop
from burlab.run.loop.snapshot import TableContents
from burlab.runtime.coerce import Array

from . import container
from .formats_json import formats_to_json
from .recipe import describe, fingerprint

KIND = "run"
STANDING = ("step", "done", "reason")  # whole numbers; elapsed, value and norm are an array
BEFORE = "before/"  # names of arrays of a loop that did earlier steps, in other formats of numbers
TABLES = ("record", "stamps", "path", "traces")
_FRAMES = 16 << 20  # bytes of keyframes in a file, besides the first and the last one


def identify(engine: object) -> str:
    """A hash of an engine's computation from its start."""
    if isinstance(engine, ContinuedLoop):
        parts = identify(engine.before), str(engine.first), identify(engine.now)
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()
    return fingerprint(_loop(engine).setup)


def save(engine: object, path: str | os.PathLike[str]) -> None:
    """Write an engine to a file, also while it runs. Raises FileError; an older file is then unchanged."""
    container.write(path, KIND, *_described(engine))


def _described(engine: object) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return an engine as JSON and arrays: those of loops that did earlier steps have names of "before/"."""
    if isinstance(engine, ContinuedLoop):
        document, arrays = _described(engine.now)
        earlier, more = _described(engine.earlier())
        return document | {"before": earlier}, arrays | {f"{BEFORE}{name}": array for name, array in more.items()}
    loop = _loop(engine)
    saved = loop.saved(_FRAMES)
    recipe, arrays = describe(loop.setup)
    tables: dict[str, TableContents | None] = {name: getattr(saved.tables, name) for name in TABLES}
    document: dict[str, Any] = {
        "recipe": recipe,
        "standing": {name: int(getattr(saved.standing, name)) for name in STANDING},
        "tables": {name: None if kept is None else [kept.rows, kept.span] for name, kept in tables.items()},
    }
    if loop.formats is not None:
        document["formats"] = formats_to_json(loop.formats)
    arrays["standing"] = np.array([saved.standing.elapsed, saved.standing.value, saved.standing.norm])
    for name, kept in tables.items():
        arrays |= {} if kept is None else {f"{name}/{k}": column for k, column in enumerate(kept.columns)}
    arrays |= {f"events/{k}": column for k, column in enumerate(saved.events)}
    arrays["frames"] = saved.frame_steps
    arrays |= {f"frames/{k}": frame for k, frame in enumerate(saved.frames)}
    arrays |= {f"cells/{k}": cell for k, cell in enumerate(saved.buffers)}
    return document, arrays


def _loop(engine: object) -> RunLoop:
    if not isinstance(engine, RunLoop):
        raise StatusError(
            "a minimizer of SciPy cannot be saved: what it remembers is its own. Save run.x and run.history instead."
        )
    return engine
