"""The words of wide programs: linear algebra, complex numbers, transforms, order, indices, nan, SciPy, assignment."""

from collections.abc import Callable
from typing import Any

import numpy  # noqa: ICN001 - np is the engine here

Word = Callable[..., Any]


class Words:
    """NumPy's names on an engine, with SciPy's in `special`, and assignment in `put` and `raised`."""

    def __init__(self, numpy: Any, special: Any, expm: Any, functional: bool) -> None:
        self._numpy, self.special, self.expm, self._functional = numpy, special, expm, functional

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numpy, name)

    def put(self, a: Any, key: Any, value: Any) -> Any:
        """A result whose entries at an index were replaced."""
        result = a * 1.0
        if self._functional:
            return result.at[key].set(value)
        result[key] = value
        return result

    def raised(self, a: Any, key: Any, value: Any) -> Any:
        """A result to whose entries at an index something was added in place, through a view of it."""
        result = a * 1.0
        if self._functional:
            return result.at[key].add(value)
        part = result[key]
        part += value
        if not numpy.shape(part):  # a number is no view
            result[key] = part
        return result


def _few(np: Any, a: Any) -> Any:
    """Up to three numbers of an array, and at least one."""
    return np.append(np.ravel(a)[:2], 0.3)


def _square(np: Any, a: Any) -> Any:
    v = np.tanh(_few(np, a))
    n = v.shape[0]
    return np.outer(v, np.sin(v)) / 3 + np.diag(np.arange(1.0, n + 1))


def _symmetric(np: Any, a: Any) -> Any:
    v = np.tanh(_few(np, a))
    return np.outer(v, v) / 3 + np.diag(np.arange(1.0, v.shape[0] + 1))


def _holes(np: Any, a: Any) -> Any:
    return np.append(np.where(np.ravel(a) > 0.8, np.nan, np.ravel(a)), numpy.array([0.4, numpy.nan]))


def _z(np: Any, a: Any) -> Any:
    return np.cos(a) + 1j * (np.sin(a) + 1.5)


XS = numpy.linspace(-3.0, 3.0, 7)
FS = numpy.array([0.3, -1.0, 0.5, 0.2, 1.4, -0.7, 0.1])

ELEMENTWISE: dict[str, Word] = {
    "arcsin": lambda np, a: np.arcsin(0.9 * np.tanh(a)),
    "arccos": lambda np, a: np.arccos(0.9 * np.tanh(a)),
    "arcsinh": lambda np, a: np.arcsinh(a),
    "arccosh": lambda np, a: np.arccosh(1.5 + a * a),
    "arctanh": lambda np, a: np.arctanh(0.9 * np.tanh(a)),
    "sinc": lambda np, a: np.sinc(a),
    "cbrt": lambda np, a: np.cbrt(a * a + 0.3),
    "exp2": lambda np, a: np.exp2(np.tanh(a)),
    "log2": lambda np, a: np.log2(a * a + 0.3),
    "log10": lambda np, a: np.log10(a * a + 0.3),
    "degrees": lambda np, a: np.degrees(a) / 50,
    "deg2rad": lambda np, a: np.deg2rad(a) * 10,
    "floor": lambda np, a: a * np.floor(a + 0.123),
    "ceil": lambda np, a: a * np.ceil(a - 0.123),
    "round": lambda np, a: np.round(a * 1.01) - a,
    "trunc": lambda np, a: np.trunc(a * 1.01) + a,
    "modf": lambda np, a: np.modf(a * 1.01)[0],
    "remainder": lambda np, a: np.remainder(a + 0.123, 0.7),
    "fmod": lambda np, a: np.fmod(a + 0.123, 0.7),
    "nan_to_num": lambda np, a: np.nan_to_num(np.where(a > 0.9, np.nan, a), nan=0.25),
    "reciprocal": lambda np, a: np.reciprocal(a * a + 0.5),
    "isfinite": lambda np, a: np.where(np.isfinite(a) & (a > 0.123), a, -a),
    "i0": lambda np, a: np.i0(np.tanh(a) + 1.5),
    "erf": lambda np, a: np.special.erf(a),
    "erfc": lambda np, a: np.special.erfc(a),
    "expit": lambda np, a: np.special.expit(a),
    "logit": lambda np, a: np.special.logit(0.5 + 0.4 * np.tanh(a)),
    "gammaln": lambda np, a: np.special.gammaln(a * a + 0.5),
    "digamma": lambda np, a: np.special.digamma(a * a + 0.7),
    "ndtr": lambda np, a: np.special.ndtr(a),
    "ndtri": lambda np, a: np.special.ndtri(0.5 + 0.4 * np.tanh(a)),
    "log_ndtr": lambda np, a: np.special.log_ndtr(a),
    "entr": lambda np, a: np.special.entr(a * a + 0.3),
    "i0e": lambda np, a: np.special.i0e(a + 0.1),
    "i1": lambda np, a: np.special.i1(np.tanh(a)),
    "real of product": lambda np, a: np.real(_z(np, a) * (a - 0.5j)),
    "imag of quotient": lambda np, a: np.imag((a + 1j) / _z(np, a)),
    "abs of complex": lambda np, a: np.abs(_z(np, a)),
    "angle": lambda np, a: np.angle(_z(np, a)),
    "complex exp": lambda np, a: np.real(np.exp(1j * a) * np.conj(_z(np, a))),
    "complex log": lambda np, a: np.imag(np.log(_z(np, a))) + np.real(np.log(_z(np, a))),
    "complex sqrt": lambda np, a: np.real(np.sqrt(_z(np, a))),
    "complex power": lambda np, a: np.real(_z(np, a) ** 2 / 4) + np.imag(_z(np, a) ** 0.5),
    "complex tanh": lambda np, a: np.real(np.tanh(_z(np, a) / 2)) + np.imag(np.sin(_z(np, a) / 2)),
    "interp": lambda np, a: np.interp(a, XS, FS),
    "polyval": lambda np, a: np.polyval(numpy.array([0.1, -0.3, 0.5]), np.tanh(a)),
    "select": lambda np, a: np.select([a > 1, a > 0], [np.sin(a), a * a / 2], -a / 3),
    "piecewise": lambda np, a: np.where(a < 0.123, np.exp(np.minimum(a, 1.0)), np.cos(a)),
    "take by place": lambda np, a: np.take(FS + 0 * np.sum(a), np.searchsorted(XS, a) % 7) * a,
    "digitize": lambda np, a: a * np.digitize(a, XS) / 4,
}
WHOLE: dict[str, Word] = {
    "sort": lambda np, a: np.sort(np.ravel(a)),
    "sort axis": lambda np, a: np.sort(a, axis=-1) if a.ndim else a,
    "argsort": lambda np, a: np.ravel(a)[np.argsort(np.ravel(a))] * np.arange(a.size),
    "median": lambda np, a: np.median(np.append(a, 0.1)),
    "quantile": lambda np, a: np.quantile(np.append(a, 0.1), 0.3),
    "percentile": lambda np, a: np.percentile(np.append(a, 0.1), numpy.array([20.0, 70.0])),
    "partition": lambda np, a: np.sort(np.partition(np.append(a, 0.1), 1)[:1]),
    "nansum": lambda np, a: np.nansum(_holes(np, a)),
    "nanmean": lambda np, a: np.nanmean(_holes(np, a)),
    "nanmax": lambda np, a: np.nanmax(_holes(np, a)),
    "nanmin": lambda np, a: np.nanmin(_holes(np, a)),
    "nanvar": lambda np, a: np.nanvar(_holes(np, a)),
    "nanprod": lambda np, a: np.nanprod(np.tanh(_holes(np, a))),
    "nancumsum": lambda np, a: np.nancumsum(_holes(np, a)),
    "ptp": lambda np, a: np.ptp(np.append(a, 0.1)),
    "average": lambda np, a: np.average(np.append(a, 0.1), weights=np.arange(1.0, a.size + 2)),
    "average axis": lambda np, a: np.average(_square(np, a), axis=0, weights=np.exp(_few(np, a) / 3)),
    "cumprod": lambda np, a: np.cumprod(np.tanh(a) + 0.1),
    "count": lambda np, a: a * np.count_nonzero(a > 0.2) / 4,
    "all any": lambda np, a: np.where(np.all(a > -5) & np.any(a > -4), a, 2 * a),
    "trapezoid": lambda np, a: np.trapezoid(np.append(a, 0.1)),
    "gradient": lambda np, a: np.gradient(np.append(np.ravel(a), numpy.array([0.1, 0.4]))),
    "ediff1d": lambda np, a: np.ediff1d(np.append(a, 0.1)),
    "convolve": lambda np, a: np.convolve(np.append(a, 0.1), numpy.array([0.5, -1.0, 0.25]))[:8],
    "correlate": lambda np, a: np.correlate(np.append(a, 0.1), numpy.array([0.5, -1.0]), "full")[:8],
    "fft": lambda np, a: np.real(np.fft.fft(np.append(a, 0.1))[:6]) / 2,
    "rfft": lambda np, a: np.imag(np.fft.rfft(np.append(a, 0.1), 5)) / 2,
    "irfft": lambda np, a: np.fft.irfft(np.fft.rfft(np.append(a, 0.1)) * 1j, 6),
    "fft2": lambda np, a: np.real(np.fft.fft2(np.outer(_few(np, a), _few(np, a)))) / 4,
    "ifft": lambda np, a: np.abs(np.fft.ifft(np.append(a, 3.0)) + 2.0),
    "pad wrap": lambda np, a: np.pad(np.append(a, 0.1), 1, mode="wrap")[:8],
    "pad edge": lambda np, a: np.pad(np.append(a, 0.1), 2, mode="edge")[:8],
    "tril": lambda np, a: np.tril(np.outer(_few(np, a), numpy.arange(3.0))),
    "triu": lambda np, a: np.triu(np.outer(_few(np, a), numpy.arange(4.0)), 1),
    "diag": lambda np, a: np.diag(_few(np, a)) + np.diag(np.diag(_square(np, a))),
    "trace": lambda np, a: np.trace(_square(np, a)),
    "vander": lambda np, a: np.vander(np.tanh(_few(np, a)), 3),
    "meshgrid": lambda np, a: np.meshgrid(_few(np, a), numpy.arange(2.0))[0],
    "insert": lambda np, a: np.insert(np.append(a, 0.1), 1, 0.7)[:8],
    "delete": lambda np, a: np.delete(np.append(a, numpy.array([0.1, 0.2])), 1)[:8],
    "tile": lambda np, a: np.tile(_few(np, a), (2, 1)),
    "rot90": lambda np, a: np.rot90(_square(np, a)),
    "kron": lambda np, a: np.kron(_few(np, a), numpy.array([1.0, -0.5])),
    "cov": lambda np, a: np.cov(np.stack([np.append(a, 0.1), np.append(np.sin(a), 2.0)])) if a.size else a,
    "index list": lambda np, a: np.append(a, 0.1)[numpy.array([0, -1, 0])],
    "mask": lambda np, a: np.append(a, numpy.array([0.1, 0.2, 0.3]))[-3:][numpy.array([True, False, True])],
    "traced index": lambda np, a: np.append(a, 0.1)[np.argmax(np.append(a, 0.1))] * a,
    "put": lambda np, a: np.put(np.append(a, numpy.array([0.1, 0.2])), slice(1, None), 0.5),
    "put traced": lambda np, a: np.put(np.append(a, 0.1), 0, np.sin(np.sum(a))),
    "raised": lambda np, a: np.raised(np.append(a, 0.1), slice(None, None, 2), np.cos(np.sum(a))),
    "raised row": lambda np, a: np.raised(_square(np, a), 1, _few(np, a)),
    "inv": lambda np, a: np.linalg.inv(_square(np, a)),
    "det": lambda np, a: np.linalg.det(_square(np, a)) / 4,
    "slogdet": lambda np, a: np.linalg.slogdet(_square(np, a))[1],
    "solve": lambda np, a: np.linalg.solve(_square(np, a), np.ones(_few(np, a).shape)),
    "cholesky": lambda np, a: np.linalg.cholesky(_symmetric(np, a)),
    "eigvalsh": lambda np, a: np.linalg.eigvalsh(_symmetric(np, a)),
    "eigh": lambda np, a: np.linalg.eigh(_symmetric(np, a))[1] ** 2,
    "svd": lambda np, a: np.linalg.svd(_square(np, a), compute_uv=False),
    "qr": lambda np, a: np.abs(np.linalg.qr(_square(np, a))[1]),
    "pinv": lambda np, a: np.linalg.pinv(_square(np, a)),
    "matrix power": lambda np, a: np.linalg.matrix_power(_square(np, a) / 2, 3),
    "expm": lambda np, a: np.expm(_square(np, a) / 4),
    "norm 2": lambda np, a: np.linalg.norm(_square(np, a)),
    "norm nuc": lambda np, a: np.linalg.norm(_square(np, a), "nuc") / 2,
    "logsumexp": lambda np, a: np.special.logsumexp(np.append(a, 0.1)),
    "log_softmax": lambda np, a: np.special.log_softmax(np.append(a, 0.1))[:8],
}
PAIRS: dict[str, Word] = {
    "hypot": lambda np, a, b: np.hypot(a, b + 3.0),
    "logaddexp": lambda np, a, b: np.logaddexp(a, b),
    "logaddexp2": lambda np, a, b: np.logaddexp2(a, b),
    "copysign": lambda np, a, b: np.copysign(np.abs(a) + 0.1, b + 0.0123),
    "fmax": lambda np, a, b: np.fmax(a, b * 1.01),
    "fmin": lambda np, a, b: np.fmin(a, b * 1.01),
    "remainder": lambda np, a, b: np.remainder(a + 0.0123, b * b + 0.77),
    "floor_divide": lambda np, a, b: a * np.floor_divide(a + 0.0123, b * b + 0.77),
    "heaviside": lambda np, a, b: np.heaviside(a + 0.0123, 0.5) * b,
    "xlogy": lambda np, a, b: np.special.xlogy(a, b * b + 0.3),
    "betaln": lambda np, a, b: np.special.betaln(np.tanh(a) ** 2 + 0.5, 3.0 + np.tanh(b)),  # JAX is off from 8 on
    "complex product": lambda np, a, b: np.real((a + 1j * b) * (b - 2j)) / 3,
    "complex abs": lambda np, a, b: np.abs(a + 1j * (b * b + 1.0)),
    "isclose": lambda np, a, b: np.where(np.isclose(a, b), a, b),
    "concatenate": lambda np, a, b: np.concatenate([np.ravel(a), np.ravel(b)])[:6],
    "where in order": lambda np, a, b: np.where(np.sort(np.ravel(a))[:1] > 0.1, np.sum(a), b) if a.size else b,
}
