#pragma once
// Quantiles and tails of the normal distribution, one number at a time: the inverses of erf and erfc, log Phi and
// phi / Phi. As good as erf and erfc of `error_function.hpp`, by whose inversion they are found.
#include <cmath>

#include "error_function.hpp"

BURLAB_BEGIN
namespace burlab::math {

inline constexpr double kHalfRootPi = 0.8862269254527580, kRootHalf = 0.7071067811865476;

/// e^(z^2) erfc z for z >= 0; the asymptotic series where erfc comes near the smallest number.
BURLAB_NOINLINE double scaled_erfc(double z) {
  if (z > 26) {
    const double q = 0.5 / (z * z);
    return (1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q * (1 - 11 * q)))))) / (2 * kHalfRootPi * z);
  }
  const double high = upper_half(z);
  return erfc(z) * exp_of_sum(high * high, (z - high) * (z + high));
}

/// The first guess of the inverse of erf (Winitzki 2008), to 0.002 of its size; given log(1 - x^2).
BURLAB_NOINLINE double near_erfinv(double log_rest) {
  const double a = 0.147, b = 4.330746750799873 + 0.5 * log_rest;  // 2 / (pi a)
  return std::sqrt(std::sqrt(b * b - log_rest / a) - b);
}

/// y with erf y = x, |x| <= 0.5: three steps of Newton's.
BURLAB_NOINLINE double erfinv_inside(double x) {
  double y = with_sign_of(near_erfinv(std::log1p(-x * x)), x);
  for (int k = 0; k < 3; ++k) y -= kHalfRootPi * std::exp(y * y) * (erf(y) - x);
  return magnitude(x) < 1e-8 ? kHalfRootPi * x : y;
}

/// y >= 0 with erfc y = p, 0 < p <= 0.5: Newton's steps on log erfc, which is nearly a parabola.
BURLAB_NOINLINE double erfcinv_outside(double p) {
  const double target = std::log(p);
  double y = near_erfinv(target + std::log(2 - p));
  for (int k = 0; k < 3; ++k) {
    const double scaled = scaled_erfc(y);
    y += kHalfRootPi * scaled * ((std::log(scaled) - target) - y * y);
  }
  return y;
}

BURLAB_NOINLINE double erfcinv(double p) {
  if (!(p > 0 && p < 2)) return p == 0 ? kInfinity<double> : p == 2 ? -kInfinity<double> : kNan<double>;
  if (p < 0.5) return erfcinv_outside(p);
  return p > 1.5 ? -erfcinv_outside(2 - p) : erfinv_inside(1 - p);
}

BURLAB_NOINLINE double erfinv(double x) {
  if (!(magnitude(x) < 1)) return magnitude(x) == 1 ? with_sign_of(kInfinity<double>, x) : kNan<double>;
  return magnitude(x) <= 0.5 ? erfinv_inside(x) : with_sign_of(erfcinv_outside(1 - magnitude(x)), x);
}

/// The quantile of the normal distribution.
BURLAB_NOINLINE double ndtri(double p) { return (0 - erfcinv(2 * p)) / kRootHalf; }

/// erfc(x / sqrt 2) / 2; what x / sqrt 2 loses by rounding is put back.
BURLAB_NOINLINE double upper_tail(double x) {
  const double z = x * kRootHalf, lost = rest(x, kRootHalf, z) - x * 4.833646656726457e-17;
  return 0.5 * erfc(z) - 0.5 * std::exp(-z * z) * lost / kHalfRootPi;
}

/// log Phi(x).
BURLAB_NOINLINE double log_ndtr(double x) {
  if (x < -1) return std::log(0.5 * scaled_erfc(-x * kRootHalf)) - 0.5 * x * x;
  return x > 40 ? -0.0 : std::log1p(-upper_tail(x));
}

/// phi(x) / Phi(x), the derivative of log Phi.
BURLAB_NOINLINE double mills(double x) {
  const double root = 0.7978845608028654;  // sqrt(2 / pi)
  if (x < 0) return root / scaled_erfc(-x * kRootHalf);
  if (!(x < 38.7)) return x == x ? 0 : x;
  const double high = upper_half(x);  // x^2 is split, since its rounding error would grow with it
  return 0.5 * root * exp_of_sum(-0.5 * (high * high), -0.5 * ((x - high) * (x + high))) / (1 - upper_tail(x));
}

/// x + phi(x) / Phi(x): by Laplace's continued fraction where the sum would cancel.
BURLAB_NOINLINE double mills_excess(double x) {
  if (!(x < -4)) return x + mills(x);
  double fraction = -x;
  for (int k = 70; k > 1; --k) fraction = k / fraction - x;
  return 1 / fraction;
}

}  // namespace burlab::math
BURLAB_END
