#pragma once
// Norms from the sums of squares; if the squares left the range of floats, the rows are read again, divided by a power
// of 2 as large as the largest number.
#include <cmath>
#include <cstring>
#include <limits>

#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The root of the sum of squares of a row minus `center`, over `divisor`.
template <class T> BURLAB_NOINLINE T scaled_norm(const T* x, Int n, Int step, T center, double divisor) {
  T largest = 0;
  for (Int i = 0; i < n; ++i) {
    const T size = std::abs(x[i * step] - center);
    if (!(size <= largest)) largest = size;  // nan stays
    if (size != size) break;
  }
  if (largest == 0 || !std::isfinite(largest)) return largest;
  const int exponent = std::ilogb(largest);
  double squares = 0;
  for (Int i = 0; i < n; ++i) {
    const double part = std::scalbn(static_cast<double>(x[i * step] - center), -exponent);
    squares += part * part;
  }
  return static_cast<T>(std::scalbn(std::sqrt(squares / divisor), exponent));
}

/// Roots of a, or, where that is inf, nan or nearly 0, norms of the rows of b. Descriptor: rows, their length,
/// the step from one number of a row to the next, which is the number of adjacent rows; the bits of the divisor of the
/// squares; the count of numbers in the third operand, each subtracted first in as many rows.
template <class T> struct Norm {
  BURLAB_WIDE static Status run(const Int* d, void* out, const void* a, const void* b,
                                const void* const* more) noexcept {
    constexpr T low = sizeof(T) == 8 ? T(1e-280) : T(1e-30), high = std::numeric_limits<T>::max();
    T* y = static_cast<T*>(out);
    const T *total = static_cast<const T*>(a), *x = static_cast<const T*>(b);
    StopCheck stop;
    for (Int first = 0; first < d[0]; first += 512) {
      if (stop.after(512)) return Stopped;
      const Int end = first + 512 < d[0] ? first + 512 : d[0];
      Int held = 0;
      for (Int i = first; i < end; ++i) held += total[i] > low && total[i] <= high;
      for (Int i = first; i < end; ++i) {
        if constexpr (sizeof(T) == 8) y[i] = burlab_sqrt(total[i]);
        else y[i] = burlab_sqrtf(total[i]);
      }
      if (BURLAB_LIKELY(held == end - first)) continue;
      double divisor = 1;
      std::memcpy(&divisor, d + 3, sizeof(double));
      const T* centers = d[4] != 0 ? static_cast<const T*>(more[0]) : nullptr;
      for (Int i = first; i < end; ++i)
        if (!(total[i] > low && total[i] <= high)) {
          const Int outer = i / d[2];
          const T center = centers != nullptr ? centers[i / (d[0] / d[4])] : T(0);
          y[i] = scaled_norm(x + outer * d[1] * d[2] + (i - outer * d[2]), d[1], d[2], center, divisor);
        }
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
