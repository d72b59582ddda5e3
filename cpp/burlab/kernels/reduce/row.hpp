#pragma once
// Reductions of rows for generated loops: eight rows at once, with the bits of the library's kernels.
#include "../../numbers/first.hpp"
#include "extreme.hpp"
#include "few.hpp"
#include "lanes.hpp"
#include "reduce.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Combine two packets to one, each lane the sum, or the extreme value, of two.
struct Adding {
  template <class P> static BURLAB_INLINE void join(P& x, const P& y) { x += y; }
};
template <bool Largest> struct Improving {
  template <class P> static BURLAB_INLINE void join(P& x, const P& y) { improve<Largest>(x, y); }
};

/// Groups of G lanes, of x and then of y: each becomes its first half joined with its second.
template <class Join, int G, class P, int... Lane>
BURLAB_INLINE void join_halves(P& x, const P& y, std::integer_sequence<int, Lane...>) {
  P first = __builtin_shufflevector(x, y, (Lane / (G / 2) * G + Lane % (G / 2))...);
  Join::join(first, __builtin_shufflevector(x, y, (Lane / (G / 2) * G + Lane % (G / 2) + G / 2)...));
  x = first;
}

/// to[r] = the lanes of packet r, joined by halves; of eight packets, of which `rows` count.
template <class Join, class T, class P> BURLAB_INLINE void join_lanes(T* to, P (&x)[8], Int rows) {
  constexpr auto kLanes = std::make_integer_sequence<int, 8>();
  BURLAB_UNROLL
  for (int i = 0; i < 8; i += 2) join_halves<Join, 8>(x[i], x[i + 1], kLanes);
  join_halves<Join, 4>(x[0], x[2], kLanes);
  join_halves<Join, 4>(x[4], x[6], kLanes);
  join_halves<Join, 2>(x[0], x[4], kLanes);
  const Packet<T, 8> joined = __builtin_convertvector(x[0], Packet<T, 8>);
  if (rows >= 8) store(to, joined);
  else std::memcpy(to, &joined, static_cast<std::size_t>(rows) * sizeof(T));
}

/// The first N numbers, 0 < N <= 8, and zeros. Bytes: of a register.
template <int Bytes, int N, class T> BURLAB_INLINE void load_first(Packet<T, 8>& x, const T* from) {
  if constexpr (N == 8) {
    load(x, from);
  } else if constexpr (Bytes >= 8 * static_cast<int>(sizeof(T))) {
    First<T, 8>(N).load(x, from);
  } else {
    T copy[8] = {};
    std::memcpy(copy, from, N * sizeof(T));
    load(x, copy);
  }
}

/// Number k is added to lane k mod 16, then the lanes' first half to their second.
template <int Bytes, int N, class A, class T> BURLAB_INLINE void add_row(Packet<A, 8>& sum, const T* x) {
  constexpr int kTail = N % 16;
  Packet<A, 8> low = {}, high = {};
  Packet<T, 8> next;
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < N / 16; ++k, x += 16) {
    load(next, x);
    low += __builtin_convertvector(next, Packet<A, 8>);
    load(next, x + 8);
    high += __builtin_convertvector(next, Packet<A, 8>);
  }
  if constexpr (kTail > 0) {
    constexpr int kLow = kTail < 8 ? kTail : 8;
    load_first<Bytes, kLow>(next, x);
    low += __builtin_convertvector(next, Packet<A, 8>);
  }
  if constexpr (kTail > 8) {
    load_first<Bytes, kTail - 8>(next, x + 8);
    high += __builtin_convertvector(next, Packet<A, 8>);
  }
  sum = low + high;
}

/// out[r] = the sum of N <= 512 numbers, for rows `step` apart.
template <int Bytes, int N, class T>
BURLAB_NOINLINE BURLAB_WIDE void row_sums(T* out, const T* x, Int step, Int rows) {
  using A = Accumulator<T, false>;
  if constexpr (N <= 4) {
    if (step == N) {
      BURLAB_LANES
      for (Int r = 0; r < rows; ++r) out[r] = sum_of_few<N>(x + N * r);
    } else {
      BURLAB_LANES
      for (Int r = 0; r < rows; ++r) out[r] = sum_of_few<N>(x + step * r);
    }
    return;
  }
  BURLAB_ONE_BY_ONE
  for (; rows > 0; rows -= 8, x += 8 * step, out += 8) {
    Packet<A, 8> sums[8];
    const T* row = x;  // in short rows the compiler unrolls the loop: their packets stay in registers
    for (int i = 0; i < 8; ++i, row += i < rows ? step : 0) add_row<Bytes, N, A>(sums[i], row);
    join_lanes<Adding>(out, sums, rows);
  }
}

/// The same in plain order.
template <int N, class T> BURLAB_NOINLINE void row_sums_strict(T* out, const T* x, Int step, Int rows) {
  BURLAB_ONE_BY_ONE
  for (Int r = 0; r < rows; ++r, x += step) {
    T total = 0;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < N; ++k) total += x[k];
    out[r] = total;
  }
}

template <bool Largest, int N, class T> BURLAB_INLINE void best_of_row(Packet<T, 8>& best, const T* x) {
  if constexpr (N < 16) {
    best_in_lanes<Largest>(best, x, N);
  } else {
    Packet<T, 16> lanes;
    best_in_lanes<Largest>(lanes, x, N);
    best = __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3, 4, 5, 6, 7);
    improve<Largest>(best, __builtin_shufflevector(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15));
  }
}

/// out[r] = the extreme value of N numbers, for rows `step` apart.
template <bool Largest, int N, class T>
BURLAB_NOINLINE BURLAB_WIDE void row_extremes(T* out, const T* x, Int step, Int rows) {
  if constexpr (N < 8) {
    BURLAB_ONE_BY_ONE
    for (Int r = 0; r < rows; ++r) out[r] = extreme_of<Largest>(x + r * step, N);
  } else {
    BURLAB_ONE_BY_ONE
    for (; rows > 0; rows -= 8, x += 8 * step, out += 8) {
      Packet<T, 8> best[8];
      const T* row = x;
      for (int i = 0; i < 8; ++i, row += i < rows ? step : 0) best_of_row<Largest, N>(best[i], row);
      join_lanes<Improving<Largest>>(out, best, rows);
    }
  }
}

}  // namespace burlab::kernels
BURLAB_END
