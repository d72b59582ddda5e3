#pragma once
// Many small products of up to one packet of columns.
#include "fours.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// `count` products one after the other, a_next, b_next and c_next apart, with up to W columns. Unless b_column is 1, b
/// is turned into the panel first.
template <class T, int W, int R> struct Batch {
  Int count, a_next, b_next, c_next, b_column;
  T* panel;
  static constexpr bool kFours = W > 4 && R % (W / 4) == 0;

  BURLAB_NOINLINE BURLAB_WIDE void multiply(const Factors<T>& factors, Int rows, Int columns) const {
    Factors<T> f = factors;
    const Blocks<R> blocks(rows, f.a_row);
    const First<T, W> last(columns);
    Int b_columns[W];
    if (b_column != 1) place_rows(b_columns, columns, b_column);
    BURLAB_ONE_BY_ONE
    for (Int at = 0; at < count; ++at, f.a += a_next, f.c += c_next) {
      f.b = factors.b + at * b_next;
      if (b_column != 1) {
        turn<T, W>(panel, W, f.b, b_columns, factors.b_depth, f.depth);
        f.b = panel;
        f.b_depth = W;
      }
      if constexpr (kFours) {
        if (Fours<T, W, R>::fit(f, columns)) {
          multiply_fours(f, blocks, rows);
          continue;
        }
      }
      multiply_rows<T, W, R, 1, false>(f, blocks, rows, last);
    }
  }

 private:
  static BURLAB_INLINE void multiply_fours(Factors<T> f, const Blocks<R>& blocks, Int rows) {
    for (; rows > 0; rows -= R, f.a += R * f.a_row, f.c += R * f.c_row)
      Fours<T, W, R>::multiply(f, rows < R ? blocks.last : blocks.whole, rows);
  }
};

}  // namespace burlab::kernels
BURLAB_END
