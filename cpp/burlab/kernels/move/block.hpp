#pragma once
// A block of numbers in order, which registers hold: its columns next to each other, then rows are merged (Batcher
// 1968: bitonic networks, where the second of two runs is read backwards).
#include <limits>
#include <type_traits>
#include <utility>

#include "../../numbers/packet.hpp"
#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// kPackets: a power of two.
template <class T, int kPackets = 16> class Block {
  static constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
  using P = Packet<T, W>;
  using Lanes = std::make_integer_sequence<int, W>;

 public:
  using Limits = std::numeric_limits<T>;
  static constexpr T kLowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr T kHighest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr Int kSize = kPackets * W;  // numbers, at most

  /// Sorts n <= kSize numbers, of which none is NaN. Equal numbers keep their own bits, in any order.
  static BURLAB_WIDE void sort(T* numbers, Int n) {
    P x[kPackets];
    const Int whole = n / W * W;
    BURLAB_UNROLL
    for (int k = 0; k < kPackets; ++k) {
      x[k] = P{} + kHighest;
      if (k * W < whole) load(x[k], numbers + k * W);
    }
    if (whole < n) {
      T end[W];
      for (int k = 0; k < W; ++k) end[k] = whole + k < n ? numbers[whole + k] : kHighest;
      P last;
      load(last, end);
      BURLAB_UNROLL
      for (int k = 0; k < kPackets; ++k)
        if (k * W == whole) x[k] = last;
    }
    columns<2 * W, W>(x);
    transpose<kPackets>(x);
    merge<2 * kPackets>(x);
    BURLAB_UNROLL
    for (int k = 0; k < kPackets; ++k)
      if (k * W < whole) store(numbers + k * W, x[k]);
    if (whole < n) {
      T end[W];
      BURLAB_UNROLL
      for (int k = 0; k < kPackets; ++k)
        if (k * W == whole) store(end, x[k]);
      for (Int k = whole; k < n; ++k) numbers[k] = end[k - whole];
    }
  }

 private:
  static BURLAB_INLINE void exchange(P& low, P& high) {
    const P least = high < low ? high : low;
    high = low > high ? low : high;
    low = least;
  }

  /// Sort each lane separately. Size, Step: the length of the sorted runs, and the distance between two compared
  /// numbers.
  template <int Size, int Step> static BURLAB_INLINE void columns(P* x) {
    BURLAB_UNROLL
    for (int k = 0; k < kPackets; ++k)
      if ((k & (Step / W)) == 0) {
        const int other = k + Step / W;
        if ((k & (Size / W)) == 0) exchange(x[k], x[other]);
        else exchange(x[other], x[k]);
      }
    if constexpr (Step > W) columns<Size, Step / 2>(x);
    else if constexpr (Size < kPackets * W) columns<2 * Size, Size>(x);
  }

  /// Transpose columns to rows: repeatedly interleave the rows of both halves, lane by lane.
  template <int Left> static BURLAB_INLINE void transpose(P* x) {
    if constexpr (Left > 1) {
      P mixed[kPackets];
      BURLAB_UNROLL
      for (int k = 0; k < kPackets / 2; ++k) mix(x[k], x[k + kPackets / 2], mixed + 2 * k, Lanes());
      BURLAB_UNROLL
      for (int k = 0; k < kPackets; ++k) x[k] = mixed[k];
      transpose<Left / 2>(x);
    }
  }
  template <int... K> static BURLAB_INLINE void mix(const P& a, const P& b, P* to, std::integer_sequence<int, K...>) {
    to[0] = __builtin_shufflevector(a, b, (K % 2 * W + K / 2)...);
    to[1] = __builtin_shufflevector(a, b, (K % 2 * W + W / 2 + K / 2)...);
  }

  /// Runs of Size / 2 numbers become runs of Size, and so on.
  template <int Size> static BURLAB_INLINE void merge(P* x) {
    if constexpr (Size <= W) {
      BURLAB_UNROLL
      for (int k = 0; k < kPackets; ++k) within<Size - 1, Size / 2>(x[k], Lanes());
    } else {
      BURLAB_UNROLL
      for (int k = 0; k < kPackets; ++k)
        if ((k & (Size / W / 2)) == 0) {
          P& other = x[k ^ (Size / W - 1)];
          other = backwards(other, Lanes());
          exchange(x[k], other);
          other = backwards(other, Lanes());
        }
    }
    halves<Size / 4>(x);
    if constexpr (Size < kSize) merge<2 * Size>(x);
  }
  template <int... K> static BURLAB_INLINE P backwards(const P& x, std::integer_sequence<int, K...>) {
    return __builtin_shufflevector(x, x, (W - 1 - K)...);
  }

  template <int Step> static BURLAB_INLINE void halves(P* x) {
    BURLAB_UNROLL
    for (int k = 0; k < kPackets; ++k) {
      if constexpr (Step < W) within<Step, Step>(x[k], Lanes());
      else if ((k & (Step / W)) == 0) exchange(x[k], x[k + Step / W]);
    }
    if constexpr (Step > 1) halves<Step / 2>(x);
  }
  /// Compares each lane with the one whose number differs in the bits Other; it is the higher one where bit High is
  /// set.
  template <int Other, int High, int... K>
  static BURLAB_INLINE void within(P& x, std::integer_sequence<int, K...>) {
    const P other = __builtin_shufflevector(x, x, (K ^ Other)...);
    const P low = other < x ? other : x, high = other > x ? other : x;  // equal numbers, -0 and 0, both remain
    x = __builtin_shufflevector(low, high, (K & High ? W + K : K)...);
  }
};

}  // namespace burlab::kernels
BURLAB_END
