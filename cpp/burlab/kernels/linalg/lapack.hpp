#pragma once
// Routines of SciPy's LAPACK: `burlab/compiler/lowering/lower_linalg.py` writes their addresses here, once in a
// process. The loops of this folder are for small matrices, and for C++ programs that have no LAPACK.
//
// Fortran reads matrices by columns: a matrix by rows is the transposed matrix there.
#include <algorithm>
#include <cstring>

#include "../../blas_threads.hpp"
#include "../scratch.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Addresses of routines for one type of numbers, as documented by LAPACK. nullptr if there is none.
template <class T> struct Lapack {
  void (*getrf)(int* rows, int* columns, T* a, int* step, int* pivots, int* info);
  void (*potrf)(char* triangle, int* n, T* a, int* step, int* info);
  void (*trsm)(char* side, char* triangle, char* transposed, char* unit, int* rows, int* columns, T* factor, T* a,
               int* a_step, T* b, int* b_step);
  void (*gemm)(char* a_transposed, char* b_transposed, int* rows, int* columns, int* inner, T* factor, T* a,
               int* a_step, T* b, int* b_step, T* keep, T* c, int* c_step);
  void (*geqrf)(int* rows, int* columns, T* a, int* step, T* tau, T* work, int* size, int* info);
  void (*orgqr)(int* rows, int* columns, int* reflectors, T* a, int* step, T* tau, T* work, int* size, int* info);
  void (*syevd)(char* job, char* triangle, int* n, T* a, int* step, T* values, T* work, int* size, int* iwork,
                int* isize, int* info);
  void (*gesdd)(char* job, int* rows, int* columns, T* a, int* step, T* s, T* u, int* u_step, T* vt, int* vt_step,
                T* work, int* size, int* iwork, int* info);
};

// Variables, because a process has one copy of each, also if it loads cached code of another session.
inline Lapack<float> lapack_of_floats{};
inline Lapack<double> lapack_of_doubles{};

template <class T> BURLAB_INLINE const Lapack<T>& lapack() {
  if constexpr (sizeof(T) == sizeof(float)) return lapack_of_floats;
  else return lapack_of_doubles;
}

/// Rows of the matrices that are small enough for one thread: OpenBLAS wakes its threads for each call, and they then
/// wait in a busy loop, which costs the steps in between far more than the threads save.
inline constexpr Int kMaxRowsOfOneThread = 512;

/// Addresses in the order of the struct, first those for float32.
inline void connect_lapack(const void* const* addresses) noexcept {
  constexpr auto count = sizeof(Lapack<double>) / sizeof(void*);
  std::memcpy(&lapack_of_floats, addresses, sizeof(lapack_of_floats));
  std::memcpy(&lapack_of_doubles, addresses + count, sizeof(lapack_of_doubles));
}

// Largest numbers of rows for which our own loops are faster than LAPACK, measured with SciPy's OpenBLAS on AVX-512,
// AVX2 and plain x86-64, float32 and float64.
inline constexpr Int kMaxOwnLu = 64, kMaxOwnCholesky = 12, kMaxOwnQr = 48, kMaxOwnProduct = 8;
inline constexpr Int kMaxOwnTriangle = BURLAB_REGISTER > 16 ? 64 : 24;  // with several right-hand sides
inline constexpr Int kMaxOwnEigenvectors = 10, kMaxOwnEigenvalues = 6;  // by rotations
inline constexpr Int kMaxOwnSingularVectors = 12, kMaxOwnSingularValues = 8;
// Largest number of rows for which every product of sizes fits LAPACK's int.
inline constexpr Int kLargest = (1 << 15) - 1;

/// Return true if a routine is used for a matrix of this many rows or columns.
template <class Routine> BURLAB_INLINE bool calls(Routine routine, Int n, Int most_own) {
  return n > most_own && n <= kLargest && routine != nullptr;
}

/// Copies a matrix of `rows` rows and `columns` columns to its transpose.
template <class T> BURLAB_NOINLINE void copy_transposed(const T* a, Int rows, Int columns, T* to) {
  constexpr Int kBlock = 16;
  BURLAB_ONE_BY_ONE
  for (Int j = 0; j < columns; j += kBlock) {
    const Int end = std::min(j + kBlock, columns);
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < rows; ++i) BURLAB_ONE_BY_ONE
    for (Int k = j; k < end; ++k) to[k * rows + i] = a[i * columns + k];
  }
}

/// y -= factor * x. The two do not overlap.
template <class T> BURLAB_INLINE void subtract_multiple(T* y, T factor, const T* x, Int n) {
  BURLAB_LANES
  for (Int i = 0; i < n; ++i) y[i] -= factor * x[i];
}

/// The sum of x[i] * y[i], in four running sums.
template <class T> BURLAB_INLINE T dot(const T* x, const T* y, Int n) {
  T a = 0, b = 0, c = 0, d = 0;
  Int i = 0;
  BURLAB_ONE_BY_ONE
  for (; i + 4 <= n; i += 4) {
    a += x[i] * y[i];
    b += x[i + 1] * y[i + 1];
    c += x[i + 2] * y[i + 2];
    d += x[i + 3] * y[i + 3];
  }
  BURLAB_ONE_BY_ONE
  for (; i < n; ++i) a += x[i] * y[i];
  return (a + b) + (c + d);
}

/// Descriptor of the kernels of this folder: number of matrices, their rows, their columns, and an option of each
/// kernel.
struct Matrices {
  Int count, rows, columns, option;
};

BURLAB_INLINE Matrices matrices(const Int* d) { return {d[0], d[1], d[2], d[3]}; }

}  // namespace burlab::kernels
BURLAB_END
