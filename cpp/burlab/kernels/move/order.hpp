#pragma once
// Sorting a row: a short one by counting the values before each value, a long one by the leading digits of its numbers
// (Knuth 1998, section 5.2.5) and then by insertion, because nearly all numbers are then in place.
#include <bit>
#include <cstring>
#include <type_traits>

#include "../scratch.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

inline constexpr Int kShort = 48;  // values of a row for which counting takes less time than digits

template <int Size> struct UnsignedOf;
template <> struct UnsignedOf<1> {
  using Type = std::uint8_t;
};
template <> struct UnsignedOf<2> {
  using Type = std::uint16_t;
};
template <> struct UnsignedOf<4> {
  using Type = std::uint32_t;
};
template <> struct UnsignedOf<8> {
  using Type = std::uint64_t;
};
template <class T> using SortKey = typename UnsignedOf<sizeof(T)>::Type;

/// Bits in the order of the values. Bits of negative floats are inverted, and -0 is before 0.
template <class T> BURLAB_INLINE SortKey<T> key_of(T x) {
  using K = SortKey<T>;
  constexpr K sign = K(K(1) << (8 * sizeof(T) - 1));
  const K bits = __builtin_bit_cast(K, x);
  if constexpr (std::is_floating_point_v<T>) return bits ^ ((bits & sign) != 0 ? K(~K(0)) : sign);
  else if constexpr (std::is_signed_v<T>) return K(bits ^ sign);
  else return bits;
}
template <class T> BURLAB_INLINE T value_of(SortKey<T> key) {
  using K = SortKey<T>;
  constexpr K sign = K(K(1) << (8 * sizeof(T) - 1));
  if constexpr (std::is_floating_point_v<T>) return __builtin_bit_cast(T, key ^ ((key & sign) != 0 ? sign : K(~K(0))));
  else if constexpr (std::is_signed_v<T>) return __builtin_bit_cast(T, K(key ^ sign));
  else return __builtin_bit_cast(T, key);
}

/// A key and its original position.
template <class K> struct Placed {
  K key;
  Int at;
};
template <class K> BURLAB_INLINE K key_in(K key) { return key; }
template <class K> BURLAB_INLINE K key_in(const Placed<K>& item) { return item.key; }

/// The number of values before each value; equal values keep their order. No NaNs.
template <class T> BURLAB_INLINE void count_before(const T* x, Int n, Int* before) {
  for (Int i = 0; i < n; ++i) before[i] = 0;
  BURLAB_ONE_BY_ONE
  for (Int j = 0; j < n; ++j) {
    const T y = x[j];
    for (Int i = 0; i < j; ++i) before[i] += y < x[i];
    for (Int i = j + 1; i < n; ++i) before[i] += y <= x[i];
  }
}

/// Items of two rows, in the order of some digits of their keys; `items` has them in the end.
template <class Item> class DigitSort {
  using K = decltype(key_in(Item()));

 public:
  DigitSort(Item* items, Item* spare, Int n, StopCheck& stop) : items_(items), spare_(spare), n_(n), stop_(stop) {}

  /// Equal keys keep their order. Stopped if a halt was requested.
  Status sort() {
    K low = key_in(items_[0]), high = low;
    for (Int k = 1; k < n_; ++k) {
      const K key = key_in(items_[k]);
      low = key < low ? key : low;
      high = key > high ? key : high;
    }
    low_ = low;
    width_ = int(std::bit_width(K(high - low)));
    digit_ = n_ < 2048 ? 8 : 11;
    const int few = n_ < 2048 || n_ > 32768 ? 3 : 2, rest = width_ - few * digit_;
    if (rest <= 0) return by_digits(0);
    if (const Status status = by_digits(rest); status != Ok || by_insertion(8 * n_)) return status;
    return by_digits(0);
  }

 private:
  /// Sort by the digits from this bit on, the last one first.
  Status by_digits(int begin) {
    Item *from = items_, *to = spare_;
    BURLAB_ONE_BY_ONE
    for (int shift = begin; shift < width_; shift += digit_) {
      if (stop_.after(2 * n_)) return Stopped;
      Int begins[2048];
      std::memset(begins, 0, sizeof(Int) << digit_);
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < n_; ++k) ++begins[digit(from[k], shift)];
      Int total = 0;
      BURLAB_ONE_BY_ONE
      for (Int d = 0; d < Int(1) << digit_; ++d) {
        const Int count = begins[d];
        begins[d] = total;
        total += count;
      }
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < n_; ++k) to[begins[digit(from[k], shift)]++] = from[k];
      Item* other = from;
      from = to;
      to = other;
    }
    if (from != items_) std::memcpy(items_, from, static_cast<std::size_t>(n_) * sizeof(Item));
    return Ok;
  }

  BURLAB_INLINE std::size_t digit(const Item& item, int shift) const {
    return std::size_t(K(key_in(item) - low_) >> shift) & ((std::size_t(1) << digit_) - 1);
  }

  /// Return true if this many moves were enough: numbers that share their leading digits with many others need more.
  bool by_insertion(Int moves) const {
    BURLAB_ONE_BY_ONE
    for (Int k = 1; k < n_; ++k) {
      const Item item = items_[k];
      Int to = k;
      BURLAB_ONE_BY_ONE
      for (; to > 0 && key_in(item) < key_in(items_[to - 1]); --to) items_[to] = items_[to - 1];
      items_[to] = item;
      if ((moves -= k - to) < 0) return false;
    }
    return true;
  }

  Item *const items_, *const spare_;
  const Int n_;
  StopCheck& stop_;
  K low_ = 0;
  int width_ = 0, digit_ = 0;
};

/// Sorts numbers, of which none is NaN.
template <class T> Status sort_by_digits(T* y, Int n, StopCheck& stop) {
  using K = SortKey<T>;
  const Scratch<K> scratch(2 * n);
  K* const keys = scratch.data;
  if (keys == nullptr) return OutOfMemory;
  for (Int k = 0; k < n; ++k) keys[k] = key_of(y[k]);
  if (DigitSort<K>(keys, keys + n, n, stop).sort() != Ok) return Stopped;
  for (Int k = 0; k < n; ++k) y[k] = value_of<T>(keys[k]);
  return Ok;
}

}  // namespace burlab::kernels
BURLAB_END
