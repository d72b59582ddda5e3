#pragma once
// Functions for generated loops over packets: loads and stores at the end of a row, and sums of strips of rows.
#include "../../numbers/first.hpp"
#include "epilogue.hpp"
#include "lanes.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

template <class P> using Number = std::remove_cvref_t<decltype(std::declval<P&>()[0])>;
template <class P> inline constexpr int kWidth = static_cast<int>(sizeof(P) / sizeof(Number<P>));

/// The first N lanes, and zeros.
template <int N, class P, class T> BURLAB_INLINE void load_first(P& x, const T* from) {
  if constexpr (N == kWidth<P>) load(x, from);
  else First<T, kWidth<P>>(N).load(x, from);
}

/// The first N lanes. Masked stores of AVX2 are slow on some CPUs, where whole parts are written instead.
template <int N, class P, class T> BURLAB_INLINE void store_first(T* to, const P& x) {
  if constexpr (N == kWidth<P>) store(to, x);
  else if constexpr (sizeof(P) == 64 && BURLAB_REGISTER == 64) First<T, kWidth<P>>(N).store(to, x);
  else std::memcpy(to, &x, N * sizeof(T));
}

template <int N, class P, int... Lane> BURLAB_INLINE void clear_rest(P& x, std::integer_sequence<int, Lane...>) {
  x = __builtin_shufflevector(x, P{}, (Lane < N ? Lane : Lane + kWidth<P>)...);
}

/// The squares of the first N lanes, in the type of the sum.
template <int N, class A, class P> BURLAB_INLINE void add_squares_of(A& sum, const P& x) {
  A y = __builtin_convertvector(x, A);
  if constexpr (N < kWidth<P>) clear_rest<N>(y, std::make_integer_sequence<int, kWidth<P>>());
  add_product<false>(sum, y, y);
}

/// The sum of R packets, lane by lane.
template <int R, class D, class P> BURLAB_INLINE void add_packets(D& total, const P (&parts)[R]) {
  P sum = parts[0];
  BURLAB_UNROLL
  for (int r = 1; r < R; ++r) sum += parts[r];
  total += __builtin_convertvector(sum, D);
}

/// The same sum, left for `take_packets` by one of several threads.
template <int R, class P, class T> BURLAB_INLINE void put_packets(T* to, const P (&parts)[R]) {
  P sum = parts[0];
  BURLAB_UNROLL
  for (int r = 1; r < R; ++r) sum += parts[r];
  store(to, sum);
}

/// Adds `count` packets that lie one behind the other.
template <class P, class D, class T> BURLAB_INLINE void take_packets(D& total, const T* from, Int count) {
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < count; ++k) {
    P sum;
    load(sum, from + k * kWidth<P>);
    total += __builtin_convertvector(sum, D);
  }
}

/// to[r] = the lanes of packet r, added by halves.
template <int R, class P, class T> BURLAB_INLINE void store_sums(T* to, P (&x)[R]) {
  static_assert(R <= kWidth<P>);
  sum_packets<R, kWidth<P>>(x);
  BURLAB_UNROLL
  for (int r = 0; r < R; ++r) to[r] = x[0][r];
}

}  // namespace burlab::kernels
BURLAB_END
