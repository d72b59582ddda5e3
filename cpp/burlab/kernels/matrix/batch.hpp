#pragma once
// Many small products of up to one packet of columns.
#include "fours.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// `count` products in sequence, a_next, b_next and c_next apart, with up to W columns. Unless b_column is 1, b is
/// packed into the panel first.
template <class T, int W, int R> struct Batch {
  Int count, a_next, b_next, c_next, b_column;
  T* panel;
  static constexpr bool kShares = W > 4 && R % (W / 4) == 0;  // whether rows of four columns can share a packet

  using Fours = SharedPackets<T, W, R, 4, false, false>;
  using Columns = SharedPackets<T, W, R, 4, true, false>;
  using Eights = SharedPackets<T, W, R, W == 16 ? 8 : 4, false, true>;
  enum class Kind { General, Fours, Columns, Eights };

  BURLAB_NOINLINE BURLAB_WIDE void multiply(const Factors<T>& factors, Int rows, Int columns) const {
    const Blocks<R> blocks(rows, factors.a_row);
    const First<T, W> last(columns);
    const Kind kind = kind_of(factors, rows, columns);
    Int b_columns[W] = {};
    if (b_column != 1) place_rows(b_columns, columns, b_column);
    Int done = 0;
    if constexpr (kShares) {
      done = kind == Kind::General ? 0 : rows / R * R;
      if (kind == Kind::Fours) blocks_of<Fours>(factors, done, b_columns);
      else if (kind == Kind::Columns) blocks_of<Columns>(factors, done, b_columns);
      else if (kind == Kind::Eights) blocks_of<Eights>(factors, done, b_columns);
      if (done == rows) return;
    }
    Factors<T> f = factors;
    BURLAB_ONE_BY_ONE
    for (Int at = 0; at < count; ++at) {
      f.a = factors.a + at * a_next + done * f.a_row;
      f.b = factors.b + at * b_next;
      f.c = factors.c + at * c_next + done * f.c_row;
      if (b_column != 1) {
        pack_columns<T, W>(panel, W, f.b, b_columns, factors.b_depth, f.depth);
        f.b = panel;
        f.b_depth = W;
      }
      multiply_rows<T, W, R, 1, false>(f, blocks, rows - done, last);
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

  /// The first `rows` of each product, in whole blocks.
  template <class Shared>
  BURLAB_NOINLINE BURLAB_WIDE void blocks_of(const Factors<T>& factors, Int rows, const Int* b_columns) const {
    const Int a_step = a_next, b_step = b_next, c_step = c_next;
    Int a_rows[R], c_rows[R], b_places[W];
    place_rows(a_rows, R, factors.a_row);
    place_rows(c_rows, R, factors.c_row);
    if (b_column != 1) std::memcpy(b_places, b_columns, sizeof(b_places));
    Factors<T> some = factors;
    BURLAB_ONE_BY_ONE
    for (Int left = count; left > 0; --left, some.a += a_step, some.b += b_step, some.c += c_step) {
      Factors<T> f = some;
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < rows; i += R, f.a += R * f.a_row, f.c += R * f.c_row)
        Shared::multiply(f, a_rows, c_rows, b_places);
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
