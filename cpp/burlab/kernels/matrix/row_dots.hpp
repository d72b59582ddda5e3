#pragma once
// A vector times the transpose of a matrix whose rows are contiguous: the tuned version of `Contract` for short sums in
// order, which packs nothing: a packet holds one number each of several rows.
#include "contraction.hpp"
#include "tile.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Packets x[s] that hold, in each 16 bytes, S numbers of one row: x[k] becomes the numbers k of all rows, in order.
template <int S, class P, int... Lane> BURLAB_INLINE void transpose_blocks(P (&x)[S],
                                                                           std::integer_sequence<int, Lane...> lanes) {
  if constexpr (S == 4) {
    transpose(x, lanes);
  } else {
    constexpr int kWidth = sizeof...(Lane);
    const P first = __builtin_shufflevector(x[0], x[1], (Lane / 2 * 2 + Lane % 2 * kWidth)...);
    x[1] = __builtin_shufflevector(x[0], x[1], (Lane / 2 * 2 + 1 + Lane % 2 * kWidth)...);
    x[0] = first;
  }
}

/// c[j] = the sum of a[k] * b[j, k], k in order. Bytes: of a register; Groups: packets of rows at once, because each
/// addition waits for the one before.
template <class T, int Bytes, int Groups> struct RowDots {
  static constexpr int W = Bytes / static_cast<int>(sizeof(T));
  static constexpr int S = 16 / static_cast<int>(sizeof(T));  // numbers of a row that are read together

  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    return walk(d, d.rank, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
                [&](const T* a, const T* b, T* c, bool adds, StopCheck& stop) {
                  const Factors<T> f{b, d.b_n, 1, a, d.a_k, c, 1, d.k, adds};
                  all_rows(f, d.n, stop);
                });
  }

 private:
  /// f.a: the matrix; f.b: the vector.
  static BURLAB_INLINE void all_rows(Factors<T> f, Int rows, StopCheck& stop) {
    constexpr Int kBlock = Groups * W;
    BURLAB_ONE_BY_ONE
    for (; rows >= kBlock; rows -= kBlock, f.a += kBlock * f.a_row, f.c += kBlock) {
      if (stop.after(kBlock * f.depth)) return;
      block<Groups>(f, W);
    }
    BURLAB_ONE_BY_ONE
    for (; rows > 0; rows -= W, f.a += W * f.a_row, f.c += W) {
      if (stop.after(W * f.depth)) return;
      block<1>(f, rows < W ? rows : W);
    }
  }

  /// G packets of rows, of which the last holds `rows`; missing ones are computed as copies of the last.
  template <int G> static BURLAB_INLINE void block(const Factors<T>& f, Int rows) {
    constexpr auto kLanes = std::make_integer_sequence<int, W>();
    Int places[W];
    place_rows(places, rows, f.a_row);
    const First<T, W> some(rows);
    Packet<T, W> sums[G] = {};
    if (f.adds) {
      BURLAB_UNROLL
      for (int g = 0; g < G; ++g) some.load(sums[g], f.c + g * W);
    }
    const T *a = f.a, *b = f.b;
    Int k = f.depth;
    BURLAB_ONE_BY_ONE
    for (; k >= S; k -= S, a += S) {
      T factors[S];
      BURLAB_UNROLL
      for (int s = 0; s < S; ++s, b += f.b_depth) factors[s] = *b;
      BURLAB_UNROLL
      for (int g = 0; g < G; ++g) {
        Packet<T, W> x[S];
        BURLAB_UNROLL
        for (int s = 0; s < S; ++s) load_apart(x[s], a + g * W * f.a_row, places + s);
        transpose_blocks<S>(x, kLanes);
        BURLAB_UNROLL
        for (int s = 0; s < S; ++s) add_multiple(sums[g], factors[s], x[s]);
      }
    }
    BURLAB_ONE_BY_ONE
    for (; k > 0; --k, ++a, b += f.b_depth) {
      BURLAB_UNROLL
      for (int g = 0; g < G; ++g) {
        Packet<T, W> x;
        BURLAB_UNROLL
        for (int i = 0; i < W; ++i) x[i] = a[g * W * f.a_row + places[i]];
        add_multiple(sums[g], *b, x);
      }
    }
    BURLAB_UNROLL
    for (int g = 0; g < G; ++g) some.store(f.c + g * W, sums[g]);
  }

  /// S numbers each from W / S places, one after another; the places are S apart in their list.
  template <class P> static BURLAB_INLINE void load_apart(P& x, const T* from, const Int* places) {
    if constexpr (sizeof(P) == 16) {
      load(x, from + places[0]);
    } else {
      constexpr int kHalf = static_cast<int>(sizeof(P) / sizeof(T)) / 2;
      Packet<T, kHalf> low, high;
      load_apart(low, from, places);
      load_apart(high, from, places + kHalf);
      [&]<int... Lane>(std::integer_sequence<int, Lane...>) {
        x = __builtin_shufflevector(low, high, Lane...);
      }(std::make_integer_sequence<int, 2 * kHalf>());
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
