#pragma once
// Eigenvalues and eigenvectors of symmetric matrices. Small matrices use Jacobi's rotations: Golub and Van Loan, Matrix
// Computations, 4th edition, section 8.5.
#include <cmath>
#include <limits>

#include "lapack.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The rotation that makes an off-diagonal entry pq of a symmetric matrix zero.
template <class T> struct Rotation {
  T cosine, sine, tangent;

  /// From the entries pp, pq, qq.
  Rotation(T first, T mixed, T second) {
    const T ratio = (second - first) / (2 * mixed);
    tangent = T(1) / (std::abs(ratio) + std::sqrt(ratio * ratio + 1));
    if (ratio < 0) tangent = -tangent;
    cosine = 1 / std::sqrt(tangent * tangent + 1);
    sine = cosine * tangent;
  }

  /// x and y become c x - s y and s x + c y.
  BURLAB_INLINE void rotate(T* x, T* y, Int n) const {
    const T c = cosine, s = sine;
    BURLAB_LANES
    for (Int i = 0; i < n; ++i) {
      const T left = x[i], right = y[i];
      x[i] = c * left - s * right;
      y[i] = s * left + c * right;
    }
  }
};

/// The largest absolute value of n numbers; nan or inf if one of them is.
template <class T> inline T largest_size(const T* x, Int n) {
  T largest = 0;
  BURLAB_ONE_BY_ONE
  for (Int i = 0; i < n; ++i) {
    const T size = std::abs(x[i]);
    if (!(size <= largest)) largest = size;
    if (!(size <= std::numeric_limits<T>::max())) return size;
  }
  return largest;
}

inline constexpr int kSweeps = 60;  // of rotations; about ten are needed

/// Makes a symmetric matrix, given by both triangles, diagonal by rotations, and applies these to the rows of `vectors`
/// (n * n numbers, or nullptr).
template <class T> BURLAB_NOINLINE void diagonalize(T* a, Int n, T* vectors) {
  const T negligible = std::numeric_limits<T>::epsilon() * largest_size(a, n * n) / 8;
  bool rotated = true;
  BURLAB_ONE_BY_ONE
  for (int sweep = 0; sweep < kSweeps && rotated; ++sweep) {
    rotated = false;
    BURLAB_ONE_BY_ONE
    for (Int p = 0; p < n; ++p) {
      BURLAB_ONE_BY_ONE
      for (Int q = p + 1; q < n; ++q) {
        T *const x = a + p * n, *const y = a + q * n;
        const T pp = x[p], pq = x[q], qq = y[q];
        if (!(std::abs(pq) > negligible)) continue;
        rotated = true;
        const Rotation<T> rotation(pp, pq, qq);
        rotation.rotate(x, y, n);
        BURLAB_ONE_BY_ONE
        for (Int k = 0; k < n; ++k) {
          a[k * n + p] = x[k];
          a[k * n + q] = y[k];
        }
        x[p] = pp - rotation.tangent * pq;
        y[q] = qq + rotation.tangent * pq;
        x[q] = y[p] = 0;
        if (vectors != nullptr) rotation.rotate(vectors + p * n, vectors + q * n, n);
      }
    }
  }
}

/// Sorts values, largest or smallest first, and the rows of two matrices with them; each is nullptr if there is none.
template <bool descending, class T>
inline void order_values(T* values, Int n, T* left, Int left_size, T* right, Int right_size) {
  BURLAB_ONE_BY_ONE
  for (Int i = 0; i + 1 < n; ++i) {
    Int best = i;
    BURLAB_ONE_BY_ONE
    for (Int j = i + 1; j < n; ++j)
      if (descending ? values[j] > values[best] : values[j] < values[best]) best = j;
    if (best == i) continue;
    std::swap(values[i], values[best]);
    if (left != nullptr) std::swap_ranges(left + i * left_size, left + (i + 1) * left_size, left + best * left_size);
    if (right != nullptr)
      std::swap_ranges(right + i * right_size, right + (i + 1) * right_size, right + best * right_size);
  }
}

/// Eigenvalues of the matrix `a`, from its lower triangle; `a` is overwritten. `vectors`, if not nullptr, receives the
/// eigenvectors as rows.
template <class T> inline void eigh_by_rotations(T* a, Int n, T* values, T* vectors) {
  BURLAB_ONE_BY_ONE
  for (Int i = 0; i < n; ++i) {
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j < i; ++j) a[j * n + i] = a[i * n + j];
  }
  if (vectors != nullptr) {
    std::fill_n(vectors, n * n, T(0));
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < n; ++i) vectors[i * n + i] = 1;
  }
  diagonalize(a, n, vectors);
  BURLAB_ONE_BY_ONE
  for (Int i = 0; i < n; ++i) values[i] = a[i * n + i];
  order_values<false, T>(values, n, vectors, n, nullptr, 0);
}

/// The same by LAPACK, in place: the vectors replace the matrix. Returns true if it converged.
template <class T> inline bool eigh_by_lapack(T* a, Int n, T* values, bool vectors, T* work, Int work_size,
                                              int* iwork) {
  char job = vectors ? 'V' : 'N', triangle = 'U';  // a lower triangle by rows
  int size = static_cast<int>(n), lwork = static_cast<int>(work_size), liwork = static_cast<int>(5 * n + 3), info = 0;
  lapack<T>().syevd(&job, &triangle, &size, a, &size, values, work, &lwork, iwork, &liwork, &info);
  return info == 0;
}

/// The eigenvalues of a matrix from the lowest on; then, if the option is set, its eigenvectors, each a row.
template <class T> struct Eigh {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const auto [count, n, columns, option] = matrices(d);
    const bool vectors = option != 0,
               large = calls(lapack<T>().syevd, n, vectors ? kMaxOwnEigenvectors : kMaxOwnEigenvalues);
    const Int each = n + (vectors ? n * n : 0), work_size = large ? 2 * n * n + 40 * n + 1 : 0;
    const Scratch<T> spare(n * n + work_size);
    const Scratch<int> ints(5 * n + 3);
    if (spare.data == nullptr || ints.data == nullptr) return OutOfMemory;
    const OneBlasThread alone(large && n <= kMaxRowsOfOneThread);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < count; ++i) {
      if (stop.after(8 * n * n * n)) return Stopped;
      const T* from = static_cast<const T*>(a) + i * n * n;
      T *values = static_cast<T*>(out) + i * each, *to = vectors ? values + n : nullptr;
      bool done = largest_size(from, n * n) <= std::numeric_limits<T>::max();
      if (done && large) {
        T* place = vectors ? to : spare.data;
        std::copy_n(from, n * n, place);
        done = eigh_by_lapack(place, n, values, vectors, spare.data + n * n, work_size, ints.data);
      } else if (done) {
        std::copy_n(from, n * n, spare.data);
        eigh_by_rotations(spare.data, n, values, to);
      }
      if (!done) std::fill_n(values, each, std::numeric_limits<T>::quiet_NaN());
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
