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
  static constexpr bool kShares = W > 4 && R % (W / 4) == 0;  // whether rows of four columns can share a packet

  BURLAB_NOINLINE BURLAB_WIDE void multiply(const Factors<T>& factors, Int rows, Int columns) const {
    Factors<T> f = factors;
    const Blocks<R> blocks(rows, f.a_row);
    const First<T, W> last(columns);
    Int b_columns[W];
    if (b_column != 1) place_rows(b_columns, columns, b_column);
    if constexpr (kShares) {
      using Fours = Shared<T, W, R, 4, false, false>;
      using Columns = Shared<T, W, R, 4, true, false>;
      using Eights = Shared<T, W, R, 8, false, true>;
      if (Fours::fit(f, rows, columns, b_column)) return all<Fours>(f, blocks, rows, b_columns);
      if (Columns::fit(f, rows, columns, b_column)) return all<Columns>(f, blocks, rows, b_columns);
      if constexpr (W == 16) {
        if (Eights::fit(f, rows, columns, b_column)) return all<Eights>(f, blocks, rows, b_columns);
      }
    }
    BURLAB_ONE_BY_ONE
    for (Int at = 0; at < count; ++at, f.a += a_next, f.c += c_next) {
      f.b = factors.b + at * b_next;
      if (b_column != 1) {
        turn<T, W>(panel, W, f.b, b_columns, factors.b_depth, f.depth);
        f.b = panel;
        f.b_depth = W;
      }
      multiply_rows<T, W, R, 1, false>(f, blocks, rows, last);
    }
  }

 private:
  template <class Kind>
  BURLAB_INLINE void all(const Factors<T>& first, const Blocks<R>& blocks, Int rows, const Int* b_columns) const {
    Factors<T> some = first;
    BURLAB_ONE_BY_ONE
    for (Int at = 0; at < count; ++at, some.a += a_next, some.b += b_next, some.c += c_next) {
      Factors<T> f = some;
      BURLAB_ONE_BY_ONE
      for (Int left = rows; left > 0; left -= R, f.a += R * f.a_row, f.c += R * f.c_row)
        Kind::multiply(f, left < R ? blocks.last : blocks.whole, left, b_columns);
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
