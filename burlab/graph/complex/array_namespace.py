"""The array API standard (2024.12, data-apis.org/array-api) on traced arrays: what `x.__array_namespace__()` gives.

NumPy's own functions have the standard's names and take traced arrays, so the names are NumPy's. Only what makes an
array of something else is written here: outside of a trace's own code NumPy would ask a traced array for its numbers.
"""

from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.handles import present
from burlab.graph.node import METHODS, Node, as_node, holds_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike, DTypeLike

from .array import METHODS as COMPLEX, Complex

NAMES = frozenset(
    """
    abs acos acosh add all any arange argmax argmin argsort asin asinh astype atan atan2 atanh bitwise_and
    bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor bool broadcast_arrays broadcast_to
    can_cast ceil clip complex128 complex64 concat conj copysign cos cosh count_nonzero cumulative_prod cumulative_sum
    diff divide e empty empty_like equal exp expand_dims expm1 eye fft finfo flip float32 float64 floor floor_divide
    full full_like greater greater_equal hypot iinfo imag inf int16 int32 int64 int8 isdtype isfinite isinf isnan less
    less_equal linalg linspace log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor matmul
    matrix_transpose max maximum mean meshgrid min minimum moveaxis multiply nan negative newaxis nextafter nonzero
    not_equal ones ones_like permute_dims pi positive pow prod real reciprocal remainder repeat reshape result_type
    roll round searchsorted sign signbit sin sinh sort sqrt square squeeze stack std subtract sum take take_along_axis
    tan tanh tensordot tile tril triu trunc uint16 uint32 uint64 uint8 unique_all unique_counts unique_inverse
    unique_values unstack var vecdot where zeros zeros_like
""".split()
)
"""The names of the standard that NumPy has."""
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


class ArrayNamespace:
    """The functions, dtypes and constants of the standard, for traced arrays."""

    __array_api_version__ = VERSIONS[-1]

    def __getattr__(self, name: str) -> Any:
        if name == "__array_namespace_info__":
            return np.__array_namespace_info__
        if name not in NAMES:
            raise AttributeError(
                f"the array API standard, {self.__array_api_version__}, has no name {name!r}. Use a name of it, or np."
            )
        return getattr(np, name)

    def __dir__(self) -> list[str]:
        return sorted(NAMES | {"__array_namespace_info__", "asarray", "from_dlpack"})

    def __repr__(self) -> str:
        return "<the array API standard on burlab's traced arrays>"

    def asarray(
        self, obj: ArrayLike, /, *, dtype: DTypeLike = None, device: str | None = None, copy: bool | None = None
    ) -> Any:
        """Return an array as it is, numbers or a list as an array; of another dtype, or copied, if asked for."""
        _check_device(device)
        x: Any = present(obj)
        if isinstance(x, (list, tuple)) and holds_node(cast("Any", x)):
            x = as_node(x)
        if not isinstance(x, (Node, Complex)):
            return np.asarray(x, dtype=dtype, copy=copy)
        if dtype is not None and np.dtype(dtype) != x.dtype:
            return x.astype(dtype)
        return x.copy() if copy else x

    def from_dlpack(self, x: ArrayLike, /, *, device: str | None = None, copy: bool | None = None) -> Any:
        """Return a traced array as it is, and that of another library as NumPy's."""
        if isinstance(present(x), (Node, Complex)):
            return self.asarray(x, device=device, copy=copy)
        _check_device(device)
        return np.from_dlpack(cast("Any", x), copy=copy)


NAMESPACE = ArrayNamespace()


def _namespace(_x: ArrayLike, /, *, api_version: str | None = None) -> ArrayNamespace:
    if api_version not in (None, *VERSIONS):
        raise ArgumentError(
            f"{location()}api_version of the array API must be one of {', '.join(VERSIONS)}; got {shown(api_version)}."
        )
    return NAMESPACE


def _to_device(x: ArrayLike, device: str, /, *, stream: None = None) -> Any:  # noqa: ARG001
    """Return the array itself: there is one device."""
    _check_device(device)
    return x


def _check_device(device: str | None) -> None:
    if device not in (None, "cpu"):
        raise ArgumentError(f"{location()}device must be 'cpu', where traced functions run; got {shown(device)}.")


_METHODS = {"__array_namespace__": _namespace, "to_device": _to_device}
METHODS.update(_METHODS)
COMPLEX.update(_METHODS)
