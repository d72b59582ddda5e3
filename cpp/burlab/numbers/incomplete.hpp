#pragma once
// The regularized incomplete gamma and beta functions, one number at a time: series and continued fractions in long
// double, whose common factors are taken by what does not cancel.
#include <cmath>

#include "error_function.hpp"
#include "gamma.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// log(x / a) - (x - a) / a, by its series near a.
BURLAB_NOINLINE long double log_rest(long double x, long double a) {
  const long double u = (x - a) / a;
  if (std::fabs(u) > 0.3L) return std::log(x / a) - u;
  long double total = 0, power = -u * u;
  for (int k = 2; k < 60 && std::fabs(power) > 1e-22L * std::fabs(total); ++k) {
    total += power / k;
    power *= -u;
  }
  return total;
}

/// log gamma(1 + a) less Stirling's formula for it, a > 0: the same at a + n by recurrence, where its series holds.
BURLAB_NOINLINE long double stirling_gap(long double a) {
  long double gap = 0;
  for (; a < 14; ++a) gap += (a + 0.5L) * std::log1p(1 / a) - 1;
  return gap + stirling_rest(a);
}

/// log of x^a e^-x / gamma(a + 1), a > 0: around a by what is left of x / a - 1 - log(x / a).
BURLAB_NOINLINE long double log_gamma_weight(long double a, long double x) {
  return a * log_rest(x, a) - 0.5L * std::log(6.283185307179586476925L * a) - stirling_gap(a);
}

/// P(a, x), or Q = 1 - P where `upper`. The smaller of both is computed: P by its series, Q by its continued fraction
/// (Legendre's, evaluated as Lentz 1976 has it).
BURLAB_NOINLINE double gamma_inc(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0) || (a == kInfinity<double> && x == kInfinity<double>)) return kNan<double>;
  if (a == 0 || x == 0 || a == kInfinity<double> || x == kInfinity<double>) {
    if (a == 0 && x == 0) return kNan<double>;
    return (a == 0 || x == kInfinity<double>) == upper ? 0 : 1;
  }
  const long double s = a, z = x, log_weight = log_gamma_weight(s, z);
  if (z < s + 1) {
    long double term = 1, total = 1;
    for (long double n = s + 1; term > 1e-20L * total; ++n) total += term *= z / n;
    const long double p = std::exp(log_weight) * total;
    return static_cast<double>(upper ? 1 - p : p);
  }
  long double b = z + 1 - s, c = 1e4000L, d = 1 / b, fraction = d;
  for (long double k = 1, step = 0; std::fabs(step - 1) > 1e-19L && k < 1e7L; ++k) {
    const long double numerator = -k * (k - s);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    step = c * d;
    fraction *= step;
  }
  const long double q = std::exp(log_weight + std::log(s)) * fraction;
  return static_cast<double>(upper ? q : 1 - q);
}

/// I_x(a, b); y = 1 - x. By its continued fraction (Abramowitz and Stegun 26.5.8) where that converges fast.
BURLAB_NOINLINE long double beta_fraction(long double a, long double b, long double x) {
  long double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / d;
  long double fraction = d;
  for (long double m = 1, step = 0; std::fabs(step - 1) > 1e-19L && m < 1e7L; ++m) {
    long double numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + numerator * d);
    c = 1 + numerator / c;
    fraction *= c * d;
    numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + numerator * d);
    c = 1 + numerator / c;
    step = c * d;
    fraction *= step;
  }
  return fraction;
}

/// I_x(a, b), or 1 less it where `upper`; the one that is small is computed.
BURLAB_NOINLINE double beta_inc(double a, double b, double x, bool upper) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || a + b == kInfinity<double>) return kNan<double>;
  if (x == 0 || x == 1) return (x == 1) == upper ? 0 : 1;
  const long double p = a, q = b, z = x, y = 1 - z;
  const bool lower = z < (p + 1) / (p + q + 2);
  const long double weight = std::exp(p * std::log(z) + q * std::log1p(-z) - log_beta(p, q));
  const long double part = lower ? weight * beta_fraction(p, q, z) / p : weight * beta_fraction(q, p, y) / q;
  return static_cast<double>(lower == upper ? 1 - part : part);
}

/// The distribution function of Student's t with df degrees of freedom: the tail beyond |t| by the incomplete beta
/// function.
BURLAB_NOINLINE double student(double df, double t) {
  if (!(df > 0) || t != t) return kNan<double>;
  if (df == kInfinity<double>) return 0.5 * erfc(-t * 0.7071067811865476);
  const double q = t / df * t;
  const double tail = q < 1 ? beta_inc(0.5, 0.5 * df, q / (1 + q), true) : beta_inc(0.5 * df, 0.5, 1 / (1 + q), false);
  return t < 0 ? 0.5 * tail : 1 - 0.5 * tail;
}

}  // namespace burlab::math
BURLAB_END
