#pragma once
// Products with four or eight columns: several rows of c share a packet, because a packet for each row would be mostly
// empty.
#include "tile.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// R rows of c by C columns, W / C rows in a packet. Columns: whether a is contiguous along its rows instead of along
/// k. Transposed: whether b is contiguous along k. An operand that is contiguous along k is read in steps of four.
template <class T, int W, int R, int C, bool Columns, bool Transposed> struct SharedPackets {
  static constexpr int kRows = W / C, kPackets = R / kRows;
  static constexpr auto kLanes = std::make_integer_sequence<int, W>();

  static BURLAB_INLINE bool fit(const Factors<T>& f, Int rows, Int columns, Int b_column) {
    const bool a = Columns ? f.a_row == 1 : f.a_depth == 1 && f.depth % 4 == 0;
    return a && rows >= R && columns == C &&
           (Transposed ? f.b_depth == 1 && f.depth % 4 == 0 && b_column != 1 : b_column == 1);
  }

  /// All R rows. a_rows, c_rows: the starts of the rows of a and of c; b_columns: the starts of the columns of b.
  static BURLAB_INLINE void multiply(const Factors<T>& f, const Int (&a_rows)[R], const Int (&c_rows)[R],
                                     const Int* b_columns) {
    Packet<T, W> sums[kPackets] = {};
    if (f.adds) {
      BURLAB_UNROLL
      for (int q = 0; q < kPackets; ++q) read(sums[q], f.c, c_rows + q * kRows);
    }
    const T *a = f.a, *b = f.b;
    if constexpr (Columns) {
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < f.depth; ++k, a += f.a_depth, b += f.b_depth) {
        Packet<T, R> column;
        Packet<T, W> row;
        load(column, a);
        repeat(row, b, kLanes);
        add_column(sums, column, row, kLanes);
      }
    } else {
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < f.depth; k += 4, a += 4, b += 4 * f.b_depth) {
        Packet<T, 4 * kRows> x[kPackets];
        Packet<T, W> y[4 * C / W];
        BURLAB_UNROLL
        for (int q = 0; q < kPackets; ++q) {
          load_fours<T, 4 * kRows, 1>(x[q], a, a_rows + q * kRows);
          BURLAB_OPAQUE(x[q]);
        }
        if constexpr (Transposed) {
          BURLAB_UNROLL
          for (int q = 0; q < 4 * C / W; ++q) {
            load_fours<T, W, 1>(y[q], b, b_columns + q * W / 4);
            BURLAB_OPAQUE(y[q]);
          }
        }
        add<0>(sums, x, y, b, kLanes);
        add<1>(sums, x, y, b + f.b_depth, kLanes);
        add<2>(sums, x, y, b + 2 * f.b_depth, kLanes);
        add<3>(sums, x, y, b + 3 * f.b_depth, kLanes);
      }
    }
    write(sums, f.c, c_rows, std::make_integer_sequence<int, R>());
  }

 private:
  static BURLAB_INLINE void read(Packet<T, W>& sum, const T* c, const Int* rows) {
    if constexpr (C == 4) {
      load_fours<T, W, 1>(sum, c, rows);
    } else {
      Packet<T, C> low, high;
      load(low, c + rows[0]);
      load(high, c + rows[1]);
      sum = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    }
  }

  template <int... Row> static BURLAB_INLINE void write(const Packet<T, W> (&sums)[kPackets], T* c,
                                                        const Int (&rows)[R], std::integer_sequence<int, Row...>) {
    (write_row<Row>(sums, c + rows[Row], std::make_integer_sequence<int, C>()), ...);
  }

  template <int Row, int... Lane>
  static BURLAB_INLINE void write_row(const Packet<T, W> (&sums)[kPackets], T* c, std::integer_sequence<int, Lane...>) {
    const Packet<T, W>& x = sums[Row / kRows];
    const Packet<T, C> numbers = __builtin_shufflevector(x, x, (Row % kRows * C + Lane)...);
    store(c, numbers);
  }

  template <int... Lane>
  static BURLAB_INLINE void repeat(Packet<T, W>& row, const T* b, std::integer_sequence<int, Lane...>) {
    Packet<T, C> some;
    load(some, b);
    row = __builtin_shufflevector(some, some, (Lane % C)...);
  }

  template <int... Lane>
  static BURLAB_INLINE void add_column(Packet<T, W> (&sums)[kPackets], const Packet<T, R>& column,
                                       const Packet<T, W>& row, std::integer_sequence<int, Lane...>) {
    add_product<false>(sums[0], __builtin_shufflevector(column, column, (Lane / C)...), row);
    if constexpr (kPackets > 1)
      add_product<false>(sums[1], __builtin_shufflevector(column, column, (kRows + Lane / C)...), row);
    if constexpr (kPackets > 2) {
      add_product<false>(sums[2], __builtin_shufflevector(column, column, (2 * kRows + Lane / C)...), row);
      add_product<false>(sums[3], __builtin_shufflevector(column, column, (3 * kRows + Lane / C)...), row);
    }
  }

  /// Each row's number of this k times the numbers of b.
  template <int K, int... Lane>
  static BURLAB_INLINE void add(Packet<T, W> (&sums)[kPackets], const Packet<T, 4 * kRows> (&x)[kPackets],
                                const Packet<T, W> (&y)[4 * C / W], const T* b, std::integer_sequence<int, Lane...>) {
    Packet<T, W> row;
    if constexpr (Transposed) row = __builtin_shufflevector(y[0], y[4 * C / W - 1], (Lane % C * 4 + K)...);
    else repeat(row, b, std::integer_sequence<int, Lane...>());
    BURLAB_UNROLL
    for (int q = 0; q < kPackets; ++q)
      add_product<false>(sums[q], __builtin_shufflevector(x[q], x[q], (Lane / C * 4 + K)...), row);
  }
};

}  // namespace burlab::kernels
BURLAB_END
