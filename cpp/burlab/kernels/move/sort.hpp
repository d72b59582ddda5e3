#pragma once
// Sorting along rows: values, or their positions. NaNs come last, as in NumPy.
#include <bit>
#include <cstring>
#include <type_traits>

#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Whether a value comes before another.
template <class T> BURLAB_INLINE bool precedes(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x < y || (x == x && y != y);
  else return x < y;
}

/// Whether the value at a position comes before that at another; of equal ones the first.
template <class T> struct PrecedesAt {
  const T* values;
  BURLAB_INLINE bool operator()(Int i, Int j) const {
    return precedes(values[i], values[j]) || (!precedes(values[j], values[i]) && i < j);
  }
};

template <class T> struct Precedes {
  BURLAB_INLINE bool operator()(T x, T y) const { return precedes(x, y); }
};

/// Quicksort in place, without recursion; by heaps where parts shrink too slowly, so that n log n bounds the work.
template <class T, class Less> class Sorter {
 public:
  Sorter(const Less& less, StopCheck& stop) : less_(less), stop_(stop) {}

  /// Stopped where it was given up.
  Status sort(T* y, Int n) {
    Int budget = 4 * n * Int(std::bit_width(static_cast<std::uint64_t>(n)));
    Part waiting[64];  // the larger part waits, so the other one has at most half
    int count = 0;
    for (Part part{y, y + n};;) {
      while (part.end - part.begin > kFew) {
        const Int size = part.end - part.begin;
        if (stop_.after(size)) return Stopped;
        budget -= size;
        if (budget < 0) {
          if (!by_heap(part)) return Stopped;
          part.end = part.begin;
          break;
        }
        T* middle = split(part);
        const Part low{part.begin, middle}, high{middle, part.end};
        const bool low_waits = middle - part.begin > part.end - middle;
        waiting[count++] = low_waits ? low : high;
        part = low_waits ? high : low;
      }
      by_insertion(part);
      if (count == 0) return Ok;
      part = waiting[--count];
    }
  }

 private:
  struct Part {
    T *begin, *end;
  };
  static constexpr Int kFew = 24;

  /// Two parts that are not empty, of which no value of the second precedes one of the first; where the second begins.
  T* split(Part part) const {
    const T pivot = median(*part.begin, part.begin[(part.end - part.begin) / 2], part.end[-1]);
    T *i = part.begin, *j = part.end - 1;
    BURLAB_ONE_BY_ONE
    for (;; ++i, --j) {
      BURLAB_ONE_BY_ONE
      while (less_(*i, pivot)) ++i;
      BURLAB_ONE_BY_ONE
      while (less_(pivot, *j)) --j;
      if (i >= j) return j + 1;
      swap(*i, *j);
    }
  }

  T median(T a, T b, T c) const {
    if (less_(b, a)) swap(a, b);
    if (less_(c, b)) swap(b, c);
    return less_(b, a) ? a : b;
  }

  void by_insertion(Part part) const {
    BURLAB_ONE_BY_ONE
    for (T* k = part.begin; k < part.end; ++k) {
      const T value = *k;
      T* to = k;
      BURLAB_ONE_BY_ONE
      for (; to > part.begin && less_(value, to[-1]); --to) *to = to[-1];
      *to = value;
    }
  }

  /// Whether it came to the end.
  bool by_heap(Part part) const {
    const Int n = part.end - part.begin;
    BURLAB_ONE_BY_ONE
    for (Int k = n / 2; k-- > 0;) sink(part.begin, k, n);
    BURLAB_ONE_BY_ONE
    for (Int last = n; last-- > 1;) {
      if (stop_.after(16)) return false;
      swap(part.begin[0], part.begin[last]);
      sink(part.begin, 0, last);
    }
    return true;
  }

  /// Puts the value at k where no child of it in the heap comes after it.
  void sink(T* heap, Int k, Int n) const {
    const T value = heap[k];
    BURLAB_ONE_BY_ONE
    for (Int child; (child = 2 * k + 1) < n; k = child) {
      if (child + 1 < n && less_(heap[child], heap[child + 1])) ++child;
      if (!less_(value, heap[child])) break;
      heap[k] = heap[child];
    }
    heap[k] = value;
  }

  static void swap(T& x, T& y) {
    const T other = x;
    x = y;
    y = other;
  }

  const Less& less_;
  StopCheck& stop_;
};

/// Rows in order. Descriptor: number of rows, length of a row; both arrays dense.
template <class T> struct Sort {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int rows = d[0], n = d[1];
    std::memcpy(out, a, static_cast<std::size_t>(rows * n) * sizeof(T));
    StopCheck stop;
    const Precedes<T> less;
    Sorter<T, Precedes<T>> sorter(less, stop);
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < rows; ++i)
      if (stop.after(n) || sorter.sort(static_cast<T*>(out) + i * n, n) != Ok) return Stopped;
    return Ok;
  }
};

/// The positions that put rows in order. Descriptor: as above.
template <class T> struct Argsort {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int rows = d[0], n = d[1];
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < rows; ++i) {
      Int* y = static_cast<Int*>(out) + i * n;
      for (Int j = 0; j < n; ++j) y[j] = j;
      const PrecedesAt<T> less{static_cast<const T*>(a) + i * n};
      if (stop.after(n) || Sorter<Int, PrecedesAt<T>>(less, stop).sort(y, n) != Ok) return Stopped;
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
