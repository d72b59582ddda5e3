#pragma once
// Epilogue reductions: sums at the end of generated loops.
#include <cstring>
#include <utility>

#include "few.hpp"
#include "reduce.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// A sum over all axes, with the bits of `Sum` over these numbers in one row. The loop writes up to 512
/// numbers at `next`, then calls `added` with their count; full blocks are summed as they come.
template <class T> struct SumEpilogue {
  static constexpr Int block = 512;
  using A = Accumulator<T, false>;

  CompensatedSum<T, false> total{T(0)};
  Int held = 0;
  alignas(64) T buffer[2 * block];

  BURLAB_INLINE T* next() { return buffer + held; }

  BURLAB_INLINE void added(Int n) {
    held += n;
    if (held < block) return;
    total.add(sum_block<A>(buffer, block));
    held -= block;
    std::memcpy(buffer, buffer + block, static_cast<std::size_t>(held) * sizeof(T));
  }

  BURLAB_INLINE T value() {
    if (held > 0) total.add(sum_block<A>(buffer, held));
    return total.value();
  }
};

/// Adds the 16 lanes of a block to a sum, as `sum_block` would.
template <class T> BURLAB_INLINE void add_block(CompensatedSum<T, false>& sum, const T* lanes) {
  Packet<T, 16> block;
  load(block, lanes);
  sum.add(sum_lanes<T>(block));
}

template <int N, class T, int... Lane>
BURLAB_INLINE void halve_lanes(Packet<T, N>& half, const Packet<T, 2 * N>& x, std::integer_sequence<int, Lane...>) {
  half = __builtin_shufflevector(x, x, Lane...) + __builtin_shufflevector(x, x, (Lane + N)...);
}

/// The sum of N lanes, by halves; N is a power of 2.
template <int N, class T> BURLAB_INLINE T add_lanes(const Packet<T, N>& x) {
  if constexpr (N == 1) {
    return x[0];
  } else {
    Packet<T, N / 2> half;
    halve_lanes<N / 2, T>(half, x, std::make_integer_sequence<int, N / 2>());
    return add_lanes<N / 2, T>(half);
  }
}

template <int N, class T> BURLAB_INLINE T add_lanes(const T* x) {
  Packet<T, N> lanes;
  load(lanes, x);
  return add_lanes<N, T>(lanes);
}

}  // namespace burlab::kernels
BURLAB_END
