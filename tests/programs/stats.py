"""autograd.scipy.stats in the words of an engine."""

import math
from types import SimpleNamespace
from typing import Any


def distributions(np: Any, special: Any) -> dict[str, Any]:
    """The distributions that the programs call."""

    def logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
        z = (x - loc) / scale
        return -0.5 * (z * z) - np.log(scale) - 0.5 * math.log(2 * math.pi)

    def pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
        return np.exp(logpdf(x, loc, scale))

    def cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
        return special.ndtr((x - loc) / scale)

    def of_many(x: Any, mean: Any, cov: Any) -> Any:
        z = x - mean
        away = np.sum(z * np.linalg.solve(cov, z[..., None])[..., 0], axis=-1)
        return -0.5 * (away + np.linalg.slogdet(cov)[1] + x.shape[-1] * math.log(2 * math.pi))

    def entropy(mean: Any, cov: Any) -> Any:
        return 0.5 * (np.shape(mean)[0] * (1.0 + math.log(2 * math.pi)) + np.linalg.slogdet(cov)[1])

    normal = SimpleNamespace(logpdf=logpdf, pdf=pdf, cdf=cdf)
    return {"norm": normal, "multivariate_normal": SimpleNamespace(logpdf=of_many, entropy=entropy)}
