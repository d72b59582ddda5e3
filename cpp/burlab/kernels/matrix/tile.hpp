#pragma once
// The innermost blocks of matrix products: a few rows of c by a few packets, held in registers while k runs.
#include "../../numbers/first.hpp"
#include "pack.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// c[i, j] = sum over k of a[i, k] * b[k, j]; steps in elements from one i or k to the next, along j they are 1.
template <class T> struct Factors {
  const T* a;
  Int a_row, a_depth;
  const T* b;
  Int b_depth;
  T* c;
  Int c_row;
  Int depth;
  bool adds;  // to the contents of c
};

template <class P, class T> BURLAB_INLINE void add_multiple(P& sum, const T& factor, const P& packet) {
  BURLAB_FUSED
  sum = sum + factor * packet;
}

/// `rows` <= R rows by P packets of W numbers, of which the last has `columns` where it is not `Full`. Missing rows are
/// computed as copies of the last and not stored. a_rows: where the rows of a begin.
template <class T, int W, int R, int P, bool Full>
BURLAB_INLINE void multiply_block(const Factors<T>& f, const Int (&a_rows)[R], Int rows, const First<T, W>& last) {
  const T *a = f.a, *b = f.b;
  const Int a_depth = f.a_depth, b_depth = f.b_depth, c_row = f.c_row;
  Packet<T, W> sums[R][P] = {};
  T* c = f.c;
  if (f.adds) {
    BURLAB_UNROLL
    for (int i = 0; i < R; ++i, c += i < rows ? c_row : 0) {
      BURLAB_UNROLL
      for (int j = 0; j < P; ++j) {
        if (Full || j + 1 < P) load(sums[i][j], c + j * W);
        else last.load(sums[i][j], c + j * W);
      }
    }
  }
  BURLAB_ONE_BY_ONE
  for (Int k = f.depth; k > 0; --k, a += a_depth, b += b_depth) {
    Packet<T, W> packets[P];
    if constexpr (Full && R > 2) BURLAB_PREFETCH(b + 8 * b_depth);
    BURLAB_UNROLL
    for (int j = 0; j < P; ++j) {
      if (Full || j + 1 < P) load(packets[j], b + j * W);
      else last.load(packets[j], b + j * W);
    }
    BURLAB_UNROLL
    for (int i = 0; i < R; ++i) {
      const T factor = a[a_rows[i]];
      BURLAB_UNROLL
      for (int j = 0; j < P; ++j) add_multiple(sums[i][j], factor, packets[j]);
    }
  }
  c = f.c;
  BURLAB_UNROLL
  for (int i = 0; i < R; ++i, c += c_row) {
    if (i >= rows) break;
    BURLAB_UNROLL
    for (int j = 0; j < P; ++j) {
      if (Full || j + 1 < P) store(c + j * W, sums[i][j]);
      else last.store(c + j * W, sums[i][j]);
    }
  }
}

/// The starts of the rows of a block: of a whole block, and of the last one.
template <int R> struct Blocks {
  Int whole[R], last[R];
  BURLAB_INLINE Blocks(Int rows, Int step) {
    place_rows(whole, R, step);
    place_rows(last, rows % R == 0 ? R : rows % R, step);
  }
};

/// All `rows` of c, R at a time, by P packets.
template <class T, int W, int R, int P, bool Full>
BURLAB_INLINE void multiply_rows(Factors<T> f, const Blocks<R>& blocks, Int rows, const First<T, W>& last) {
  for (; rows > 0; rows -= R, f.a += R * f.a_row, f.c += R * f.c_row)
    multiply_block<T, W, R, P, Full>(f, rows < R ? blocks.last : blocks.whole, rows, last);
}

/// The same for a single product.
template <class T, int W, int R, int P, bool Full>
BURLAB_NOINLINE BURLAB_WIDE void multiply_panel(const Factors<T>& f, Int rows, Int columns) {
  multiply_rows<T, W, R, P, Full>(f, Blocks<R>(rows, f.a_row), rows, First<T, W>(columns));
}

}  // namespace burlab::kernels
BURLAB_END
