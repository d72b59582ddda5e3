"""Checks of a loss and of a key, where they are passed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burlab.errors import DTypeError
from burlab.problems.kernels.loss_functions import takes_key
from burlab.problems.kernels.loss_numbers import advice_on
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.plain import as_array
from burlab.typing import Key


def known_key(key: Key | None) -> Any:
    """Return a key as uint64, shape (2,). Raises DTypeError for anything else."""
    words = as_array(key, "key")
    if words.dtype != np.uint64 or words.shape != (2,):
        raise DTypeError(
            f"key has dtype {words.dtype} and shape {words.shape}, expected uint64 and (2,): bl.random.key(0)."
        )
    return words


def check_loss(loss: Callable[..., Any], arrays: int, keywords: Sequence[str] = ()) -> None:
    """Raise ArgumentError for a loss that does not take x, a sample of so many arrays, and these keywords."""
    given = f"x and a sample of {arrays} array{'s' if arrays > 1 else ''}"
    advice = f"It is loss(x, *sample), with an argument for each array of data.{advice_on(loss)}"
    check_takes(loss, "loss", given, advice, 1 + arrays, [*(["key"] if takes_key(loss) else []), *keywords])
