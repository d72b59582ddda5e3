#pragma once
// Singular values and vectors. Small matrices use one-sided rotations: Hestenes 1958; Demmel and Veselic 1992,
// "Jacobi's method is more accurate than QR".
#include "eigh.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Outputs besides the singular values: none, as many vectors as values, or bases of both spaces.
enum SvdOption : Int { kValues = 0, kReduced = 1, kFull = 2 };

/// Makes rows first to last of `w`, of n numbers each, orthonormal to those before them, and to each other.
template <class T> BURLAB_NOINLINE void complete(T* w, Int first, Int last, Int n) {
  BURLAB_ONE_BY_ONE
  for (Int i = first; i < last; ++i) {
    Int axis = 0;  // the one with the least part in the rows so far
    T known = std::numeric_limits<T>::infinity();
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j < n; ++j) {
      T size = 0;
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < i; ++k) size += w[k * n + j] * w[k * n + j];
      if (size < known) known = size, axis = j;
    }
    T* const row = w + i * n;
    std::fill_n(row, n, T(0));
    row[axis] = 1;
    BURLAB_ONE_BY_ONE
    for (int pass = 0; pass < 2; ++pass) {
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < i; ++k) subtract_multiple(row, dot(row, w + k * n, n), w + k * n, n);
    }
    const T length = std::sqrt(dot(row, row, n));
    BURLAB_LANES
    for (Int j = 0; j < n; ++j) row[j] /= length;
  }
}

/// Rotates k rows of n numbers until they are orthogonal to each other, and the rows of x (k * k, or nullptr) with
/// them.
template <class T> BURLAB_NOINLINE void orthogonalize(T* w, Int k, Int n, T* x) {
  const T negligible = std::numeric_limits<T>::epsilon() * std::sqrt(static_cast<T>(n));
  bool rotated = true;
  BURLAB_ONE_BY_ONE
  for (int sweep = 0; sweep < kSweeps && rotated; ++sweep) {
    rotated = false;
    BURLAB_ONE_BY_ONE
    for (Int p = 0; p < k; ++p) {
      BURLAB_ONE_BY_ONE
      for (Int q = p + 1; q < k; ++q) {
        T *const first = w + p * n, *const second = w + q * n;
        const T pp = dot(first, first, n), pq = dot(first, second, n), qq = dot(second, second, n);
        if (!(std::abs(pq) > negligible * std::sqrt(pp) * std::sqrt(qq))) continue;
        rotated = true;
        const Rotation<T> rotation(pp, pq, qq);
        rotation.rotate(first, second, n);
        if (x != nullptr) rotation.rotate(x + p * k, x + q * k, k);
      }
    }
  }
}

/// Memory of `svd_by_rotations`.
inline Int svd_scratch(Int rows, Int columns, Int option) {
  const Int k = std::min(rows, columns), n = std::max(rows, columns);
  return (option == kFull ? n : k) * n + k * k;
}

/// The singular values of a matrix of finite numbers, and its singular vectors if requested: u by its rows, vt.
template <class T>
BURLAB_NOINLINE void svd_by_rotations(const T* a, Int rows, Int columns, Int option, T scale, T* s, T* u, T* vt, T* w) {
  const bool tall = rows > columns;
  const Int k = std::min(rows, columns), n = std::max(rows, columns), all = option == kFull ? n : k;
  T* const x = option == kValues ? nullptr : w + all * n;
  if (tall) copy_transposed(a, rows, columns, w);
  else std::copy_n(a, k * n, w);
  if (scale == T(0)) scale = 1;
  BURLAB_LANES
  for (Int i = 0; i < k * n; ++i) w[i] /= scale;  // so that no square overflows
  if (x != nullptr) {
    std::fill_n(x, k * k, T(0));
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < k; ++i) x[i * k + i] = 1;
  }
  orthogonalize(w, k, n, x);
  BURLAB_ONE_BY_ONE
  for (Int i = 0; i < k; ++i) s[i] = std::sqrt(dot(w + i * n, w + i * n, n));
  order_values<true, T>(s, k, w, n, x, k);
  Int rank = 0;
  BURLAB_ONE_BY_ONE
  for (; rank < k && s[rank] > static_cast<T>(n) * std::numeric_limits<T>::min(); ++rank) {
    BURLAB_LANES
    for (Int j = 0; j < n; ++j) w[rank * n + j] /= s[rank];
  }
  BURLAB_LANES
  for (Int i = 0; i < k; ++i) s[i] *= scale;
  if (x == nullptr) return;
  complete(w, rank, all, n);
  if (tall) {
    copy_transposed(w, all, rows, u);
    std::copy_n(x, k * k, vt);
  } else {
    copy_transposed(x, k, k, u);
    std::copy_n(w, all * n, vt);
  }
}

/// The same by LAPACK, which sees the transposed matrix. `copy` is overwritten. Returns true if it converged. With copy
/// = nullptr it writes the optimal size of `work` to work[0].
template <class T>
inline bool svd_by_lapack(T* copy, Int rows, Int columns, Int option, T* s, T* u, T* vt, T* work, Int work_size,
                          int* iwork) {
  char job = option == kFull ? 'A' : option == kReduced ? 'S' : 'N';
  const Int k = std::min(rows, columns);
  int m = static_cast<int>(columns), n = static_cast<int>(rows), info = 0, lwork = static_cast<int>(work_size);
  int u_step = m, vt_step = static_cast<int>(option == kFull ? rows : k);
  const OneBlasThread alone(std::max(m, n) <= kMaxRowsOfOneThread);
  lapack<T>().gesdd(&job, &m, &n, copy, &m, s, vt, &u_step, u, &vt_step, work, &lwork, iwork, &info);
  return info == 0;
}

/// Singular values, the largest first; then, depending on the option, the left singular vectors as columns and the
/// right ones as rows.
template <class T> struct Svd {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const auto [count, rows, columns, option] = matrices(d);
    const Int k = std::min(rows, columns), size = rows * columns;
    const Int lefts = option == kValues ? 0 : rows * (option == kFull ? rows : k);
    const Int rights = option == kValues ? 0 : columns * (option == kFull ? columns : k);
    const Int small = option == kValues ? kMaxOwnSingularValues : kMaxOwnSingularVectors;
    const bool large = calls(lapack<T>().gesdd, std::max(rows, columns), small) && k > 0;
    Int work_size = 0;
    if (large) {
      T best[2] = {0, 0};
      svd_by_lapack<T>(nullptr, rows, columns, option, nullptr, nullptr, nullptr, best, -1, nullptr);
      work_size = std::max(static_cast<Int>(best[0] * T(1.01)), 4 * k * k + 8 * k + std::max(rows, columns));
    }
    const Scratch<T> spare(large ? size + work_size : svd_scratch(rows, columns, option));
    const Scratch<int> ints(large ? 8 * k : 0);
    if (spare.data == nullptr || ints.data == nullptr) return OutOfMemory;
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < count; ++i) {
      if (stop.after(16 * size * k)) return Stopped;
      const T* from = static_cast<const T*>(a) + i * size;
      T *s = static_cast<T*>(out) + i * (k + lefts + rights), *u = s + k, *vt = u + lefts;
      const T scale = largest_size(from, size);
      bool done = scale <= std::numeric_limits<T>::max();
      if (done && large) {
        std::copy_n(from, size, spare.data);
        done = svd_by_lapack(spare.data, rows, columns, option, s, u, vt, spare.data + size, work_size, ints.data);
      } else if (done) {
        svd_by_rotations(from, rows, columns, option, scale, s, u, vt, spare.data);
      }
      if (!done) std::fill_n(s, k + lefts + rights, std::numeric_limits<T>::quiet_NaN());
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
