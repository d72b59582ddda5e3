#pragma once
// Q R factors by Householder's reflections, with LAPACK's choice of signs.
#include <cmath>

#include "lapack.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Subtracts tau v (v' c) from a column c, where v begins with a 1 that is not stored.
template <class T> BURLAB_INLINE void reflect(T* c, const T* v, T tau, Int n) {
  const T weight = tau * (c[0] + dot(v + 1, c + 1, n - 1));
  c[0] -= weight;
  subtract_multiple(c + 1, weight, v + 1, n - 1);
}

/// Reflections that make a matrix stored by columns upper triangular; they are stored below the diagonal.
template <class T> BURLAB_NOINLINE void reflections(T* a, Int rows, Int columns, T* tau) {
  BURLAB_ONE_BY_ONE
  for (Int j = 0; j < std::min(rows, columns); ++j) {
    T* const v = a + j * rows + j;
    const Int n = rows - j;
    const T rest = std::sqrt(dot(v + 1, v + 1, n - 1));
    tau[j] = 0;
    if (rest == T(0)) continue;
    const T length = std::hypot(v[0], rest), beta = v[0] > 0 ? -length : length, first = v[0] - beta;
    tau[j] = -first / beta;
    BURLAB_LANES
    for (Int i = 1; i < n; ++i) v[i] /= first;
    v[0] = beta;
    BURLAB_ONE_BY_ONE
    for (Int c = j + 1; c < columns; ++c) reflect(a + c * rows + j, v, tau[j], n);
  }
}

/// Replaces reflections by their product, as a matrix of `columns` columns.
template <class T> BURLAB_NOINLINE void unfold(T* a, Int rows, Int columns, Int count, const T* tau) {
  BURLAB_ONE_BY_ONE
  for (Int c = count; c < columns; ++c) {
    std::fill_n(a + c * rows, rows, T(0));
    a[c * rows + c] = 1;
  }
  BURLAB_ONE_BY_ONE
  for (Int j = count; j-- > 0;) {
    T* const v = a + j * rows + j;
    const Int n = rows - j;
    BURLAB_ONE_BY_ONE
    for (Int c = j + 1; c < columns; ++c) reflect(a + c * rows + j, v, tau[j], n);
    BURLAB_LANES
    for (Int i = 1; i < n; ++i) v[i] *= -tau[j];
    v[0] = 1 - tau[j];
    std::fill_n(a + j * rows, j, T(0));
  }
}

/// Q by its rows, then R. The option: whether Q is square; else it has min(rows, columns) columns.
template <class T> struct Qr {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const auto [count, rows, columns, complete] = matrices(d);
    const Int k = std::min(rows, columns), width = complete != 0 ? rows : k;
    const Int most = std::max(columns, width), work_size = 64 * most, size = rows * columns;
    const bool large =
        calls(lapack<T>().geqrf, std::max(rows, columns), kMaxOwnQr) && lapack<T>().orgqr != nullptr && k > 0;
    const Scratch<T> spare(rows * most + k + work_size);
    if (spare.data == nullptr) return OutOfMemory;
    T *const f = spare.data, *const tau = f + rows * most, *const work = tau + k;
    const OneBlasThread alone(large && std::max(rows, columns) <= kMaxRowsOfOneThread);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < count; ++i) {
      if (stop.after(2 * size * k)) return Stopped;
      T *q = static_cast<T*>(out) + i * width * (rows + columns), *r = q + rows * width;
      copy_transposed(static_cast<const T*>(a) + i * size, rows, columns, f);
      int m = static_cast<int>(rows), n = static_cast<int>(columns), w = static_cast<int>(width);
      int reflectors = static_cast<int>(k), lwork = static_cast<int>(work_size), info = 0;
      if (large) lapack<T>().geqrf(&m, &n, f, &m, tau, work, &lwork, &info);
      else reflections(f, rows, columns, tau);
      std::fill_n(r, width * columns, T(0));
      BURLAB_ONE_BY_ONE
      for (Int c = 0; c < columns; ++c) {
        BURLAB_ONE_BY_ONE
        for (Int j = 0; j <= std::min(c, k - 1); ++j) r[j * columns + c] = f[c * rows + j];
      }
      if (large) lapack<T>().orgqr(&m, &w, &reflectors, f, &m, tau, work, &lwork, &info);
      else unfold(f, rows, width, k, tau);
      copy_transposed(f, width, rows, q);
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
