#pragma once
// Factors of square matrices, P A = L U by partial pivoting, and the solution of linear systems with them.
//
// The factors of one matrix: n * n numbers, L below the diagonal and U on and above it, by columns; then n numbers, the
// row with which row k was exchanged in step k.
#include <cmath>

#include "triangular.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Factors a matrix stored by columns, in place. A pivot of 0 stays.
template <class T> BURLAB_NOINLINE void eliminate(T* f, Int n, T* pivots) {
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < n; ++k) {
    T* const column = f + k * n;
    Int best = k;
    BURLAB_ONE_BY_ONE
    for (Int i = k + 1; i < n; ++i)
      if (std::abs(column[i]) > std::abs(column[best])) best = i;
    pivots[k] = static_cast<T>(best);
    if (best != k) {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < n; ++j) std::swap(f[j * n + k], f[j * n + best]);
    }
    const T pivot = column[k];
    if (pivot == T(0)) continue;
    BURLAB_LANES
    for (Int i = k + 1; i < n; ++i) column[i] /= pivot;
    BURLAB_ONE_BY_ONE
    for (Int j = k + 1; j < n; ++j) subtract_multiple(f + j * n + k + 1, f[j * n + k], column + k + 1, n - k - 1);
  }
}

/// The same by LAPACK, which writes its pivots as ints, counted from 1, to the place of ours.
template <class T> inline void eliminate_by_lapack(T* f, Int n, T* pivots) {
  int size = static_cast<int>(n), info = 0;
  const OneBlasThread alone(size <= kMaxRowsOfOneThread);
  lapack<T>().getrf(&size, &size, f, &size, reinterpret_cast<int*>(pivots), &info);
  const char* numbers = reinterpret_cast<const char*>(pivots);
  BURLAB_ONE_BY_ONE
  for (Int k = n; k-- > 0;) {  // from the end: a double takes the place of two ints
    int pivot = 0;
    std::memcpy(&pivot, numbers + k * static_cast<Int>(sizeof(int)), sizeof(int));
    pivots[k] = static_cast<T>(pivot - 1);
  }
}

/// Factors of square matrices.
template <class T> struct Lu {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int count = d[0], n = d[1];
    const bool large = calls(lapack<T>().getrf, n, kMaxOwnLu);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < count; ++i) {
      if (stop.after(n * n * n)) return Stopped;
      T* f = static_cast<T*>(out) + i * (n * n + n);
      copy_transposed(static_cast<const T*>(a) + i * n * n, n, n, f);
      (large ? &eliminate_by_lapack<T> : &eliminate<T>)(f, n, f + n * n);
    }
    return Ok;
  }
};

/// Solves A X = B, or A' X = B, in place. x: n rows of k numbers.
template <class T> inline void solve_by_factors(const T* f, Int n, T* x, Int k, bool transposed) {
  const Triangle<T> l{f, n, 1, n, true, true}, u{f, n, 1, n, false, false};
  const T* pivots = f + n * n;
  const auto exchange = [&](Int row) {
    const Int other = static_cast<Int>(pivots[row]);
    if (other != row) std::swap_ranges(x + row * k, x + row * k + k, x + other * k);
  };
  if (transposed) {
    substitute(u.transposed(), x, k);
    substitute(l.transposed(), x, k);
    BURLAB_ONE_BY_ONE
    for (Int row = n; row-- > 0;) exchange(row);
  } else {
    BURLAB_ONE_BY_ONE
    for (Int row = 0; row < n; ++row) exchange(row);
    substitute(l, x, k);
    substitute(u, x, k);
  }
}

/// Right-hand sides a and factors b; `columns` counts the former; the option: whether the matrices are transposed.
template <class T> struct LuSolve {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const*) noexcept {
    const auto [count, n, k, transposed] = matrices(d);
    T* x = static_cast<T*>(out);
    std::copy_n(static_cast<const T*>(a), count * n * k, x);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < count; ++i) {
      if (stop.after(n * n * k)) return Stopped;
      solve_by_factors(static_cast<const T*>(b) + i * (n * n + n), n, x + i * n * k, k, transposed != 0);
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
