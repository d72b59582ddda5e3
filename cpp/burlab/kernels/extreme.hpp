#pragma once
// Largest and smallest values over axes, and where they are. nan wins, as in NumPy; masks count as 0 and 1.
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Whether x takes the place of the best so far: strictly better, or the first nan.
template <bool Largest, class T> BURLAB_INLINE bool beats(T x, T best) {
  return (Largest ? x > best : x < best) || (x != x && best == best);
}

/// Each of m results is the extreme value of l rows of n numbers, of which there are some.
/// Descriptor: m and its stride, l and its stride, n and its stride, whether out holds values that take part; dense
/// results.
template <class T, bool Largest> struct Extreme {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    T* y = static_cast<T*>(out);
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d[0]; ++i) {
      const T* x = static_cast<const T*>(a) + i * d[1];
      T best = d[6] != 0 ? y[i] : *x;
      BURLAB_ONE_BY_ONE
      for (Int row = 0; row < d[2]; ++row) {
        BURLAB_ONE_BY_ONE
        for (Int j = 0; j < d[4]; ++j) {
          const T next = x[row * d[3] + j * d[5]];
          best = beats<Largest>(next, best) ? next : best;
        }
      }
      y[i] = best;
    }
    return Ok;
  }
};

/// The position of the first extreme value of each of m rows of n numbers.
/// Descriptor: m and its stride, n and its stride; results are dense.
template <class T, bool Largest> struct Where {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    Int* y = static_cast<Int*>(out);
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d[0]; ++i) {
      const T* x = static_cast<const T*>(a) + i * d[1];
      Int best = 0;
      BURLAB_ONE_BY_ONE
      for (Int j = 1; j < d[2]; ++j) best = beats<Largest>(x[j * d[3]], x[best * d[3]]) ? j : best;
      y[i] = best;
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
