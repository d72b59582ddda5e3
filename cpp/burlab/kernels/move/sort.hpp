#pragma once
// Sorting along rows: values, or their positions. NaNs come last, as in NumPy.
#include <algorithm>
#include <cmath>

#include "network.hpp"
#include "order.hpp"
#include "split.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Copies a row to y, with its NaNs after all numbers, and returns the count of numbers.
template <class T> inline Int nans_last(const T* x, Int n, T* y) {
  Int count = 0;
  for (Int k = 0; k < n; ++k) count += x[k] == x[k];
  if (count == n) {
    std::memmove(y, x, static_cast<std::size_t>(n) * sizeof(T));
    return n;
  }
  Int numbers = 0, nans = count;
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < n; ++k) y[x[k] == x[k] ? numbers++ : nans++] = x[k];
  return count;
}

/// Return true if rows are sorted together in lanes. A single row is faster alone.
template <class T> BURLAB_INLINE bool side_by_side(Int rows, Int n) {
  return sizeof(T) >= 4 && rows > 1 && n > 1 && n <= kNetwork;
}

/// Moves -0 before 0 in a sorted row.
template <class T> BURLAB_INLINE void zeros_in_order(T* y, Int n) {
  if constexpr (std::is_floating_point_v<T>) {
    T* const begin = std::lower_bound(y, y + n, T(0));
    T* const end = std::upper_bound(begin, y + n, T(0));
    Int negative = 0;
    for (const T* at = begin; at < end; ++at) negative += std::signbit(*at);
    for (T* at = begin; at < end; ++at) *at = at - begin < negative ? T(-0.0) : T(0);
  }
}

/// Rows in order. Descriptor: number of rows, length of a row; both arrays dense.
template <class T> struct Sort {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int rows = d[0], n = d[1];
    const bool together = side_by_side<T>(rows, n);
    StopCheck stop;
    if constexpr (sizeof(T) >= 4) {
      constexpr Int W = Network<T>::W;
      BURLAB_ONE_BY_ONE
      for (Int i = 0; together && i < rows; i += W) {
        const Int count = rows - i < W ? rows - i : W;
        if (stop.after(count * n)) return Stopped;
        Network<T>::sort(static_cast<T*>(out) + i * n, static_cast<const T*>(a) + i * n, count, n);
      }
    }
    if (together) return Ok;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < rows; ++i) {
      if (stop.after(n)) return Stopped;
      T* y = static_cast<T*>(out) + i * n;
      const Int count = nans_last(static_cast<const T*>(a) + i * n, n, y);
      if (n <= kShort) few(y, count);
      else if (const Status status = many(y, count, stop); status != Ok) return status;
    }
    return Ok;
  }

  static void few(T* y, Int n) {
    T x[kShort];
    Int before[kShort];
    std::memcpy(x, y, static_cast<std::size_t>(n) * sizeof(T));
    count_before(x, n, before);
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < n; ++k) y[before[k]] = x[k];
  }

  static Status many(T* y, Int n, StopCheck& stop) {
#if defined(BURLAB_AVX2)
    if constexpr (sizeof(T) >= 4) {
      const Status status = sort_by_splits(y, n, stop);
      if (status == Ok) zeros_in_order(y, n);
      return status;
    }
#endif
    return sort_by_digits(y, n, stop);
  }
};

/// The positions that sort rows; equal values keep their order. Descriptor: as above.
template <class T> struct Argsort {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int rows = d[0], n = d[1];
    const bool together = side_by_side<T>(rows, n);
    const Scratch<Placed<SortKey<T>>> items(n > kShort && !together ? 2 * n : 0);
    if (items.data == nullptr) return OutOfMemory;
    StopCheck stop;
    if constexpr (sizeof(T) >= 4) {
      constexpr Int W = Network<T>::W;
      BURLAB_ONE_BY_ONE
      for (Int i = 0; together && i < rows; i += W) {
        const Int count = rows - i < W ? rows - i : W;
        if (stop.after(count * n)) return Stopped;
        Network<T>::argsort(static_cast<Int*>(out) + i * n, static_cast<const T*>(a) + i * n, count, n);
      }
    }
    if (together) return Ok;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < rows; ++i) {
      if (stop.after(n)) return Stopped;
      const T* x = static_cast<const T*>(a) + i * n;
      Int* y = static_cast<Int*>(out) + i * n;
      if (n <= kShort) few(x, n, y);
      else if (many(x, n, y, items.data, stop) != Ok) return Stopped;
    }
    return Ok;
  }

  static void few(const T* x, Int n, Int* y) {
    T numbers[kShort];
    Int before[kShort], at[kShort], count = 0, nans = n;
    BURLAB_ONE_BY_ONE
    for (Int k = n; k-- > 0;)
      if (x[k] != x[k]) y[--nans] = k;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < n; ++k)
      if (x[k] == x[k]) numbers[count] = x[k], at[count++] = k;
    count_before(numbers, count, before);
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < count; ++k) y[before[k]] = at[k];
  }

  /// 0 and -0 are equal.
  static Status many(const T* x, Int n, Int* y, Placed<SortKey<T>>* items, StopCheck& stop) {
    Int count = 0, nans = n;
    BURLAB_ONE_BY_ONE
    for (Int k = n; k-- > 0;)
      if (x[k] != x[k]) y[--nans] = k;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < n; ++k)
      if (x[k] == x[k]) items[count++] = {key_of(x[k] == T(0) ? T(0) : x[k]), k};
    if (DigitSort<Placed<SortKey<T>>>(items, items + count, count, stop).sort() != Ok) return Stopped;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < count; ++k) y[k] = items[k].at;
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
