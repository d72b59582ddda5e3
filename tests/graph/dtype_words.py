"""A call of every function of NumPy that can be traced, for what its result has as a dtype, and as values.

x: a vector of six numbers; m: a matrix of three rows; s: a number of Python's or NumPy's, or an array of another dtype.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Word = Callable[..., Any]

ALONE: dict[str, Word] = {
    **{
        name: getattr(np, name)
        for name in "all amax amin any argmax argmin argsort atleast_1d atleast_2d atleast_3d copy count_nonzero"
        " cumprod cumsum cumulative_prod cumulative_sum diff ediff1d fix flip gradient i0 imag isneginf isposinf isreal"
        " iscomplex max mean median min nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian"
        " nanmin nanprod nanstd nansum nanvar ones_like prod ptp ravel real real_if_close round around sinc sort std"
        " sum trapezoid unwrap var zeros_like diagflat poly polyder polyint angle".split()
    },
    "linalg.norm": np.linalg.norm,
    "linalg.vector_norm": np.linalg.vector_norm,
    "argpartition": lambda x: np.sort(np.argpartition(x, 2)),
    "partition": lambda x: np.sort(np.partition(x, 2)),
    "apply_along_axis": lambda x: np.apply_along_axis(lambda r: r + 1, 0, x),
    "apply_over_axes": lambda x: np.apply_over_axes(np.sum, x, 0),
    "array_split": lambda x: tuple(np.array_split(x, 2)),
    "split": lambda x: tuple(np.split(x, 2)),
    "hsplit": lambda x: tuple(np.hsplit(x, 2)),
    "vsplit": lambda x: tuple(np.vsplit(x.reshape(2, 3), 2)),
    "dsplit": lambda x: tuple(np.dsplit(x.reshape(1, 2, 3), 3)),
    "unstack": lambda x: tuple(np.unstack(x)),
    "astype": lambda x: (np.astype(x, np.int16), np.astype(x, np.float32), np.astype(x, np.uint8), np.astype(x, bool)),
    "average": np.average,
    "bincount": lambda x: np.bincount(np.array([0, 2, 1, 1, 0, 2]), x),
    "lexsort": lambda x: np.lexsort((x, x[::-1])),
    "block": lambda x: np.block([x, x]),
    "broadcast_arrays": lambda x: tuple(np.broadcast_arrays(x, x[:, None])),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 6)),
    "choose": lambda x: np.choose(np.array([0, 1, 0, 1, 0, 0]), [x, x[::-1]]),
    "compress": lambda x: np.compress(np.array([True, False, True, True, False, False]), x),
    "delete": lambda x: np.delete(x, 2),
    "diag": np.diag,
    "diagonal": lambda x: np.diagonal(x.reshape(2, 3)),
    "linalg.diagonal": lambda x: np.linalg.diagonal(x.reshape(2, 3)),
    "einsum": lambda x: np.einsum("i,i->", x, x),
    "expand_dims": lambda x: np.expand_dims(x, 0),
    "extract": lambda x: np.extract(np.array([True, False, True, True, False, False]), x),
    "flipud": np.flipud,
    "fliplr": lambda x: np.fliplr(x.reshape(2, 3)),
    "rot90": lambda x: np.rot90(x.reshape(2, 3)),
    "histogram": lambda x: np.histogram(x, 3, (0, 4)),
    "histogram2d": lambda x: np.histogram2d(x, x[::-1], 3, [[0, 4], [0, 4]]),
    "hstack": lambda x: np.hstack([x, x]),
    "vstack": lambda x: np.vstack([x, x]),
    "dstack": lambda x: np.dstack([x, x]),
    "column_stack": lambda x: np.column_stack([x, x]),
    "stack": lambda x: np.stack([x, x]),
    "concatenate": lambda x: np.concatenate([x, x]),
    "lib.stride_tricks.sliding_window_view": lambda x: np.lib.stride_tricks.sliding_window_view(x, 2),
    "matrix_transpose": lambda x: np.matrix_transpose(x.reshape(2, 3)),
    "linalg.matrix_transpose": lambda x: np.linalg.matrix_transpose(x.reshape(2, 3)),
    "meshgrid": lambda x: tuple(np.meshgrid(x, x[:2])),
    "moveaxis": lambda x: np.moveaxis(x.reshape(2, 3), 0, 1),
    "swapaxes": lambda x: np.swapaxes(x.reshape(2, 3), 0, 1),
    "rollaxis": lambda x: np.rollaxis(x.reshape(2, 3), 1),
    "transpose": lambda x: np.transpose(x.reshape(2, 3)),
    "pad": lambda x: (np.pad(x, 1), np.pad(x, 1, "edge"), np.pad(x, 1, "maximum")),
    "repeat": lambda x: np.repeat(x, 2),
    "reshape": lambda x: np.reshape(x, (2, 3)),
    "resize": lambda x: np.resize(x, (2, 4)),
    "roll": lambda x: np.roll(x, 2),
    "squeeze": lambda x: np.squeeze(x[None]),
    "take": lambda x: np.take(x, np.array([0, 2])),
    "take_along_axis": lambda x: np.take_along_axis(x, np.array([0, 2]), 0),
    "tile": lambda x: np.tile(x, 2),
    "trace": lambda x: np.trace(x.reshape(2, 3)),
    "linalg.trace": lambda x: np.linalg.trace(x.reshape(2, 3)),
    "tril": lambda x: np.tril(x.reshape(2, 3)),
    "triu": lambda x: np.triu(x.reshape(2, 3)),
    "vander": lambda x: np.vander(x, 3),
    "cov": np.cov,
    "corrcoef": lambda x: np.corrcoef(x, x[::-1] + x),
    "unravel_index": lambda x: np.unravel_index(x, (4, 4)),
}

CONCRETE: dict[str, Word] = {  # what takes a second number, s
    "allclose": np.allclose,
    "append": np.append,
    "array_equal": np.array_equal,
    "array_equiv": np.array_equiv,
    "average": lambda x, s: np.average(x, weights=np.ones(6, np.asarray(s).dtype)),
    "average returned": lambda x, s: np.average(x, weights=np.ones(6, np.asarray(s).dtype), returned=True),
    "clip": lambda x, s: (np.clip(x, 0, s), np.clip(x, None, s), np.clip(x, s, s)),
    "choose": lambda x, s: np.choose(np.array([0, 1, 0, 1, 0, 0]), [x, s]),
    "concatenate": lambda x, s: np.concatenate([x, np.asarray(s)[None]]),
    "convolve": lambda x, s: np.convolve(x, np.asarray(s)[None]),
    "correlate": lambda x, s: np.correlate(x, np.asarray(s)[None]),
    "cross": lambda x, s: np.cross(x[:3], np.full(3, s)),
    "digitize": lambda x, s: np.digitize(x, np.array([s, s + 1])),
    "dot": lambda x, s: (np.dot(x, s), np.dot(x, np.full(6, s))),
    "einsum": lambda x, s: np.einsum("i,i->i", x, np.full(6, s)),
    "full_like": np.full_like,
    "inner": lambda x, s: np.inner(x, np.full(6, s)),
    "insert": lambda x, s: np.insert(x, 1, s),
    "interp": lambda x, s: (np.interp(x, [0.0, 2.0], [0.0, s]), np.interp(s, [1.0, 2.0], x[:2])),
    "isclose": np.isclose,
    "isin": lambda x, s: np.isin(x, [s]),
    "kron": lambda x, s: np.kron(x, np.full(2, s)),
    "geomspace": lambda x, s: np.geomspace(x[0] + 1, s + 1, 3),
    "linspace": lambda x, s: (np.linspace(x[0], s, 3), np.linspace(s, x[0], 3)),
    "logspace": lambda x, s: np.logspace(x[0], s, 3),
    "linalg.cross": lambda x, s: np.linalg.cross(x[:3], np.full(3, s)),
    "linalg.outer": lambda x, s: np.linalg.outer(x, np.full(2, s)),
    "linalg.vecdot": lambda x, s: np.linalg.vecdot(x, np.full(6, s)),
    "linalg.tensordot": lambda x, s: np.linalg.tensordot(x, np.full(2, s), axes=0),
    "outer": lambda x, s: np.outer(x, np.full(2, s)),
    "pad": lambda x, s: np.pad(x, 1, constant_values=s),
    "percentile": lambda x, s: (np.percentile(x, s), np.percentile(x, np.array([s, s]))),
    "nanpercentile": np.nanpercentile,
    "quantile": lambda x, s: np.quantile(x, s * 0 + 1),
    "nanquantile": lambda x, s: np.nanquantile(x, s * 0 + 1),
    "piecewise": lambda x, s: np.piecewise(x, [x > 1], [s, 0]),
    "polyadd": lambda x, s: np.polyadd(x, np.full(2, s)),
    "polysub": lambda x, s: np.polysub(x, np.full(2, s)),
    "polymul": lambda x, s: np.polymul(x, np.full(2, s)),
    "polyval": lambda x, s: (np.polyval(x, s), np.polyval([s, s], x)),
    "polyfit": lambda x, s: np.polyfit(np.arange(6.0), x, 1),
    "searchsorted": lambda x, s: (np.searchsorted(np.array([1, 2, 3]), x), np.searchsorted(np.sort(x), s)),
    "select": lambda x, s: (np.select([x > 1], [x], s), np.select([x > 1, x > 0], [s, x])),
    "stack": lambda x, s: np.stack([x, np.full(6, s)]),
    "tensordot": lambda x, s: np.tensordot(x, np.full(6, s), 1),
    "trapezoid": lambda x, s: np.trapezoid(x, dx=s),
    "gradient": np.gradient,
    "vdot": lambda x, s: np.vdot(x, np.full(6, s)),
    "where": lambda x, s: (np.where(x > 1, x, s), np.where(x > 1, s, x)),
    "nan_to_num": lambda x, s: np.nan_to_num(x, nan=s),
    "hstack": lambda x, s: np.hstack([x, s]),
    "max initial": lambda x, s: np.max(x, initial=s),
    "sum initial": lambda x, s: np.sum(x, initial=s),
    "prod initial": lambda x, s: np.prod(x, initial=s),
    "angle": lambda x, s: np.angle(x, deg=True),
    "cov": lambda x, s: np.cov(x, np.full(6, s) + np.arange(6)),
    "result_type": lambda x, s: np.zeros(2, np.result_type(x, s)),
    "diff append": lambda x, s: np.diff(x, append=s),
    "ediff1d": lambda x, s: np.ediff1d(x, to_end=s),
    "round to": lambda x, s: np.round(x, 1) + s,
    "var ddof": lambda x, s: np.var(x, ddof=1) + s,
    "linalg.norm": lambda x, s: (np.linalg.norm(x, s), np.linalg.norm(x * s)),
    "linalg.vector_norm": lambda x, s: np.linalg.vector_norm(x, ord=s),
}

MATRICES: dict[str, Word] = {
    **{
        f"linalg.{name}": getattr(np.linalg, name)
        for name in "cholesky cond det eigvalsh inv pinv qr slogdet svdvals matrix_norm matrix_rank".split()
    },
    "linalg.eigh": lambda m: np.linalg.eigh(m)[0],
    "linalg.svd": lambda m: np.linalg.svd(m)[1],
    "linalg.lstsq": lambda m: np.linalg.lstsq(m, m[:, 0])[0],
    "linalg.solve": lambda m: np.linalg.solve(m, m[:, 0]),
    "linalg.matmul": lambda m: np.linalg.matmul(m, m),
    "linalg.matrix_power": lambda m: (np.linalg.matrix_power(m, 3), np.linalg.matrix_power(m, 0)),
    "linalg.multi_dot": lambda m: np.linalg.multi_dot([m, m, m]),
    "linalg.tensorinv": lambda m: np.linalg.tensorinv(m, 1),
    "linalg.tensorsolve": lambda m: np.linalg.tensorsolve(m, m[:, 0]),
    "tril_indices_from": np.tril_indices_from,
    "triu_indices_from": np.triu_indices_from,
    "diag_indices_from": np.diag_indices_from,
}
WITHOUT_NUMBERS = {"shape", "ndim", "size", "isrealobj", "iscomplexobj", "empty_like"}
"""Words whose results are no arrays of numbers."""
BY_COMPLEX = ("fft.", "linalg.eig ", "linalg.eigvals ")
"""Words with complex results: their parts are looked at by their own tests."""


def names(table: dict[str, Word]) -> set[str]:
    """The functions that a table calls."""
    return {key.partition(" ")[0] for key in table}
