#pragma once
// Positions of the largest and smallest values along an axis: the first of equal ones, and the first nan before all.
#include <bit>

#include "extreme.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Positions of values of type T, in lanes of the same width.
template <class T> using Position = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

/// The best value so far in each of W lanes, and its position.
template <bool Largest, class T, int W> struct BestPlaces {
  using P = Packet<T, W>;
  using I = Packet<Position<T>, W>;
  P values;
  I places;

  /// Take in values from later in their rows.
  BURLAB_INLINE void follow(const P& next, const I& at) {
    const auto better = Largest ? !(next <= values) : !(next >= values);  // also a nan
    const auto wins = better & (values == values);
    values = wins ? next : values;
    places = wins ? at : places;
  }
};

/// The place of the best lane, by halves; of equal ones the first place.
template <bool Largest, class T, int W> BURLAB_INLINE Int place_of_best(const BestPlaces<Largest, T, W>& all) {
  if constexpr (W == 1) {
    return static_cast<Int>(all.places[0]);
  } else {
    BestPlaces<Largest, T, W / 2> low, high;
    std::memcpy(&low.values, &all.values, sizeof(low.values));
    std::memcpy(&high.values, reinterpret_cast<const char*>(&all.values) + sizeof(low.values), sizeof(low.values));
    std::memcpy(&low.places, &all.places, sizeof(low.places));
    std::memcpy(&high.places, reinterpret_cast<const char*>(&all.places) + sizeof(low.places), sizeof(low.places));
    const auto low_is_nan = low.values != low.values, high_is_nan = high.values != high.values;
    const auto better = Largest ? high.values > low.values : high.values < low.values;
    const auto equal = (high.values == low.values) | (high_is_nan & low_is_nan);
    const auto wins = better | (high_is_nan & ~low_is_nan) | (equal & (high.places < low.places));
    low.values = wins ? high.values : low.values;
    low.places = wins ? high.places : low.places;
    return place_of_best<Largest, T, W / 2>(low);
  }
}

/// The place of the best of n >= W contiguous numbers.
template <bool Largest, class T, int W> BURLAB_INLINE Int where_in_lanes(const T* x, Int n) {
  BestPlaces<Largest, T, W> best;
  Packet<Position<T>, W> lanes, at;
  Packet<T, W> next;
  BURLAB_UNROLL
  for (int k = 0; k < W; ++k) lanes[k] = k;
  load(best.values, x);
  best.places = lanes;
  BURLAB_ONE_BY_ONE
  for (Int k = W; k < n; k += W) {
    const Int from = k + W <= n ? k : n - W;  // at the end some a second time
    at = lanes + static_cast<Position<T>>(from);
    load(next, x + from);
    best.follow(next, at);
  }
  return place_of_best<Largest, T, W>(best);
}

/// The place of the first of n >= 64 numbers that equals `value` (one of them does); Nan: the first that is nan.
template <bool Nan, class T> BURLAB_INLINE Int first_of(const T* x, Int n, T value) {
  constexpr int W = 64 / sizeof(T), kPackets = 4;
  Packet<T, W> next;
  BURLAB_ONE_BY_ONE
  for (Int k = 0;; k += kPackets * W) {
    if (k > n - kPackets * W) k = n - kPackets * W;  // at the end some a second time
    std::uint64_t found = 0;
    BURLAB_UNROLL
    for (int p = 0; p < kPackets; ++p) {
      load(next, x + k + p * W);
      found |= lanes_where<W>(Nan ? next != next : next == value) << p * W;
    }
    if (found != 0) return k + std::countr_zero(found);
  }
}

/// The place of the best of n >= 64 contiguous numbers: first its block.
template <bool Largest, class T> BURLAB_INLINE Int where_in_blocks(const T* x, Int n) {
  constexpr Int kBlock = 2048;  // the last one includes the tail
  Int begin = 0, length = 0;
  T best = *x;
  BURLAB_ONE_BY_ONE
  for (Int k = 0, end = 0; k < n; k = end) {
    end = n - k < 2 * kBlock ? n : k + kBlock;
    const T value = extreme_of_many<Largest>(x + k, end - k);
    if (k != 0 && !beats<Largest>(value, best)) continue;
    best = value;
    begin = k;
    length = end - k;
  }
  return begin + (best == best ? first_of<false>(x + begin, length, best) : first_of<true>(x + begin, length, best));
}

template <bool Largest, class T> BURLAB_INLINE Int where_in_row(const T* x, Int n) {
  constexpr int W = 64 / sizeof(T);
  if (n >= 64) return where_in_blocks<Largest>(x, n);
  if (n >= W) return where_in_lanes<Largest, T, W>(x, n);
  Int best = 0;
  BURLAB_ONE_BY_ONE
  for (Int j = 1; j < n; ++j) best = beats<Largest>(x[j], x[best]) ? j : best;
  return best;
}

/// The position of the first extreme value of each of m rows of n numbers.
/// Descriptor: m and its stride, n and its stride; results are dense.
template <class T, bool Largest> struct Where {
  static BURLAB_WIDE Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    Int* y = static_cast<Int*>(out);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d[0]; ++i) {
      const T* x = static_cast<const T*>(a) + i * d[1];
      if (stop.after(d[2] < kChunk ? d[2] : kChunk)) return Stopped;
      Int best = in_chunk(x, d[2] < kChunk ? d[2] : kChunk, d[3]);
      BURLAB_ONE_BY_ONE
      for (Int j = kChunk; j < d[2]; j += kChunk) {
        const Int n = end_of_chunk(j, d[2]) - j;
        if (stop.after(n)) return Stopped;
        const Int at = j + in_chunk(x + j * d[3], n, d[3]);
        best = beats<Largest>(x[at * d[3]], x[best * d[3]]) ? at : best;
      }
      y[i] = best;
    }
    return Ok;
  }

 private:
  static BURLAB_INLINE Int in_chunk(const T* x, Int n, Int step) {
    if constexpr (std::is_floating_point_v<T>) {
      if (step == 1) return where_in_row<Largest>(x, n);
    }
    Int best = 0;
    BURLAB_ONE_BY_ONE
    for (Int j = 1; j < n; ++j) best = beats<Largest>(x[j * step], x[best * step]) ? j : best;
    return best;
  }
};

/// Down columns: out[j] = which of n rows has the first extreme value, j < width.
/// Descriptor: width (stride 1); n and its stride.
template <class T, bool Largest> struct WhereColumns {
  static BURLAB_WIDE Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    constexpr Int kTile = 512;
    T best[kTile];
    Position<T> places[kTile];
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int begin = 0; begin < d[0]; begin += kTile) {
      const Int width = d[0] - begin < kTile ? d[0] - begin : kTile;
      const T* x = static_cast<const T*>(a) + begin;
      Int* y = static_cast<Int*>(out) + begin;
      std::memcpy(best, x, static_cast<std::size_t>(width) * sizeof(T));
      std::memset(places, 0, sizeof(places));
      BURLAB_ONE_BY_ONE
      for (Int row = 1; row < d[1]; ++row) {
        if (stop.after(width)) return Stopped;
        follow(best, places, x + row * d[2], static_cast<Position<T>>(row), width);
      }
      BURLAB_LANES
      for (Int j = 0; j < width; ++j) y[j] = places[j];
    }
    return Ok;
  }

 private:
  static BURLAB_INLINE void follow(T* best, Position<T>* places, const T* x, Position<T> row, Int n) {
    Int j = 0;
    if constexpr (std::is_floating_point_v<T>) {
      constexpr int W = BURLAB_REGISTER / sizeof(T);
      BestPlaces<Largest, T, W> so_far;
      Packet<T, W> next;
      const Packet<Position<T>, W> at = Packet<Position<T>, W>{} + row;
      BURLAB_ONE_BY_ONE
      for (; j + W <= n; j += W) {
        load(so_far.values, best + j);
        load(so_far.places, places + j);
        load(next, x + j);
        so_far.follow(next, at);
        store(best + j, so_far.values);
        store(places + j, so_far.places);
      }
    }
    BURLAB_ONE_BY_ONE
    for (; j < n; ++j) {
      if (!beats<Largest>(x[j], best[j])) continue;
      best[j] = x[j];
      places[j] = row;
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
