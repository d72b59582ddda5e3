#pragma once
// Epilogue reductions: sums at the end of generated loops.
#include <cstring>
#include <utility>

#include "few.hpp"
#include "reduce.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Sums blocks of 512 numbers. The loop writes up to 512 numbers at `next`, then calls `added` with their count, and
/// `take` gets the sum of a block that is full.
template <class T> struct BlockBuffer {
  static constexpr Int block = 512;
  using A = Accumulator<T, false>;

  Int held = 0;
  alignas(64) T buffer[2 * block];

  BURLAB_INLINE T* next() { return buffer + held; }

  template <class Take> BURLAB_INLINE void added(Int n, Take take) {
    held += n;
    if (held < block) return;
    take(sum_block<A>(buffer, block));
    held -= block;
    std::memcpy(buffer, buffer + block, static_cast<std::size_t>(held) * sizeof(T));
  }

  /// The last block, which is not full.
  template <class Take> BURLAB_INLINE void end(Take take) {
    if (held > 0) take(sum_block<A>(buffer, held));
  }
};

/// A sum over all axes, with the bits of `Sum` over these numbers in one row.
template <class T> struct SumEpilogue {
  CompensatedSum<T, false> total{T(0)};
  BlockBuffer<T> blocks;

  BURLAB_INLINE T* next() { return blocks.next(); }
  BURLAB_INLINE void added(Int n) {
    blocks.added(n, [this](auto sum) { total.add(sum); });
  }
  BURLAB_INLINE T value() {
    blocks.end([this](auto sum) { total.add(sum); });
    return total.value();
  }
};

/// The part of a sum that one of several threads computes: the sums of its blocks, one behind the other.
template <class T> struct BlockSums {
  using A = Accumulator<T, false>;

  A* to;
  BlockBuffer<T> blocks;

  BURLAB_INLINE explicit BlockSums(A* sums) : to(sums) {}
  BURLAB_INLINE T* next() { return blocks.next(); }
  BURLAB_INLINE void added(Int n) {
    blocks.added(n, [this](A sum) { *to++ = sum; });
  }
  BURLAB_INLINE void end() {
    blocks.end([this](A sum) { *to++ = sum; });
  }
};

/// The sum of so many blocks, with the bits of `SumEpilogue`.
template <class T> BURLAB_INLINE T sum_of_blocks(const Accumulator<T, false>* sums, Int count) {
  CompensatedSum<T, false> total{T(0)};
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < count; ++k) total.add(sums[k]);
  return total.value();
}

/// The sum of the 16 lanes of a block, added as `sum_block` would.
template <class T> BURLAB_INLINE T sum_of_lanes(const T* lanes) {
  Packet<T, 16> block;
  load(block, lanes);
  return sum_lanes<T>(block);
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
