#pragma once
// Largest and smallest values over axes, and where they are. nan wins, as in NumPy; masks count as 0 and 1.
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Whether x takes the place of the best so far: strictly better, or the first nan.
template <bool Largest, class T> BURLAB_INLINE bool beats(T x, T best) {
  return (Largest ? x > best : x < best) || (x != x && best == best);
}

/// The extreme value of each result's rows. Descriptor as that of Sum; no result is without elements.
template <class T, bool Largest> struct Extreme {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const T* x = static_cast<const T*>(a);
    T* y = static_cast<T*>(out);
    const Int n = d[0], step = d[1];
    const Box<1> rows(d + 2), results(rows.end());
    walk(results, [&](const Int* at) {
      T best = x[at[0]];
      walk(rows, [&](const Int* row) {
        const T* first = x + at[0] + row[0];
        BURLAB_ONE_BY_ONE
        for (Int i = 0; i < n; ++i) best = beats<Largest>(first[i * step], best) ? first[i * step] : best;
      });
      *y++ = best;
    });
    return Ok;
  }
};

/// The position of the first extreme value of each row. Descriptor: length of a row and its stride; the Box of results.
template <class T, bool Largest> struct Where {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const T* x = static_cast<const T*>(a);
    Int* y = static_cast<Int*>(out);
    const Int n = d[0], step = d[1];
    walk(Box<1>(d + 2), [&](const Int* at) {
      const T* row = x + at[0];
      Int best = 0;
      for (Int i = 1; i < n; ++i)
        if (beats<Largest>(row[i * step], row[best * step])) best = i;
      *y++ = best;
    });
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
