#pragma once
// Largest and smallest values over axes. nan wins, as in NumPy; masks count as 0 and 1.
#include <cstring>
#include <type_traits>

#include "../../numbers/packet.hpp"
#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Return true if x replaces the best so far: strictly better, or the first nan.
template <bool Largest, class T> BURLAB_INLINE bool beats(T x, T best) {
  return (Largest ? x > best : x < best) || (x != x && best == best);
}

/// The better of both, lane by lane; of a nan and a number, the nan.
template <bool Largest, class P> BURLAB_INLINE void improve(P& best, const P& next) {
  best = ((Largest ? next > best : next < best) | (next != next)) ? next : best;
}

/// The best lane, by halves, without a branch.
template <bool Largest, class T, int W> BURLAB_INLINE T extreme_of_lanes(const Packet<T, W>& x) {
  if constexpr (W == 4) {
    Packet<T, 4> best = x;
    improve<Largest>(best, __builtin_shufflevector(best, best, 2, 3, 0, 1));
    improve<Largest>(best, __builtin_shufflevector(best, best, 1, 0, 3, 2));
    return best[0];
  } else {
    Packet<T, W / 2> low, high;
    std::memcpy(&low, &x, sizeof(low));
    std::memcpy(&high, reinterpret_cast<const char*>(&x) + sizeof(low), sizeof(high));
    improve<Largest>(low, high);
    return extreme_of_lanes<Largest, T, W / 2>(low);
  }
}

/// In each lane, the best of its share of n >= W numbers.
template <bool Largest, class P, class T> BURLAB_INLINE void best_in_lanes(P& best, const T* x, Int n) {
  constexpr Int W = sizeof(P) / sizeof(T);
  P next;
  load(best, x);
  Int k = W;
  BURLAB_ONE_BY_ONE
  for (; k + W <= n; k += W) {
    load(next, x + k);
    improve<Largest>(best, next);
  }
  if (k < n) {
    load(next, x + n - W);  // some a second time
    improve<Largest>(best, next);
  }
}

template <bool Largest, int W, class T> BURLAB_INLINE T extreme_in_lanes(const T* x, Int n) {
  Packet<T, W> best;
  best_in_lanes<Largest>(best, x, n);
  return extreme_of_lanes<Largest, T, W>(best);
}

/// The extreme value of n >= 64 numbers: parts are processed together in independent registers, and one more detects
/// nan. Of equal values it is the first of a lane, as in `extreme_in_lanes`.
template <bool Largest, class T> BURLAB_INLINE T extreme_of_many(const T* x, Int n) {
  constexpr int kParts = 16 / sizeof(T);
  using P = Packet<T, 16>;
  const Int part = n / (16 * kParts) * 16;
  P best[kParts], next;
  auto nans = P{} != P{};
  BURLAB_UNROLL
  for (int p = 0; p < kParts; ++p) load(best[p], x + p * part);
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < part; k += 16) {
    BURLAB_UNROLL
    for (int p = 0; p < kParts; ++p) {
      load(next, x + p * part + k);
      nans |= next != next;
      best[p] = (Largest ? next > best[p] : next < best[p]) ? next : best[p];
    }
  }
  BURLAB_UNROLL
  for (int p = 1; p < kParts; ++p) improve<Largest>(best[0], best[p]);
  Int k = kParts * part;
  BURLAB_ONE_BY_ONE
  for (; k < n; k += 16) {
    load(next, x + (k + 16 <= n ? k : n - 16));  // at the end some a second time
    improve<Largest>(best[0], next);
  }
  if (lanes_where<16>(nans) == 0) return extreme_of_lanes<Largest, T, 16>(best[0]);
  k = 0;
  BURLAB_ONE_BY_ONE
  while (x[k] == x[k]) ++k;
  return x[k];
}

/// Return true if any of n >= 64 masks is set, or all are: a byte is 0 or 1.
template <bool Largest> BURLAB_INLINE bool extreme_of_masks(const bool* x, Int n) {
  Packet<std::uint64_t, 8> best, next;
  load(best, x);
  BURLAB_ONE_BY_ONE
  for (Int k = 64; k < n; k += 64) {
    load(next, x + (k + 64 <= n ? k : n - 64));  // at the end some a second time
    best = Largest ? best | next : best & next;
  }
  std::uint64_t eight = best[0];
  BURLAB_UNROLL
  for (int k = 1; k < 8; ++k) eight = Largest ? eight | best[k] : eight & best[k];
  return Largest ? eight != 0 : eight == 0x0101010101010101u;
}

/// The extreme value of n > 0 contiguous numbers.
template <bool Largest, class T> BURLAB_INLINE T extreme_of(const T* x, Int n) {
  if constexpr (std::is_floating_point_v<T>) {
    if (n > 512) return extreme_of_many<Largest>(x, n);  // longer than the rows of a loop that computes them
    if (n >= 16) return extreme_in_lanes<Largest, 16>(x, n);
    if (n >= 8) return extreme_in_lanes<Largest, 8>(x, n);
    if (n >= 4) return extreme_in_lanes<Largest, 4>(x, n);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (n >= 64) return extreme_of_masks<Largest>(x, n);
  }
  T best = *x;
  BURLAB_ONE_BY_ONE
  for (Int k = 1; k < n; ++k) best = beats<Largest>(x[k], best) ? x[k] : best;
  return best;
}

inline constexpr Int kExtremeBlock = 1 << 14;  // numbers of a row that are taken together

/// Each of m results is the extreme value of l rows of n numbers, l and n above 0.
/// Descriptor: m and its stride, l and its stride, n and its stride, whether out holds values that take part; dense
/// results.
template <class T, bool Largest> struct Extreme {
  static BURLAB_WIDE Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    T* y = static_cast<T*>(out);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d[0]; ++i) {
      const T* x = static_cast<const T*>(a) + i * d[1];
      T best = d[6] != 0 ? y[i] : *x;
      BURLAB_ONE_BY_ONE
      for (Int row = 0; row < d[2]; ++row) {
        if (d[5] == 1) {
          BURLAB_ONE_BY_ONE
          for (Int j = 0; j < d[4]; j += kExtremeBlock) {
            const Int n = d[4] - j < kExtremeBlock ? d[4] - j : kExtremeBlock;
            if (stop.after(n)) return Stopped;
            const T next = extreme_of<Largest>(x + row * d[3] + j, n);
            best = beats<Largest>(next, best) ? next : best;
          }
          continue;
        }
        BURLAB_ONE_BY_ONE
        for (Int j = 0, end = 0; j < d[4];) {
          end = end_of_chunk(j, d[4]);
          if (stop.after(end - j)) return Stopped;
          BURLAB_ONE_BY_ONE
          for (; j < end; ++j) {
            const T next = x[row * d[3] + j * d[5]];
            best = beats<Largest>(next, best) ? next : best;
          }
        }
      }
      y[i] = best;
    }
    return Ok;
  }
};

/// Down columns: out[j] = the extreme of l * n rows, j < width. Descriptor: width (stride 1); l and its stride, n and
/// its stride; whether out holds values that take part.
template <class T, bool Largest> struct ExtremeColumns {
  static BURLAB_WIDE Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    constexpr Int kTile = 1024;  // results, which stay in cache
    const Int rows = d[1] * d[3];
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int begin = 0; begin < d[0]; begin += kTile) {
      const Int width = d[0] - begin < kTile ? d[0] - begin : kTile;
      const T* x = static_cast<const T*>(a) + begin;
      T* y = static_cast<T*>(out) + begin;
      if (d[5] == 0) std::memcpy(y, x, static_cast<std::size_t>(width) * sizeof(T));
      BURLAB_ONE_BY_ONE
      for (Int row = d[5] == 0; row < rows; ++row) {
        if (stop.after(width)) return Stopped;
        improve_row(y, x + row / d[3] * d[2] + row % d[3] * d[4], width);
      }
    }
    return Ok;
  }

 private:
  static BURLAB_INLINE void improve_row(T* y, const T* x, Int n) {
    Int j = 0;
    if constexpr (std::is_floating_point_v<T>) {
      constexpr Int W = BURLAB_REGISTER / static_cast<Int>(sizeof(T));
      Packet<T, W> best, next;
      BURLAB_ONE_BY_ONE
      for (; j + W <= n; j += W) {
        load(best, y + j);
        load(next, x + j);
        improve<Largest>(best, next);
        store(y + j, best);
      }
    }
    for (; j < n; ++j) y[j] = beats<Largest>(x[j], y[j]) ? x[j] : y[j];
  }
};

}  // namespace burlab::kernels
BURLAB_END
