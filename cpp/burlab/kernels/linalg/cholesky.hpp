#pragma once
// The Cholesky factor of symmetric positive definite matrices.
#include <cmath>
#include <limits>

#include "lapack.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Factors a matrix in place; only its lower triangle is read. Returns true if it was positive definite.
template <class T> BURLAB_NOINLINE bool cholesky_rows(T* a, Int n) {
  BURLAB_ONE_BY_ONE
  for (Int i = 0; i < n; ++i) {
    T* const row = a + i * n;
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j < i; ++j) row[j] = (row[j] - dot(row, a + j * n, j)) / a[j * n + j];
    const T pivot = row[i] - dot(row, row, i);
    if (!(pivot > T(0))) return false;
    row[i] = std::sqrt(pivot);
  }
  return true;
}

/// The same by LAPACK, which sees a lower triangle by rows as an upper one.
template <class T> inline bool cholesky_by_lapack(T* a, Int n) {
  char triangle = 'U';
  int size = static_cast<int>(n), info = 0;
  lapack<T>().potrf(&triangle, &size, a, &size, &info);
  return info == 0;
}

/// Lower factors L with A = L L'. All nan if a matrix is not positive definite.
template <class T> struct Cholesky {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int count = d[0], n = d[1];
    const bool large = calls(lapack<T>().potrf, n, kMaxOwnCholesky);
    const OneBlasThread alone(large && n <= kMaxRowsOfOneThread);
    T* y = static_cast<T*>(out);
    std::copy_n(static_cast<const T*>(a), count * n * n, y);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < count; ++i, y += n * n) {
      if (stop.after(n * n * n)) return Stopped;
      if (!(large ? &cholesky_by_lapack<T> : &cholesky_rows<T>)(y, n))
        std::fill_n(y, n * n, std::numeric_limits<T>::quiet_NaN());
      BURLAB_ONE_BY_ONE
      for (Int row = 0; row < n; ++row) std::fill(y + row * n + row + 1, y + row * n + n, T(0));
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
