#pragma once
// Triangular systems with several right-hand sides, solved in place.
#include "../../numbers/packet.hpp"
#include "lapack.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// A triangular matrix in memory: element (i, j) at i * row_step + j * column_step, one of which is 1.
template <class T> struct Triangle {
  const T* a;
  Int n, row_step, column_step;
  bool lower, unit;

  Triangle transposed() const { return {a, n, column_step, row_step, !lower, unit}; }
};

/// Column by column of the matrix, for one right-hand side.
template <class T> BURLAB_NOINLINE void substitute_columns(const Triangle<T>& t, T* x) {
  BURLAB_ONE_BY_ONE
  for (Int step = 0; step < t.n; ++step) {
    const Int j = t.lower ? step : t.n - 1 - step;
    const T* column = t.a + j * t.column_step;
    if (!t.unit) x[j] /= column[j];
    if (t.lower) subtract_multiple(x + j + 1, x[j], column + j + 1, t.n - j - 1);
    else subtract_multiple(x, x[j], column, j);
  }
}

/// Row by row of the matrix. x: n rows of k numbers, `step` apart.
template <class T> BURLAB_NOINLINE void substitute_rows(const Triangle<T>& t, T* x, Int k, Int step) {
  BURLAB_ONE_BY_ONE
  for (Int done = 0; done < t.n; ++done) {
    const Int i = t.lower ? done : t.n - 1 - done;
    const Int begin = t.lower ? 0 : i + 1, end = t.lower ? i : t.n;
    const T* row = t.a + i * t.row_step;
    T* y = x + i * step;
    if (k == 1 && step == 1 && t.column_step == 1) {
      *y -= dot(row + begin, x + begin, end - begin);
    } else {
      BURLAB_ONE_BY_ONE
      for (Int j = begin; j < end; ++j) subtract_multiple(y, row[j * t.column_step], x + j * step, k);
    }
    if (t.unit) continue;
    const T divisor = row[i * t.column_step];
    BURLAB_LANES
    for (Int c = 0; c < k; ++c) y[c] /= divisor;
  }
}

/// The same for M packets of N numbers of each row, which stay in registers until they are solved; with the same bits.
template <class T, int N, int M> BURLAB_NOINLINE BURLAB_WIDE void substitute_packets(const Triangle<T>& t, T* x,
                                                                                     Int step) {
  Packet<T, N> y[M], known;
  BURLAB_ONE_BY_ONE
  for (Int done = 0; done < t.n; ++done) {
    const Int i = t.lower ? done : t.n - 1 - done;
    const Int begin = t.lower ? 0 : i + 1, end = t.lower ? i : t.n;
    const T* row = t.a + i * t.row_step;
    BURLAB_UNROLL
    for (int m = 0; m < M; ++m) load(y[m], x + i * step + m * N);
    BURLAB_ONE_BY_ONE
    for (Int j = begin; j < end; ++j) {
      const T factor = row[j * t.column_step];
      BURLAB_UNROLL
      for (int m = 0; m < M; ++m) {
        load(known, x + j * step + m * N);
        y[m] -= factor * known;
      }
    }
    const T divisor = t.unit ? T(1) : row[i * t.column_step];
    BURLAB_UNROLL
    for (int m = 0; m < M; ++m) {
      if (!t.unit) y[m] /= divisor;
      store(x + i * step + m * N, y[m]);
    }
  }
}

/// The last numbers of the rows, k of `step`: in packets, up to three side by side, as each waits for its own sum; the
/// tail in lanes.
template <class T, int N> inline void substitute_last(const Triangle<T>& t, T* x, Int k, Int step) {
  if constexpr (N * sizeof(T) >= 16) {
    for (; k >= 3 * N && k / N != 4; k -= 3 * N) substitute_packets<T, N, 3>(t, x + step - k, step);
    for (; k >= 2 * N; k -= 2 * N) substitute_packets<T, N, 2>(t, x + step - k, step);
    if (k >= N) {
      substitute_packets<T, N, 1>(t, x + step - k, step);
      k -= N;
    }
    substitute_last<T, N / 2>(t, x, k, step);
  } else if (k > 0) {
    substitute_rows(t, x + step - k, k, step);
  }
}

/// Solves t X = B in place. x: n rows of k numbers.
template <class T> inline void substitute(const Triangle<T>& t, T* x, Int k) {
  if (t.n == 0 || k == 0) return;
  if (k > 1 && k <= kLargest && calls(lapack<T>().trsm, t.n, kMaxOwnTriangle)) {
    const bool by_columns = t.row_step == 1;  // X^T A^T = B^T, with X^T and B^T as stored
    char side = 'R', triangle = t.lower == by_columns ? 'L' : 'U', op = by_columns ? 'T' : 'N';
    char unit = t.unit ? 'U' : 'N';
    int rows = static_cast<int>(k), n = static_cast<int>(t.n);
    T one = 1;
    const OneBlasThread alone(t.n <= kMaxRowsOfOneThread);
    lapack<T>().trsm(&side, &triangle, &op, &unit, &rows, &n, &one, const_cast<T*>(t.a), &n, x, &rows);
  } else if (k == 1 && t.row_step == 1) {
    substitute_columns(t, x);
  } else {
    substitute_last<T, BURLAB_REGISTER / static_cast<int>(sizeof(T))>(t, x, k, k);
  }
}

/// Bits of the option.
enum TriangularOption : Int { kLower = 1, kTransposed = 2, kUnit = 4 };

/// Triangular matrices b and right-hand sides a; columns counts the latter. All arrays dense.
template <class T> struct SolveTriangular {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const*) noexcept {
    const auto [count, n, k, option] = matrices(d);
    T* x = static_cast<T*>(out);
    std::copy_n(static_cast<const T*>(a), count * n * k, x);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < count; ++i) {
      if (stop.after(n * n * k)) return Stopped;
      const T* matrix = static_cast<const T*>(b) + i * n * n;
      const Triangle<T> t{matrix, n, n, 1, (option & kLower) != 0, (option & kUnit) != 0};
      substitute((option & kTransposed) != 0 ? t.transposed() : t, x + i * n * k, k);
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
