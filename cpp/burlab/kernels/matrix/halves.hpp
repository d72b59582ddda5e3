#pragma once
// Products with one and a half packets of columns, such as 24 floats: two rows of c share a packet for the halves,
// because a packet for each would be half empty.
#include "tile.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// R rows of c by W + W / 2 columns, R even.
template <class T, int W, int R> struct Halves {
  static constexpr int H = W / 2;
  static constexpr auto kLanes = std::make_integer_sequence<int, W>();
  static constexpr auto kHalf = std::make_integer_sequence<int, H>();

  static BURLAB_NOINLINE BURLAB_WIDE void multiply(Factors<T> f, Int rows) {
    const Blocks<R> blocks(rows, f.a_row);
    BURLAB_ONE_BY_ONE
    for (; rows > 0; rows -= R, f.a += R * f.a_row, f.c += R * f.c_row)
      block(f, rows < R ? blocks.last : blocks.whole, rows);
  }

 private:
  /// Missing rows are computed as copies of the last and not stored.
  static BURLAB_INLINE void block(const Factors<T>& f, const Int (&a_rows)[R], Int rows) {
    Packet<T, W> whole[R] = {}, pairs[R / 2] = {}, x, y;
    if (f.adds) {
      Int c_rows[R];
      place_rows(c_rows, rows, f.c_row);
      BURLAB_UNROLL
      for (int i = 0; i < R; ++i) load(whole[i], f.c + c_rows[i]);
      BURLAB_UNROLL
      for (int i = 0; i < R; i += 2) load_halves(pairs[i / 2], f.c + c_rows[i] + W, f.c + c_rows[i + 1] + W, kLanes);
    }
    const T *a = f.a, *b = f.b;
    const Int a_depth = f.a_depth, b_depth = f.b_depth;
    BURLAB_ONE_BY_ONE
    for (Int k = f.depth; k > 0; --k, a += a_depth, b += b_depth) {
      load(x, b);
      load_halves(y, b + W, b + W, kLanes);
      BURLAB_UNROLL
      for (int i = 0; i < R; i += 2) {
        const Packet<T, W> first = a[a_rows[i]] - Packet<T, W>{}, second = a[a_rows[i + 1]] - Packet<T, W>{};
        add_product<false>(whole[i], first, x);
        add_product<false>(whole[i + 1], second, x);
        add_halves(pairs[i / 2], first, second, y, kLanes);
      }
    }
    T* c = f.c;
    BURLAB_UNROLL
    for (int i = 0; i < R; ++i, c += f.c_row) {
      if (i >= rows) break;
      store(c, whole[i]);
      if (i % 2 == 0) store_half<0>(c + W, pairs[i / 2], kHalf);
      else store_half<H>(c + W, pairs[i / 2], kHalf);
    }
  }

  template <int... Lane> static BURLAB_INLINE void load_halves(Packet<T, W>& x, const T* low, const T* high,
                                                               std::integer_sequence<int, Lane...>) {
    Packet<T, H> first, second;
    load(first, low);
    load(second, high);
    x = __builtin_shufflevector(first, second, Lane...);
  }

  template <int... Lane>
  static BURLAB_INLINE void add_halves(Packet<T, W>& sum, const Packet<T, W>& first, const Packet<T, W>& second,
                                       const Packet<T, W>& y, std::integer_sequence<int, Lane...>) {
    add_product<false>(sum, __builtin_shufflevector(first, second, (Lane < H ? Lane : Lane + W)...), y);
  }

  template <int From, int... Lane>
  static BURLAB_INLINE void store_half(T* to, const Packet<T, W>& x, std::integer_sequence<int, Lane...>) {
    const Packet<T, H> half = __builtin_shufflevector(x, x, (From + Lane)...);
    store(to, half);
  }
};

}  // namespace burlab::kernels
BURLAB_END
