#pragma once
// Eigenvalues and eigenvectors of matrices that need not be symmetric, by LAPACK's geev: Anderson et al., LAPACK Users'
// Guide, 3rd edition, section 2.3.4.2. Complex numbers are pairs.
#include <limits>

#include "eigh.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// geev for one type of numbers, and that for pairs of them (cgeev, zgeev).
template <class T>
using Geev = void (*)(char* left, char* right, int* n, T* a, int* step, T* real, T* imag, T* vl, int* vl_step, T* vr,
                      int* vr_step, T* work, int* size, int* info);
template <class T>
using ComplexGeev = void (*)(char* left, char* right, int* n, T* a, int* step, T* values, T* vl, int* vl_step, T* vr,
                             int* vr_step, T* work, int* size, T* rwork, int* info);

/// The eigenvalues of a matrix, each a pair; then, if the option is set, the matrix of pairs whose columns are its
/// eigenvectors, of norm 1 and real in their largest entry. nan where it holds inf or nan, or nothing converged. The
/// matrix holds real numbers, or pairs. The address of the routine comes last in the descriptor.
template <class T, bool pairs> struct Eig {
  static constexpr Int kParts = pairs ? 2 : 1;

  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const auto [count, n, columns, option] = matrices(d);
    const bool vectors = option != 0;
    const Int entries = kParts * n * n, each = 2 * n + (vectors ? 2 * n * n : 0), work_size = kParts * 36 * (n + 1);
    const Scratch<T> spare(2 * entries + 4 * n + work_size);
    if (spare.data == nullptr) return OutOfMemory;
    const OneBlasThread alone(n <= kMaxRowsOfOneThread);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < count; ++i) {
      if (stop.after(25 * n * n * n)) return Stopped;
      const T* from = static_cast<const T*>(a) + i * entries;
      T* to = static_cast<T*>(out) + i * each;
      const bool done = n <= kLargest && largest_size(from, entries) <= std::numeric_limits<T>::max() &&
                        factor(from, n, to, vectors ? to + 2 * n : nullptr, spare.data, work_size, d[4]);
      if (!done) std::fill_n(to, each, std::numeric_limits<T>::quiet_NaN());
    }
    return Ok;
  }

 private:
  /// Returns true if it converged. spare: two matrices, 4 n numbers, and the work of LAPACK.
  static bool factor(const T* from, Int n, T* values, T* vectors, T* spare, Int work_size, Int routine) {
    T *matrix = spare, *columns = matrix + kParts * n * n, *more = columns + kParts * n * n, *work = more + 4 * n;
    char none = 'N', job = vectors != nullptr ? 'V' : 'N';
    int size = static_cast<int>(n), lwork = static_cast<int>(work_size / kParts), info = 0, one = 1;
    int step = std::max(size, one);
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < n; ++i) BURLAB_ONE_BY_ONE
    for (Int j = 0; j < n; ++j) BURLAB_ONE_BY_ONE
    for (Int k = 0; k < kParts; ++k) matrix[(j * n + i) * kParts + k] = from[(i * n + j) * kParts + k];
    if constexpr (pairs) {
      reinterpret_cast<ComplexGeev<T>>(routine)(&none, &job, &size, matrix, &step, values, columns, &step, columns,
                                                &step, work, &lwork, more, &info);
    } else {
      reinterpret_cast<Geev<T>>(routine)(&none, &job, &size, matrix, &step, more, more + n, columns, &step, columns,
                                         &step, work, &lwork, &info);
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < n; ++i) {
        values[2 * i] = more[i];
        values[2 * i + 1] = more[n + i];
      }
    }
    if (vectors != nullptr) {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < n; ++j) write_column(columns, values, n, j, vectors);
    }
    return info == 0;
  }

  /// Writes eigenvector j. Of a real matrix two columns hold the real and the imaginary part of a vector, the next one
  /// is its conjugate.
  static void write_column(const T* columns, const T* values, Int n, Int j, T* vectors) {
    const T sign = pairs ? T(0) : values[2 * j + 1];
    const T* x = columns + kParts * n * (sign < 0 ? j - 1 : j);
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < n; ++i) {
      T* to = vectors + 2 * (i * n + j);
      to[0] = x[kParts * i];
      if constexpr (pairs) to[1] = x[2 * i + 1];
      else to[1] = sign == 0 ? T(0) : sign > 0 ? x[n + i] : -x[n + i];
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
