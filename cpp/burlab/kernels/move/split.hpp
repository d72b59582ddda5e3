#pragma once
// Sorting a long row in place (quicksort, Hoare 1962): numbers below a pivot go to the front and the others to the end,
// a packet at a time, and both parts are split again until they are blocks. A part that was split too often, which only
// happens in adversarial rows, is sorted by digits.
#include <algorithm>

#include "block.hpp"
#include "order.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

#if defined(BURLAB_AVX2)  // which permutes the lanes of a packet at run time
/// For each set of eight lanes, or of four pairs of them: its lanes, then the others, a byte each.
template <unsigned Size> struct LaneOrders {
  static constexpr unsigned kParts = 8 / Size;
  std::uint64_t bytes[1 << Size];
  constexpr LaneOrders() : bytes() {
    for (unsigned set = 0; set < 1u << Size; ++set) {
      int place = 0;
      for (unsigned half = 0; half < 2; ++half)
        for (unsigned lane = 0; lane < 8; ++lane)
          if ((set >> lane / kParts & 1) != half) bytes[set] |= std::uint64_t{lane} << (8 * place++);
    }
  }
};
template <unsigned Size> inline constexpr LaneOrders<Size> kLaneOrders{};

/// Eight numbers as a packet, from the bytes of an order.
template <class P> BURLAB_INLINE P lanes_of(std::uint64_t bytes) {
  typedef unsigned char Bytes __attribute__((vector_size(8)));
  return __builtin_convertvector(__builtin_bit_cast(Bytes, bytes), P);
}

/// The lanes whose bit is set first, then the others. count: bits that are set.
#if defined(BURLAB_AVX512)
template <class T> BURLAB_INLINE void part_lanes(Packet<T, 8>& x, std::uint64_t set, int) {
  using P = Packet<long long, 8>;
  const P lanes = BURLAB_PERMUTED(__builtin_bit_cast(P, x), lanes_of<P>(kLaneOrders<8>.bytes[set]));
  x = __builtin_bit_cast(Packet<T, 8>, lanes);
}
template <class T> BURLAB_INLINE void part_lanes(Packet<T, 16>& x, std::uint64_t set, int count) {
  using P = Packet<int, 16>;
  using Bits = unsigned short;
  const P all = __builtin_bit_cast(P, x), first = __builtin_ia32_compresssi512_mask(all, P{}, Bits(set)),
          last = __builtin_ia32_compresssi512_mask(all, P{}, Bits(~set));
  x = __builtin_bit_cast(Packet<T, 16>, __builtin_ia32_expandsi512_mask(last, first, Bits(0xFFFF << count)));
}
#else
template <class T, int W> BURLAB_INLINE void part_lanes_by_fours(Packet<T, W>& x, std::uint64_t set) {
  using P = Packet<int, 8>;
  x = __builtin_bit_cast(Packet<T, W>,
                         __builtin_ia32_permvarsi256(__builtin_bit_cast(P, x), lanes_of<P>(kLaneOrders<W>.bytes[set])));
}
template <class T> BURLAB_INLINE void part_lanes(Packet<T, 8>& x, std::uint64_t set, int) {
  part_lanes_by_fours<T, 8>(x, set);
}
template <class T> BURLAB_INLINE void part_lanes(Packet<T, 4>& x, std::uint64_t set, int) {
  part_lanes_by_fours<T, 4>(x, set);
}
#endif

/// The room between the numbers moved to the front and those moved to the end.
template <bool OrEqual, class T> struct Room {
  static constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
  using P = Packet<T, W>;
  T *low, *high;
  T pivot;

  BURLAB_INLINE void put(const P& packet) {
    P x = packet;
    const std::uint64_t bits = lanes_where<W>(OrEqual ? x <= pivot : x < pivot);
    const int below = __builtin_popcountll(bits);
    part_lanes<T>(x, bits, below);
    store(low, x);
    store(high - W, x);
    low += below;
    high -= W - below;
  }
  BURLAB_INLINE void put(T x) {
    *low = high[-1] = x;
    const bool below = OrEqual ? x <= pivot : x < pivot;
    low += below;
    high -= !below;
  }
};

/// Moves the numbers below the pivot, or equal, to the front and returns their count. A part of each end is set aside
/// first, so both ends have room for the next packet, and the end with less room is read next.
template <bool OrEqual, class T> BURLAB_WIDE inline Int split(T* numbers, Int n, T pivot) {
  using P = typename Room<OrEqual, T>::P;
  constexpr int W = Room<OrEqual, T>::W, kAtOnce = 4;
  constexpr Int kAside = kAtOnce * W;
  Room<OrEqual, T> room{numbers, numbers + n, pivot};
  const T *begin = numbers + kAside, *end = numbers + n - kAside;
  alignas(64) T aside[4 * kAside];
  std::memcpy(aside, numbers, kAside * sizeof(T));
  std::memcpy(aside + kAside, end, kAside * sizeof(T));
  BURLAB_ONE_BY_ONE
  while (end - begin >= kAside) {
    const bool front = begin - room.low <= room.high - end;
    const T* from = front ? begin : end - kAside;
    begin += front ? kAside : 0;
    end -= front ? 0 : kAside;
    P some[kAtOnce];
    std::memcpy(some, from, sizeof some);
    BURLAB_UNROLL
    for (int k = 0; k < kAtOnce; ++k) room.put(some[k]);
  }
  std::memcpy(aside + 2 * kAside, begin, static_cast<std::size_t>(end - begin) * sizeof(T));
  const Int rest = 2 * kAside + (end - begin);
  Int k = 0;
  BURLAB_ONE_BY_ONE
  for (; k < rest % W; ++k) room.put(aside[k]);  // first, because later packets fill the room
  BURLAB_ONE_BY_ONE
  for (; k < rest; k += W) {
    P x;
    load(x, aside + k);
    room.put(x);
  }
  return room.low - numbers;
}

/// The median of one packet's worth of numbers, or, for a long part, of as many such medians. None is NaN.
template <class T> BURLAB_WIDE inline T pivot_of(const T* numbers, Int n) {
  constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
  constexpr Int kMaxPart = 4096;
  const Int step = n / W;
  T some[W];
  BURLAB_ONE_BY_ONE
  for (int k = 0; k < W; ++k) {
    const T* from = numbers + k * step;
    some[k] = n < kMaxPart ? from[step / 2] : pivot_of(from, std::min(step, kMaxPart - 1));
  }
  Packet<T, W> x;
  load(x, some);
  Packet<std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>, W> before = {};
  BURLAB_UNROLL
  for (int k = 0; k < W; ++k) before -= some[k] < x;
  T median = Block<T>::kLowest;
  BURLAB_UNROLL
  for (int k = 0; k < W; ++k) median = before[k] <= W / 2 && x[k] > median ? x[k] : median;
  return median;
}

/// Sorts numbers, of which none is NaN. Equal numbers keep their own bits, in any order.
template <class T> Status sort_by_splits(T* numbers, Int n, StopCheck& stop) {
  struct Part {
    T* begin;
    Int size;
    int splits;
  };
  const int most = 2 * int(std::bit_width(static_cast<std::uint64_t>(n)));
  Part parts[130] = {{numbers, n, 0}};  // each split takes one away and adds at most two
  int count = 1;
  BURLAB_ONE_BY_ONE
  while (count > 0) {
    const auto [begin, size, splits] = parts[--count];
    if (size <= Block<T>::kSize) {
      Block<T>::sort(begin, size);
      continue;
    }
    if (splits == most) {
      if (const Status status = sort_by_digits(begin, size, stop); status != Ok) return status;
      continue;
    }
    if (stop.after(size)) return Stopped;
    const T pivot = pivot_of(begin, size);
    Int below = split<false>(begin, size, pivot);
    if (below > 0) parts[count++] = {begin, below, splits + 1};
    else below = split<true>(begin, size, pivot);  // it is the least number: all equal ones are then in place
    parts[count++] = {begin + below, size - below, splits + 1};
  }
  return Ok;
}
#endif

}  // namespace burlab::kernels
BURLAB_END
