"""The data of a run in a file: forms and checksums, which the data that are passed must have."""

from typing import Any

from burlab.errors import ArgumentError, FileError, ShapeError
from burlab.problems.data import Data, Rows
from burlab.runtime.sharded import ShardedArray
from burlab.typing import ArrayLike

from .container import sha256


def checksum(array: Rows) -> list[Any]:
    """The dtype, the shape, and SHA-256 of the numbers, wherever they lie."""
    parts = array.parts if isinstance(array, ShardedArray) else [array]
    return [array.dtype.name, list(array.shape), sha256(*parts)]


def checked(data: tuple[ArrayLike, ...] | ArrayLike | None, described: list[Any], name: str) -> Data:
    """The data, if they are those that were described. name: of the argument."""
    wanted = ", ".join(f"{dtype}{shape}" for dtype, shape, _ in described)
    call = "load_run(path, data)" if name == "data" else f"load_run(..., {name}=...)"
    if not described:
        if data is not None:
            raise FileError(f"{name} was passed, but this run has none, it reads a function of x alone. Leave it out.")
        return Data.none()
    if data is None:
        raise FileError(f"this run was saved without its {name}, arrays {wanted}. Pass {call}.")
    try:
        given = Data.of(data)
    except (ArgumentError, ShapeError, TypeError) as error:
        raise FileError(
            f"this run needs its {name}, arrays {wanted}; what was passed cannot be that: {error}"
        ) from error
    came = [checksum(array) for array in given.all_arrays]
    if came == described:
        return given
    forms = ", ".join(f"{dtype}{shape}" for dtype, shape, _ in came)
    if [row[:2] for row in came] != [row[:2] for row in described]:
        raise FileError(f"this run was made with {name} {wanted}, got {forms}. Pass the arrays that it was made with.")
    other = next(k for k, (ours, theirs) in enumerate(zip(came, described, strict=True)) if ours != theirs)
    raise FileError(
        f"{name}[{other}] has the right form, {came[other][0]}{came[other][1]}, but other numbers than those that this "
        "run was made with. Pass the same arrays, unchanged and in the same order."
    )
