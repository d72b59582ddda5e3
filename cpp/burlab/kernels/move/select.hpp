#pragma once
// The number at one place of a row in order, without sorting the row (Floyd and Rivest 1975): two numbers of a sample
// enclose it, and one walk collects the few numbers between these. A row in which that fails, because most numbers are
// equal or the sample misleads, is narrowed down by the leading digits of its numbers.
#include "sort.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// A number of a row. less: how many are smaller; equal: how many are equal, this one too. NaNs are the largest.
template <class T> struct Chosen {
  T value;
  Int less, equal;
};

template <class T> BURLAB_INLINE bool is_nan(T x) { return x != x; }

/// The numbers of a row that lie from `low` to `high`, in order of their places, and how many are smaller.
template <class T> struct Middle {
  T low, high;
  T* kept;   // a register more than `most`
  Int most;  // beyond, the walk ends early
  Int less = 0, count = 0;

  BURLAB_INLINE void put(T x) {
    const bool below = x < low;
    kept[count] = x;
    less += below;
    count += !below & (x <= high);
  }

  BURLAB_WIDE void collect(const T* x, Int n) {
    Int k = 0;
#if defined(BURLAB_AVX512)
    if constexpr (sizeof(T) >= 4) {
      constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
      BURLAB_ONE_BY_ONE
      for (; k + W <= n && count <= most - W; k += W) {
        Packet<T, W> some;
        load(some, x + k);
        const std::uint64_t below = lanes_where<W>(some < low), within = lanes_where<W>(some <= high) & ~below;
        less += __builtin_popcountll(below);
        if (within != 0) {
          const int lanes = __builtin_popcountll(within);
          part_lanes<T>(some, within, lanes);
          store(kept + count, some);
          count += lanes;
        }
      }
    }
#endif
    BURLAB_ONE_BY_ONE
    for (; k < n && count < most; ++k) put(x[k]);
    ended = k == n;
  }
  bool ended = false;
};

/// Selects from rows.
template <class T> class Selection {
  using Limits = std::numeric_limits<T>;
  static constexpr T kLowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr T kHighest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr Int kMaxSorted = 512, kSample = 4096, kRegister = 64 / Int(sizeof(T));

 public:
  /// spare: memory, see `spare_for`.
  Selection(StopCheck& stop, T* spare) : stop_(stop), spare_(spare) {}

  T* spare() const { return spare_; }

  /// Numbers of memory that a row needs.
  static Int spare_for(Int n) { return n + 2 * kRegister; }

  /// What is at this place of a row in order.
  Status at(const T* x, Int n, Int place, Chosen<T>& found) {
    T* const spare = spare_;
    Int before = 0, size = n;
    const T* row = x;
    BURLAB_ONE_BY_ONE
    while (sizeof(T) >= 4 && size > kMaxSorted) {
      if (stop_.after(size)) return Stopped;
      T* const kept = row == spare ? spare + n / 2 + kRegister : spare;  // what is read stays, in case this fails
      Middle<T> middle{kLowest, kHighest, kept, size / 2};
      if (!enclose(row, size, place - before, middle)) break;
      middle.collect(row, size);
      const Int from = before + middle.less;
      if (!middle.ended || place < from || place >= from + middle.count) break;
      before = from;
      row = kept;
      size = middle.count;
      if (middle.low == middle.high) {
        found = {middle.low, before, size};
        return Ok;
      }
    }
    if (row == x) return slowly(x, n, place, found);
    // the numbers that are left are none of them NaN, and hold all that equal the wanted one
    T* const rest = row == spare ? spare : spare + n / 2 + kRegister;
    if (const Status status = narrow(rest, size, place - before, found); status != Ok) return status;
    found.less += before;
    return Ok;
  }

 private:
  /// Bounds that enclose a place, nearly always, by a sample; false where a sample does not help.
  bool enclose(const T* x, Int n, Int place, Middle<T>& middle) {
    const Int size = std::min<Int>(n / 8, kSample);  // n is above `kMaxSorted`
    T* const sample = sample_;
    Int numbers = 0;
    std::uint64_t state = 0x9E3779B97F4A7C15u;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < size; ++k) {  // one of each stretch, so that rows that rise or repeat are no worse
      const Int first = n / size * k, length = n / size;
      state = state * 6364136223846793005u + 1442695040888963407u;
      const T one = x[first + Int((state >> 33) * std::uint64_t(length) >> 31)];
      sample[numbers] = one;
      numbers += !is_nan(one);
    }
    if (numbers < size) return false;
    if (size <= kShort) Sort<T>::few(sample, size);
    else if (Sort<T>::many(sample, size, stop_) != Ok) return false;
    const double share = double(place) / double(n);
    const double middle_place = share * double(size);
    const double reach = 3.0 * std::sqrt(share * (1.0 - share) * double(size)) + 2.0;
    const Int low = Int(std::floor(middle_place - reach)) - 1, high = Int(middle_place + reach) + 1;
    if (low >= 0) middle.low = sample[low];
    if (high < size) middle.high = sample[high];
    return true;
  }

  Status slowly(const T* x, Int n, Int place, Chosen<T>& found) {
    T* const spare = spare_;
    const Int numbers = nans_last(x, n, spare);
    if (place >= numbers) {
      found = {spare[n - 1], numbers, n - numbers};
      return Ok;
    }
    return narrow(spare, numbers, place, found);
  }

  /// Among numbers, by their leading digits; they are overwritten.
  Status narrow(T* x, Int n, Int place, Chosen<T>& found) {
    using K = SortKey<T>;
    constexpr int kDigit = sizeof(T) == 1 ? 8 : 11;
    Int less = 0;
    BURLAB_ONE_BY_ONE
    while (n > kMaxSorted) {
      if (stop_.after(2 * n)) return Stopped;
      K low = key(x[0]), high = low;
      for (Int k = 1; k < n; ++k) {
        const K one = key(x[k]);
        low = one < low ? one : low;
        high = one > high ? one : high;
      }
      if (low == high) break;
      const int shift = std::max(int(std::bit_width(K(high - low))) - kDigit, 0);
      Int counts[1 << kDigit] = {};
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < n; ++k) ++counts[std::size_t(K(key(x[k]) - low) >> shift)];
      std::size_t digit = 0;
      BURLAB_ONE_BY_ONE
      for (; place >= counts[digit]; ++digit) less += counts[digit], place -= counts[digit];
      Int kept = 0;
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < n; ++k) {
        const T one = x[k];
        x[kept] = one;
        kept += std::size_t(K(key(one) - low) >> shift) == digit;
      }
      n = kept;
    }
    return finish(x, n, place, less, found);
  }

  /// Among few numbers, or equal ones.
  Status finish(T* x, Int n, Int place, Int less, Chosen<T>& found) {
    T value = x[0];
    if (n <= kMaxSorted) {
      T sorted[kMaxSorted];
      std::memcpy(sorted, x, static_cast<std::size_t>(n) * sizeof(T));
      if (n <= kShort) Sort<T>::few(sorted, n);
      else if (const Status status = Sort<T>::many(sorted, n, stop_); status != Ok) return status;
      value = sorted[place];
    }
    Int below = 0, equal = 0;
    for (Int k = 0; k < n; ++k) below += x[k] < value, equal += x[k] == value;
    found = {value, less + below, equal};
    return Ok;
  }

  static BURLAB_INLINE SortKey<T> key(T x) { return key_of(x == T(0) ? T(0) : x); }

  StopCheck& stop_;
  T* const spare_;
  T sample_[kSample];
};

}  // namespace burlab::kernels
BURLAB_END
