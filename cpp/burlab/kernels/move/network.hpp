#pragma once
// Sorts several rows at once, one in each lane, by a fixed network of comparisons: merging of odd and even places
// (Batcher 1968). Places after the end of a row count as larger than all and never move, so comparisons with them are
// omitted.
#include <limits>
#include <type_traits>

#include "../../numbers/packet.hpp"
#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

inline constexpr Int kNetwork = 256;  // values of a row, at most

/// Calls compare(i, j), i < j < n, for each comparison of a network that sorts n values.
template <class Compare> BURLAB_INLINE void for_network(Int n, const Compare& compare) {
  BURLAB_ONE_BY_ONE
  for (Int p = 1; p < n; p *= 2) {
    BURLAB_ONE_BY_ONE
    for (Int k = p; k >= 1; k /= 2) {
      BURLAB_ONE_BY_ONE
      for (Int j = k % p; j + k < n; j += 2 * k) {
        const Int end = j + 2 * k < n ? j + k : n - k;
        BURLAB_ONE_BY_ONE
        for (Int i = j; i < end; ++i)
          if (((i ^ (i + k)) & -(2 * p)) == 0) compare(i, i + k);  // in one part of 2 p places
      }
    }
  }
}

/// Lanes of rows: packet k holds the values at place k of all rows. NaNs count as the largest number.
template <class T> struct Network {
  static constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
  using P = Packet<T, W>;
  using At = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  using Places = Packet<At, W>;
  static constexpr T kHighest = std::is_floating_point_v<T> ? T(__builtin_inf()) : std::numeric_limits<T>::max();

  /// Sorts `rows` <= W contiguous rows of n numbers.
  static BURLAB_WIDE void sort(T* out, const T* x, Int rows, Int n) {
    alignas(64) T lanes[kNetwork * W];
    Int nans[W] = {};
    BURLAB_ONE_BY_ONE
    for (Int r = 0; r < W; ++r) {
      const T* row = x + (r < rows ? r : 0) * n;
      for (Int k = 0; k < n; ++k) {
        const bool number = row[k] == row[k];
        nans[r] += !number;
        lanes[k * W + r] = number ? row[k] : kHighest;
      }
    }
    for_network(n, [&](Int i, Int j) {
      P low, high;
      load(low, lanes + i * W);
      load(high, lanes + j * W);
      const P least = high < low ? high : low;
      store(lanes + j * W, low > high ? low : high);
      store(lanes + i * W, least);
    });
    BURLAB_ONE_BY_ONE
    for (Int r = 0; r < rows; ++r) {
      T* row = out + r * n;
      for (Int k = 0; k < n - nans[r]; ++k) row[k] = lanes[k * W + r];
      if constexpr (std::is_floating_point_v<T>)
        for (Int k = n - nans[r]; k < n; ++k) row[k] = T(__builtin_nan(""));
    }
  }

  /// The positions that sort such rows; equal numbers keep their order, and NaNs come after infinities.
  static BURLAB_WIDE void argsort(Int* out, const T* x, Int rows, Int n) {
    alignas(64) T lanes[kNetwork * W];
    alignas(64) At places[kNetwork * W];
    BURLAB_ONE_BY_ONE
    for (Int r = 0; r < W; ++r) {
      const T* row = x + (r < rows ? r : 0) * n;
      for (Int k = 0; k < n; ++k) {
        const bool number = row[k] == row[k];
        lanes[k * W + r] = number ? row[k] : kHighest;
        places[k * W + r] = static_cast<At>(number ? k : k + kNetwork);
      }
    }
    for_network(n, [&](Int i, Int j) {
      P low, high;
      Places low_at, high_at;
      load(low, lanes + i * W);
      load(high, lanes + j * W);
      load(low_at, places + i * W);
      load(high_at, places + j * W);
      const auto turned = (high < low) | ((high == low) & (high_at < low_at));
      store(lanes + i * W, turned ? high : low);
      store(lanes + j * W, turned ? low : high);
      store(places + i * W, turned ? high_at : low_at);
      store(places + j * W, turned ? low_at : high_at);
    });
    BURLAB_ONE_BY_ONE
    for (Int r = 0; r < rows; ++r)
      for (Int k = 0; k < n; ++k) out[r * n + k] = places[k * W + r] & (kNetwork - 1);
  }
};

}  // namespace burlab::kernels
BURLAB_END
