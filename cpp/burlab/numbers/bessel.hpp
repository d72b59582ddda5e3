#pragma once
// Bessel functions of whole order, one number at a time.
#include <cmath>

#include "polynomial.hpp"

extern "C" double jn(int, double) noexcept;

BURLAB_BEGIN
namespace burlab::math {

inline constexpr double kMostOrder = 1e4;

/// J_n(x) of the first kind.
BURLAB_NOINLINE double bessel_j(double n, double x) {
  if (!(magnitude(n) <= kMostOrder) || n != std::floor(n)) return kNan<double>;
  return jn(static_cast<int>(n), x);
}

/// log(e^-x I_n(x)) for n >= 0 and x > 0: the power series, all of whose terms are positive, or the asymptotic one.
BURLAB_NOINLINE long double log_scaled_bessel_i(long double n, long double x) {
  long double total = 1, term = 1;
  if (x > 30 + n * n) {
    for (int k = 1; k < 60 && std::fabs(term) > 1e-20L * total; ++k) {
      const long double odd = 2 * k - 1;
      term *= (odd * odd - 4 * n * n) / (8 * k * x);
      total += term;
    }
    return std::log(total) - 0.5L * std::log(6.283185307179586476925L * x);
  }
  const long double q = 0.25L * x * x;
  long double taken = 0;
  for (long double k = 1; term > 1e-21L * total; ++k) {
    term *= q / (k * (n + k));
    total += term;
    if (total > 1e200L) {
      total *= 1e-200L;
      term *= 1e-200L;
      taken += 460.51701859880913680359829093687L;  // log 1e200
    }
  }
  long double over = n * std::log(0.5L * x);
  for (long double k = 2; k <= n; ++k) over -= std::log(k);
  return over - x + (std::log(total) + taken);
}

/// I_n(x), modified, of the first kind; `scaled`: times e^-|x|.
BURLAB_NOINLINE double bessel_i(double n, double x, bool scaled) {
  n = magnitude(n);
  if (!(n <= kMostOrder) || n != std::floor(n) || x != x) return kNan<double>;
  const double a = magnitude(x), sign = x < 0 && std::fmod(n, 2) == 1 ? -1 : 1;
  if (a == 0) return n == 0 ? 1 : sign * x * x;
  if (a == kInfinity<double>) return scaled ? sign * 0.0 : sign * a;
  return sign * static_cast<double>(std::exp(log_scaled_bessel_i(n, a) + (scaled ? 0 : a)));
}

}  // namespace burlab::math
BURLAB_END
