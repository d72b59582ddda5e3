#pragma once
// Products with four columns: several rows of c share a packet, where one packet for each row would be mostly empty.
#include "tile.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// R rows of c by four columns, W / 4 rows in a packet; for a that is contiguous along k, in steps of four.
template <class T, int W, int R> struct Fours {
  static constexpr int kRows = W / 4, kPackets = R / kRows;

  static BURLAB_INLINE bool fit(const Factors<T>& f, Int columns) {
    return columns == 4 && f.a_depth == 1 && f.depth % 4 == 0;
  }

  /// a_rows: where the rows of a begin, of which `rows` count.
  static BURLAB_INLINE void multiply(const Factors<T>& f, const Int (&a_rows)[R], Int rows) {
    Packet<T, W> sums[kPackets] = {}, x[kPackets];
    if (f.adds) {
      Int c_rows[R];
      place_rows(c_rows, rows, f.c_row);
      load_rows(sums, f.c, c_rows);
    }
    const T* b = f.b;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < f.depth; k += 4, b += 4 * f.b_depth) {
      constexpr auto kLanes = std::make_integer_sequence<int, W>();
      load_rows(x, f.a + k, a_rows);
      add<0>(sums, x, b, kLanes);
      add<1>(sums, x, b + f.b_depth, kLanes);
      add<2>(sums, x, b + 2 * f.b_depth, kLanes);
      add<3>(sums, x, b + 3 * f.b_depth, kLanes);
    }
    T numbers[4 * R];
    BURLAB_UNROLL
    for (int q = 0; q < kPackets; ++q) store(numbers + q * W, sums[q]);
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < R && i < rows; ++i) std::memcpy(f.c + i * f.c_row, numbers + 4 * i, 4 * sizeof(T));
  }

 private:
  static BURLAB_INLINE void load_rows(Packet<T, W> (&x)[kPackets], const T* from, const Int (&rows)[R]) {
    BURLAB_UNROLL
    for (int q = 0; q < kPackets; ++q) load_fours<T, W, 1>(x[q], from, rows + q * kRows);
  }

  /// Each row's number of this k times the four numbers of b.
  template <int K, int... Lane>
  static BURLAB_INLINE void add(Packet<T, W> (&sums)[kPackets], const Packet<T, W> (&x)[kPackets], const T* b,
                                std::integer_sequence<int, Lane...>) {
    Packet<T, 4> four;
    load(four, b);
    const Packet<T, W> repeated = __builtin_shufflevector(four, four, (Lane % 4)...);
    BURLAB_UNROLL
    for (int q = 0; q < kPackets; ++q) {
      const Packet<T, W> factors = __builtin_shufflevector(x[q], x[q], (Lane / 4 * 4 + K)...);
      add_product<false>(sums[q], factors, repeated);
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
