#pragma once
// Sums of products in 16 lanes: of one row of numbers with several.
#include <type_traits>
#include <utility>

#include "../../numbers/packet.hpp"
#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

inline constexpr Int kDotBlock = 256;  // products that are added in one set of lanes

template <bool Plain, class T> BURLAB_INLINE void add_product(T& c, const T& a, const T& b) {
  if constexpr (Plain) {
    c = c + a * b;
  } else {
    BURLAB_FUSED
    c = c + a * b;
  }
}

/// Groups of G lanes, of x and then of y: each becomes the sums of its first and second half.
template <int G, class P, int... Lane> BURLAB_INLINE void halve(P& x, const P& y, std::integer_sequence<int, Lane...>) {
  x = __builtin_shufflevector(x, y, (Lane / (G / 2) * G + Lane % (G / 2))...) +
      __builtin_shufflevector(x, y, (Lane / (G / 2) * G + Lane % (G / 2) + G / 2)...);
}

/// Lane i of x[0] becomes the sum of x[i], i < N, added as `sum_lanes` does.
template <int N, int G = 16, class P> BURLAB_INLINE void sum_packets(P* x) {
  constexpr auto kLanes = std::make_integer_sequence<int, static_cast<int>(sizeof(P) / sizeof((*x)[0]))>();
  BURLAB_UNROLL
  for (int i = 0; i < (N + 1) / 2; ++i) {
    P sum = x[2 * i];
    halve<G>(sum, x[N > 1 ? 2 * i + 1 : 0], kLanes);
    x[i] = sum;
  }
  if constexpr (G > 2) sum_packets<(N + 1) / 2, G / 2>(x);
}

/// The starts of R rows, `step` apart; missing rows start where the last one does.
template <int R> BURLAB_INLINE void place_rows(Int (&at)[R], Int rows, Int step) {
  at[0] = 0;
  BURLAB_UNROLL
  for (int i = 1; i < R; ++i) at[i] = at[i - 1] + (i < rows ? step : 0);
}

/// Lane j of the result becomes the sum of n products of x and row j of y, fused with the addition; 16 <= n, or the
/// numbers before the rows may be read too. The last packet overlaps the one before, with zeros for what is counted.
template <class T, int Rows>
BURLAB_NOINLINE BURLAB_WIDE void add_in_lanes(Packet<T, 16>& result, const T* x, const T* y, const Int (&rows)[Rows],
                                              Int n) {
  using P = Packet<T, 16>;
  P sums[Rows] = {};
  Int k = 0;
  BURLAB_ONE_BY_ONE
  for (; k + 16 <= n; k += 16) {
    P u, v;
    load(u, x + k);
    BURLAB_UNROLL
    for (int j = 0; j < Rows; ++j) {
      load(v, y + rows[j] + k);
      add_product<false>(sums[j], u, v);
    }
  }
  if (k < n) {
    using Bits = Packet<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>, 16>;
    Bits fresh, u, v;
    BURLAB_UNROLL
    for (int lane = 0; lane < 16; ++lane) fresh[lane] = lane < k + 16 - n ? 0 : -1;
    load(u, x + n - 16);
    u &= fresh;
    BURLAB_UNROLL
    for (int j = 0; j < Rows; ++j) {
      load(v, y + rows[j] + n - 16);
      v &= fresh;
      add_product<false>(sums[j], reinterpret_cast<P>(u), reinterpret_cast<P>(v));
    }
  }
  sum_packets<Rows>(sums);
  result = sums[0];
}

}  // namespace burlab::kernels
BURLAB_END
