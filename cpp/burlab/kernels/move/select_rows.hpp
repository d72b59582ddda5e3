#pragma once
// Kernels of selection: what rows in order have at some places, its positions, rows in parts, the largest entries.
#include "select.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Numbers that a walk writes one after another, up to an end.
template <class Y> struct Run {
  Y *at, *end;

#if defined(BURLAB_AVX2)
  /// The lanes of a packet that are set.
  template <int W> BURLAB_INLINE void put(const Packet<Y, W>& packet, std::uint64_t set) {
    const int lanes = __builtin_popcountll(set);
    Packet<Y, W> some = packet;
    if (W < 16 || lanes != W) part_lanes<Y>(some, set, lanes);
    if (end - at >= W) store(at, some);
    else std::memcpy(at, &some, std::size_t(lanes) * sizeof(Y));
    at += lanes;
  }
#endif
};

/// A row, or the positions of its numbers, in three parts in their order: less than a number, equal to it, others.
template <bool Positions, class T, class Y>
BURLAB_WIDE inline void in_parts(const T* x, Int n, const Chosen<T>& about, Y* y) {
  const T value = about.value;
  if (about.equal == n) {  // all are alike
    for (Int k = 0; k < n; ++k) y[k] = Positions ? Y(k) : Y(x[k]);
    return;
  }
  Run<Y> less{y, y + about.less}, equal{less.end, less.end + about.equal}, others{equal.end, y + n};
  // zeros have signs, and NaNs bits of their own
  const bool alike = !Positions && (std::is_integral_v<T> || (value != T(0) && !is_nan(value)));
  Int k = 0;
#if defined(BURLAB_AVX2)
  if constexpr (sizeof(T) >= 4) {
    constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
    constexpr std::uint64_t kAll = (std::uint64_t(1) << W) - 1;
    constexpr int kPart = BURLAB_REGISTER / 8;
    Packet<Int, kPart> numbers;
    for (int lane = 0; lane < kPart; ++lane) numbers[lane] = lane;
    BURLAB_ONE_BY_ONE
    for (; !is_nan(value) && k + W <= n; k += W) {
      Packet<T, W> some;
      load(some, x + k);
      const std::uint64_t below = lanes_where<W>(some < value), same = lanes_where<W>(some == value);
      const std::uint64_t rest = kAll & ~(below | same);
      if constexpr (Positions) {
        BURLAB_UNROLL
        for (int part = 0; part < W; part += kPart) {
          constexpr std::uint64_t kPartLanes = (1u << kPart) - 1;
          less.template put<kPart>(numbers, below >> part & kPartLanes);
          if (same != 0) equal.template put<kPart>(numbers, same >> part & kPartLanes);
          others.template put<kPart>(numbers, rest >> part & kPartLanes);
          numbers += kPart;
        }
      } else {
        less.template put<W>(some, below);
        if (!alike && same != 0) equal.template put<W>(some, same);
        others.template put<W>(some, rest);
      }
    }
  }
#endif
  BURLAB_ONE_BY_ONE
  for (; k < n; ++k) {
    const T one = x[k];
    const bool nan = is_nan(value), below = nan ? !is_nan(one) : one < value, same = nan ? is_nan(one) : one == value;
    const Y item = Positions ? Y(k) : Y(one);
    if (below) *less.at++ = item;
    else if (!same) *others.at++ = item;
    else if (!alike) *equal.at++ = item;
  }
  if constexpr (!Positions)
    if (alike) std::fill(equal.at, equal.end, value);
}

/// The least number of a row above a value; NaN if there is none.
template <class T> BURLAB_WIDE inline T least_above(const T* x, Int n, T value) {
  using Limits = std::numeric_limits<T>;
  T least = Limits::has_infinity ? Limits::infinity() : Limits::max();
  bool any = false;
  Int k = 0;
  if constexpr (sizeof(T) >= 4) {
    constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
    using P = Packet<T, W>;
    P best = P{} + least;
    decltype(best < best) found{};
    BURLAB_ONE_BY_ONE
    for (; k + W <= n; k += W) {
      P some;
      load(some, x + k);
      const auto above = some > value;
      found |= above;
      best = (above & (some < best)) ? some : best;
    }
    for (int lane = 0; lane < W; ++lane) {
      any |= found[lane] != 0;
      least = best[lane] < least ? T(best[lane]) : least;
    }
  }
  BURLAB_ONE_BY_ONE
  for (; k < n; ++k) {
    const bool above = x[k] > value;
    any |= above;
    least = above && x[k] < least ? x[k] : least;
  }
  if constexpr (Limits::has_quiet_NaN) return any ? least : Limits::quiet_NaN();
  return least;
}

/// The largest number of a row; NaN if one is.
template <class T> BURLAB_WIDE inline T largest_of(const T* x, Int n) {
  T largest = x[0];
  Int k = 0;
  if constexpr (sizeof(T) >= 4) {
    constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
    using P = Packet<T, W>;
    P best = P{} + x[0];
    BURLAB_ONE_BY_ONE
    for (; k + W <= n; k += W) {
      P some;
      load(some, x + k);
      best = (((some > best) | (some != some)) & (best == best)) ? some : best;
    }
    for (int lane = 0; lane < W; ++lane) {
      const T one = best[lane];
      if (!is_nan(largest) && (is_nan(one) || one > largest)) largest = one;
    }
  }
  BURLAB_ONE_BY_ONE
  for (; k < n; ++k)
    if (!is_nan(largest) && (is_nan(x[k]) || x[k] > largest)) largest = x[k];
  return largest;
}

/// The zero at a place of a row in order, where -0 comes before 0.
template <class T> T zero_at(const T* x, Int n, Int place) {
  Int before = 0;
  for (Int k = 0; k < n; ++k) before += x[k] < T(0) || (x[k] == T(0) && std::signbit(double(x[k])));
  return place < before ? T(-0.0) : T(0);
}

/// A walk over rows. Descriptor: number of rows, length of a row; both arrays dense. width: numbers of a row of the
/// result.
template <class T, class Y, class Each>
Status each_row(const Int* d, void* out, const void* a, Int width, const Each& each) {
  const Int rows = d[0], n = d[1];
  const Scratch<T> spare(Selection<T>::spare_for(n));
  if (spare.data == nullptr) return OutOfMemory;
  StopCheck stop;
  Selection<T> selection(stop, spare.data);
  BURLAB_ONE_BY_ONE
  for (Int i = 0; i < rows; ++i) {
    if (stop.after(n)) return Stopped;
    const Status status = each(selection, static_cast<const T*>(a) + i * n, static_cast<Y*>(out) + i * width);
    if (status != Ok) return status;
  }
  return Ok;
}

/// What rows in order have at some places. Descriptor: rows, length, number of places, the places, which rise.
template <class T> struct Kth {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int n = d[1], count = d[2];
    const Int* const places = d + 3;
    return each_row<T, T>(d, out, a, count, [=](Selection<T>& selection, const T* x, T* y) {
      Chosen<T> found{};
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < count; ++k) {
        const Int place = places[k], end = k > 0 ? found.less + found.equal : -1;
        if (place == end) found = {least_above(x, n, found.value), place, 1};
        else if (place > end && place == n - 1) found = {largest_of(x, n), place, 1};
        else if (place > end)
          if (const Status status = selection.at(x, n, place, found); status != Ok) return status;
        y[k] = found.value;
        if constexpr (std::is_floating_point_v<T>)
          if (found.value == T(0)) y[k] = zero_at(x, n, place);
      }
      return Ok;
    });
  }
};

/// The positions of what `Kth` finds; equal numbers keep their order.
template <class T> struct Argkth {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int n = d[1], count = d[2];
    const Int* const places = d + 3;
    return each_row<T, Int>(d, out, a, count, [=](Selection<T>& selection, const T* x, Int* y) {
      Chosen<T> found{};
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < count; ++k) {
        if (k == 0 || places[k] >= found.less + found.equal)
          if (const Status status = selection.at(x, n, places[k], found); status != Ok) return status;
        Int before = places[k] - found.less, at = 0;
        BURLAB_ONE_BY_ONE
        for (;; ++at)
          if ((x[at] == found.value || (is_nan(x[at]) && is_nan(found.value))) && before-- == 0) break;
        y[k] = at;
      }
      return Ok;
    });
  }
};

/// Rows in parts: for each place the numbers that are less than what belongs there, and then all that equal it, each
/// part in the order of the row; or their positions. Descriptor: as above.
template <bool Positions, class T> Status partition_rows(const Int* d, void* out, const void* a) {
  using Y = std::conditional_t<Positions, Int, T>;
  const Int n = d[1], count = d[2];
  const Int* const places = d + 3;
  return each_row<T, Y>(d, out, a, n, [=](Selection<T>& selection, const T* x, Y* y) {
    Chosen<T> found{};
    Int done = 0;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < count; ++k) {
      if (k > 0 && places[k] < found.less + found.equal) continue;
      if (const Status status = selection.at(x, n, places[k], found); status != Ok) return status;
      if (done == 0) {
        in_parts<Positions>(x, n, found, y);
      } else if constexpr (!Positions) {  // only what is larger than at the place before
        std::memcpy(selection.spare(), y + done, static_cast<std::size_t>(n - done) * sizeof(T));
        in_parts<false>(selection.spare(), n - done, Chosen<T>{found.value, found.less - done, found.equal}, y + done);
      } else {
        const Scratch<Int> from(n - done);
        if (from.data == nullptr) return OutOfMemory;
        std::memcpy(from.data, y + done, static_cast<std::size_t>(n - done) * sizeof(Int));
        T* const rest = selection.spare();
        for (Int i = 0; i < n - done; ++i) rest[i] = x[from.data[i]];
        in_parts<true>(rest, n - done, Chosen<T>{found.value, found.less - done, found.equal}, y + done);
        for (Int i = done; i < n; ++i) y[i] = from.data[y[i]];
      }
      done = found.less + found.equal;
    }
    return Ok;
  });
}

template <class T> struct Partition {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    return partition_rows<false, T>(d, out, a);
  }
};

template <class T> struct Argpartition {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    return partition_rows<true, T>(d, out, a);
  }
};

/// The positions of the largest numbers of rows, the largest first, of equal ones the first one first. Descriptor:
/// rows, length, how many.
template <class T> struct Argtop {
  using K = SortKey<T>;

  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int n = d[1], count = d[2];
    if (count == 0) return Ok;
    const Scratch<Placed<K>> items(2 * count);
    if (items.data == nullptr) return OutOfMemory;
    StopCheck stop;
    return each_row<T, Int>(d, out, a, count, [&](Selection<T>& selection, const T* x, Int* y) {
      Chosen<T> found{};
      if (const Status status = selection.at(x, n, n - count, found); status != Ok) return status;
      const Int equal = count - (n - found.less - found.equal);
      collect(x, n, found.value, equal, items.data);
      if (count <= kShort) {
        in_order(items.data, count, y);
        return Ok;
      }
      if (DigitSort<Placed<K>>(items.data, items.data + count, count, stop).sort() != Ok) return Stopped;
      for (Int k = 0; k < count; ++k) y[k] = items.data[k].at;
      return Ok;
    });
  }

  /// The positions of few items, in the order of their keys.
  static void in_order(const Placed<K>* items, Int n, Int* y) {
    K keys[kShort];
    Int before[kShort];
    for (Int k = 0; k < n; ++k) keys[k] = items[k].key;
    count_before(keys, n, before);
    for (Int k = 0; k < n; ++k) y[before[k]] = items[k].at;
  }

  /// All that are larger than a number, and some that equal it. Keys fall where numbers rise; those of NaNs are 0.
  static BURLAB_WIDE void collect(const T* x, Int n, T value, Int equal, Placed<K>* items) {
    Int kept = 0;
    const auto put = [&](Int k) {
      const T one = x[k];
      const bool same = one == value || (is_nan(one) && is_nan(value));
      if (!same && (one < value || (is_nan(value) && !is_nan(one)))) return;
      if (same && equal-- <= 0) return;
      items[kept++] = {is_nan(one) ? K(0) : K(~key_of(one == T(0) ? T(0) : one)), k};
    };
    Int k = 0;
    if constexpr (sizeof(T) >= 4) {
      constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
      constexpr std::uint64_t kAll = (std::uint64_t(1) << W) - 1;
      BURLAB_ONE_BY_ONE
      for (; k + 2 * W <= n; k += 2 * W) {
        Packet<T, W> some[2];
        std::memcpy(some, x + k, sizeof some);
        auto less = (some[0] < value) & (some[1] < value);
        if (equal <= 0) less = (some[0] <= value) & (some[1] <= value);
        if (BURLAB_LIKELY(lanes_where<W>(less) == kAll)) continue;
        BURLAB_UNROLL
        for (int part = 0; part < 2; ++part) {
          BURLAB_ONE_BY_ONE
          for (std::uint64_t left = kAll & ~lanes_where<W>(some[part] < value); left != 0; left &= left - 1)
            put(k + part * W + std::countr_zero(left));
        }
      }
    }
    BURLAB_ONE_BY_ONE
    for (; k < n; ++k) put(k);
  }
};

}  // namespace burlab::kernels
BURLAB_END
