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

  using Fours = Shared<T, W, R, 4, false, false>;
  using Columns = Shared<T, W, R, 4, true, false>;
  using Eights = Shared<T, W, R, W == 16 ? 8 : 4, false, true>;
  enum class Kind { General, Fours, Columns, Eights };

  BURLAB_NOINLINE BURLAB_WIDE void multiply(const Factors<T>& factors, Int rows, Int columns) const {
    const Blocks<R> blocks(rows, factors.a_row);
    const First<T, W> last(columns);
    const Kind kind = kind_of(factors, rows, columns);
    Int b_columns[W];
    if (b_column != 1) place_rows(b_columns, columns, b_column);
    BURLAB_ONE_BY_ONE
    for (Int at = 0; at < count; ++at) {
      Factors<T> f = factors;
      f.a += at * a_next;
      f.b += at * b_next;
      f.c += at * c_next;
      Int left = rows;
      if constexpr (kShares) {
        if (kind == Kind::Fours) blocks_of<Fours>(f, left, blocks, b_columns);
        else if (kind == Kind::Columns) blocks_of<Columns>(f, left, blocks, b_columns);
        else if (kind == Kind::Eights) blocks_of<Eights>(f, left, blocks, b_columns);
      }
      if (left == 0) continue;
      if (b_column != 1) {
        turn<T, W>(panel, W, f.b, b_columns, f.b_depth, f.depth);
        f.b = panel;
        f.b_depth = W;
      }
      multiply_rows<T, W, R, 1, false>(f, blocks, left, last);
    }
  }

 private:
  BURLAB_INLINE Kind kind_of(const Factors<T>& f, Int rows, Int columns) const {
    if constexpr (kShares) {
      if (Fours::fit(f, rows, columns, b_column)) return Kind::Fours;
      if (Columns::fit(f, rows, columns, b_column)) return Kind::Columns;
      if (Eights::fit(f, rows, columns, b_column)) return Kind::Eights;
    }
    return Kind::General;
  }

  /// As many whole blocks as there are.
  template <class Some>
  static BURLAB_INLINE void blocks_of(Factors<T>& f, Int& left, const Blocks<R>& blocks, const Int* b_columns) {
    BURLAB_ONE_BY_ONE
    for (; left >= R; left -= R, f.a += R * f.a_row, f.c += R * f.c_row) Some::multiply(f, blocks.whole, b_columns);
  }
};

}  // namespace burlab::kernels
BURLAB_END
