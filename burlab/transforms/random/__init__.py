"""Random numbers as functions of a key: counter-based (Philox4x64-10), so the same key gives the same numbers anywhere.

Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3. A key is an array of two unsigned 64-bit words. Names
and the order of arguments are those of `jax.random`.
"""

from .distributions import exponential, gamma, laplace
from .fixed_distributions import bernoulli, normal, rademacher, randint, uniform
from .keys import fold_in, key, known_dtype as known_dtype, known_shape as known_shape, split
from .permutations import choice, permutation

__all__ = [
    "bernoulli",
    "choice",
    "exponential",
    "fold_in",
    "gamma",
    "key",
    "laplace",
    "normal",
    "permutation",
    "rademacher",
    "randint",
    "split",
    "uniform",
]
