#pragma once
// The number at one place of a row in order, without sorting the row (Floyd and Rivest 1975): two numbers of a sample
// enclose it, and one walk collects the few numbers between these. If many are, as where most numbers are equal, those
// are counted that are less than or equal to one of the sample. What is left is split by pivots (Hoare 1961), or
// narrowed down by the leading digits of its numbers.
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
  bool ended = false;

  BURLAB_WIDE void collect(const T* x, Int n) {
    const T least = low, largest = high;
    T* const to = kept;
    Int k = 0, below = 0, within = 0;  // not in memory, which `to` might be
#if defined(BURLAB_AVX2)
    if constexpr (sizeof(T) >= 4) {
      constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
      const Int last = most - W;
      BURLAB_ONE_BY_ONE
      for (; k + W <= n && within <= last; k += W) {
        Packet<T, W> some;
        load(some, x + k);
        const std::uint64_t under = lanes_where<W>(some < least), in = lanes_where<W>(some <= largest) & ~under;
        below += __builtin_popcountll(under);
        if (W < 16 || in != 0) {  // few lanes are within now and then: what a processor cannot foresee
          const int lanes = __builtin_popcountll(in);
          part_lanes<T>(some, in, lanes);
          store(to + within, some);
          within += lanes;
        }
      }
    }
#endif
    BURLAB_ONE_BY_ONE
    for (; k < n && within < most; ++k) {
      const T one = x[k];
      const bool under = one < least;
      to[within] = one;
      below += under;
      within += !under & (one <= largest);
    }
    less = below;
    count = within;
    ended = k == n;
  }
};

/// How many numbers of a row are less than a number, and how many equal it.
template <class T> struct Counts {
  Int less = 0, equal = 0;

  BURLAB_WIDE Counts(const T* x, Int n, T value) {
    using Lanes = Packet<std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>, kLanes>;
    Int k = 0;
    if constexpr (sizeof(T) >= 4) {
      BURLAB_ONE_BY_ONE
      while (k + kLanes <= n) {
        const Int end = std::min(n, k + (Int(1) << 24));
        Lanes below = {}, same = {};
        BURLAB_ONE_BY_ONE
        for (; k + kLanes <= end; k += kLanes) {
          Packet<T, kLanes> some;
          load(some, x + k);
          below -= some < value;
          same -= some == value;
        }
        for (int lane = 0; lane < kLanes; ++lane) less += below[lane], equal += same[lane];
      }
    }
    BURLAB_ONE_BY_ONE
    for (; k < n; ++k) less += x[k] < value, equal += x[k] == value;
  }

 private:
  static constexpr int kLanes = BURLAB_REGISTER / static_cast<int>(sizeof(T));
};

/// Selects from rows.
template <class T> class Selection {
  using Limits = std::numeric_limits<T>;
  static constexpr T kLowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr T kHighest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr Int kMaxSorted = 512, kSample = 4096, kRegister = 64 / Int(sizeof(T));
#if defined(BURLAB_AVX2)
  static constexpr bool kSplits = sizeof(T) >= 4;
#else
  static constexpr bool kSplits = false;
#endif
  static constexpr Int kMaxSplit = kSplits ? 65536 : kMaxSorted;  // numbers that a sample is not worth its time for
  static constexpr Int kStretch = kSplits ? 64 : 8;               // numbers of a long row for one of its sample

 public:
  /// spare: memory, see `spare_for`.
  Selection(StopCheck& stop, T* spare) : stop_(stop), spare_(spare) {}

  T* spare() const { return spare_; }

  /// Numbers of memory that a row needs.
  static Int spare_for(Int n) { return n + 2 * kRegister; }

  /// What is at this place of a row in order.
  Status at(const T* x, Int n, Int place, Chosen<T>& found) {
    if (sizeof(T) >= 4 && n > kMaxSplit) {
      if (stop_.after(n)) return Stopped;
      Middle<T> middle{kLowest, kHighest, spare_, n / 2};
      T pivot;
      switch (enclose(x, n, place, middle, pivot)) {
        case Enclosed::nothing:
          break;
        case Enclosed::few:
          middle.collect(x, n);
          break;
        case Enclosed::many: {
          const Counts<T> counts(x, n, pivot);
          const bool above = place >= counts.less + counts.equal;
          if (place >= counts.less && !above) {
            found = {pivot, counts.less, counts.equal};
            return Ok;
          }
          (above ? middle.low : middle.high) = next_to(pivot, above);
          (above ? middle.high : middle.low) = above ? kHighest : kLowest;
          middle.most = n + kRegister;
          middle.collect(x, n);
        }
      }
      const Int from = middle.less;
      // the numbers that are left are none of them NaN, and hold all that equal the wanted one
      if (middle.ended && place >= from && place < from + middle.count) {
        if (const Status status = narrow(spare_, middle.count, place - from, found); status != Ok) return status;
        found.less += from;
        return Ok;
      }
    }
    const Int numbers = nans_last(x, n, spare_);
    if (place >= numbers) {
      found = {spare_[n - 1], numbers, n - numbers};
      return Ok;
    }
    return narrow(spare_, numbers, place, found);
  }

 private:
  /// What lies between two numbers of a sample.
  enum class Enclosed { nothing, few, many };

  /// Bounds that enclose a place, nearly always, by a sample: few numbers of the row, or many, with one that is near
  /// the place. Nothing if there are NaNs.
  Enclosed enclose(const T* x, Int n, Int place, Middle<T>& middle, T& pivot) {
    const Int size = std::min<Int>(n / kStretch, kSample);
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
    if (numbers < size || Sort<T>::many(sample, size, stop_) != Ok) return Enclosed::nothing;
    const double share = double(place) / double(n);
    const double middle_place = share * double(size);
    const double reach = 3.0 * std::sqrt(share * (1.0 - share) * double(size)) + 2.0;
    const Int low = Int(std::floor(middle_place - reach)) - 1, high = Int(middle_place + reach) + 1;
    if (low >= 0) middle.low = sample[low];
    if (high < size) middle.high = sample[high];
    const T *const begin = std::lower_bound(sample, sample + size, middle.low),
                   *const end = std::upper_bound(begin, static_cast<const T*>(sample + size), middle.high);
    pivot = sample[Int(middle_place)];
    return 8 * (end - begin) <= 3 * size ? Enclosed::few : Enclosed::many;
  }

  /// The nearest number above or below one.
  static T next_to(T x, bool above) {
    if constexpr (std::is_floating_point_v<T>) return std::nextafter(x, above ? kHighest : kLowest);
    else return static_cast<T>(above ? x + 1 : x - 1);
  }

  /// Among numbers, which are overwritten.
  Status narrow(T* x, Int n, Int place, Chosen<T>& found) {
    if constexpr (kSplits) return by_splits(x, n, place, found);
    else return by_digits(x, n, place, 0, found);
  }

#if defined(BURLAB_AVX2)
  using Few = Block<T, 8>;  // `split` takes more

  /// By pivots; a row in which these are bad too often, which only happens in adversarial rows, by digits.
  Status by_splits(T* x, Int n, Int place, Chosen<T>& found) {
    Int less = 0;
    int left = 2 * int(std::bit_width(static_cast<std::uint64_t>(n)));
    BURLAB_ONE_BY_ONE
    while (n > Few::kSize) {
      if (left-- == 0) return by_digits(x, n, place, less, found);
      if (stop_.after(n)) return Stopped;
      const T pivot = pivot_of(x, n);
      Int below = split<false>(x, n, pivot);
      if (below == 0) {  // it is the least number
        below = split<true>(x, n, pivot);
        if (place < below) {
          found = {pivot, less, below};
          return Ok;
        }
      }
      if (place < below) {
        n = below;
      } else {
        x += below;
        n -= below;
        place -= below;
        less += below;
      }
    }
    Few::sort(x, n);
    const Counts<T> counts(x, n, x[place]);
    found = {x[place], less + counts.less, counts.equal};
    return Ok;
  }
#endif

  /// By their leading digits. less: how many others are smaller.
  Status by_digits(T* x, Int n, Int place, Int less, Chosen<T>& found) {
    using K = SortKey<T>;
    constexpr int kDigit = sizeof(T) == 1 ? 8 : 11;
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
    T value = x[0];  // one of few numbers, or of equal ones
    if (n <= kMaxSorted) {
      T sorted[kMaxSorted];
      std::memcpy(sorted, x, static_cast<std::size_t>(n) * sizeof(T));
      if (n <= kShort) Sort<T>::few(sorted, n);
      else if (const Status status = Sort<T>::many(sorted, n, stop_); status != Ok) return status;
      value = sorted[place];
    }
    const Counts<T> counts(x, n, value);
    found = {value, less + counts.less, counts.equal};
    return Ok;
  }

  static BURLAB_INLINE SortKey<T> key(T x) { return key_of(x == T(0) ? T(0) : x); }

  StopCheck& stop_;
  T* const spare_;
  T sample_[kSample];
};

}  // namespace burlab::kernels
BURLAB_END
