#pragma once
// The regularized incomplete gamma and beta functions, one number at a time: series and continued fractions in long
// double, whose common factors are taken by what does not cancel. With Taylor polynomials for their parameters the same
// lines give the derivatives by these (Moore 1982, AS 187, and Boik and Robison-Cox 1998 have recurrences for them).
// The incomplete gamma functions of orders below 10^4 are summed in doubles.
#include <cmath>

#include "error_function.hpp"
#include "gamma.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// log(x / a) - (x - a) / a, by its series near a.
template <class Real> BURLAB_NOINLINE Real log_rest(long double x, const Real& a) {
  using std::log;
  const Real u = (x - a) / a;
  if (std::fabs(value_of(u)) > 0.3L) return log(x / a) - u;
  Real total = 0, power = -u * u;
  for (int k = 2; k < 60 && size_of(power) > 1e-22L * size_of(total); ++k) {
    total += power * (1.0L / k);
    power *= -u;
  }
  return total;
}

/// log gamma(1 + a) less Stirling's formula for it, a > 0: the same at a + n by recurrence, where its series holds.
template <class Real> BURLAB_NOINLINE Real stirling_gap(Real a) {
  using std::log1p;
  Real gap = 0;
  for (; value_of(a) < 14; a = a + 1) gap += (a + 0.5L) * log1p(1 / a) - 1;
  return gap + stirling_rest(a);
}

/// log of x^a e^-x / gamma(a + 1), a > 0: around a by what is left of x / a - 1 - log(x / a).
template <class Real> BURLAB_NOINLINE Real log_gamma_weight(const Real& a, long double x) {
  using std::log;
  return a * log_rest(x, a) - 0.5L * log(6.283185307179586476925L * a) - stirling_gap(a);
}

/// Whether the last factor of a continued fraction still changes it; that of a polynomial ends in rounding earlier.
inline bool moves(long double step) { return std::fabs(step - 1) > 4e-19L; }  // four units in the last place
inline bool moves(const Jet& step) { return size_of(step - 1) > 1e-17L; }

/// What x^a e^-x / gamma(a + 1) is times in P(a, x), by its series, where `lower`; else in Q = 1 - P, by its continued
/// fraction (Legendre's, evaluated as Lentz 1976 has it). The first where x < a + 1.
template <class Real> BURLAB_NOINLINE Real gamma_total(const Real& a, long double x, bool lower) {
  if (lower) {
    Real term = 1, total = 1;
    for (Real n = a + 1; size_of(term) > 1e-20L * size_of(total); n = n + 1) total += term *= x / n;
    return total;
  }
  Real b = x + 1 - a, c = 1e4000L, d = 1 / b, fraction = d, step = 0;
  for (long double k = 1; moves(step) && k < 1e7L; ++k) {
    const Real numerator = k * (a - k);
    b = b + 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    step = c * d;
    fraction *= step;
  }
  return a * fraction;
}
template <class Real> BURLAB_NOINLINE Real gamma_part(const Real& a, long double x, bool lower) {
  using std::exp;
  return exp(log_gamma_weight(a, x)) * gamma_total(a, x, lower);
}

/// x^a e^-x / gamma(a + 1) in doubles: around a by the logarithm of x / a as a pair.
BURLAB_NOINLINE double gamma_weight(double a, double x) {
  if (a < 1) return pow(x, a) * exp(-x) / gamma(a + 1);
  const Pair l = log_of_share(x, {a, 0}), p = product(a, l.high), less = sum_of_any(a, -x);
  const Pair e = sum_of_any(p.high, less.high);
  const double low = e.low + less.low + fused(a, l.low, p.low);
  const double root = burlab_sqrt(6.283185307179586 * a) * polynomial(kStirling, 1 / (a + 0.5));
  return e.high < -745 ? 0 : exp_of_sum(e.high, low) / root;
}
/// `gamma_part` in doubles; the continued fraction by the recurrence of its numerators and denominators.
BURLAB_NOINLINE double small_gamma_part(double a, double x, bool lower) {
  const double weight = gamma_weight(a, x);
  if (weight == 0) return 0;  // where x is large the recurrence would overflow
  if (lower) {
    double term = 1, total = 1;
    for (double n = a + 1; term > 1e-17 * total; ++n) total += term *= x / n;
    return weight * total;
  }
  double b = x + 1 - a, above = 1, under = b, last_above = 0, last_under = 1, fraction = 1 / b, step = 1;
  for (double k = 1; magnitude(step) > 1e-16 * fraction; ++k) {
    b += 2;
    const double numerator = k * (a - k);
    const double next_above = fused(b, above, numerator * last_above);
    const double next_under = fused(b, under, numerator * last_under);
    const double scale = magnitude(next_under) > 1e250 ? 1e-250 : 1;
    last_above = above * scale;
    last_under = under * scale;
    above = next_above * scale;
    under = next_under * scale;
    step = above / under - fraction;
    fraction += step;
  }
  return weight * (a * fraction);
}

/// P(a, x), or Q = 1 - P where `upper`. The smaller of both is computed.
BURLAB_NOINLINE double gamma_inc(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0) || (a == kInfinity<double> && x == kInfinity<double>)) return kNan<double>;
  if (a == 0 || x == 0 || a == kInfinity<double> || x == kInfinity<double>) {
    if (a == 0 && x == 0) return kNan<double>;
    return (a == 0 || x == kInfinity<double>) == upper ? 0 : 1;
  }
  const bool lower = x < static_cast<long double>(a) + 1;
  const double some = a < 1e4 ? small_gamma_part(a, x, lower) : 1;
  if (lower != upper && a < 1e4) return some;
  if (some < 0.5) return 1 - some;
  const long double part = gamma_part<long double>(a, x, lower);  // what is left of 1 would lose digits
  return static_cast<double>(lower == upper ? 1 - part : part);
}

/// Whether a number is an order of derivatives that `Jet` has.
inline bool is_order(double n) { return n >= 0 && n <= Jet::kOrder && n == std::floor(n); }

/// The derivative of order n by a of P(a, x).
BURLAB_NOINLINE double gamma_derivative(double n, double a, double x) {
  if (n < 0) return 0;
  if (!is_order(n) || !(a > 0 && x >= 0) || a == kInfinity<double>) return kNan<double>;
  if (x == kInfinity<double>) return n == 0 ? 1 : 0;
  if (x == 0) return 0;
  const Jet s = variable(a, static_cast<int>(n), 0);
  const Jet y = x < value_of(s) + 1 ? gamma_part(s, x, true) : 1 - gamma_part(s, x, false);
  return static_cast<double>(derivative(y, static_cast<int>(n), 0));
}

/// I_x(a, b); y = 1 - x. By its continued fraction (Abramowitz and Stegun 26.5.8) where that converges fast.
template <class Real> BURLAB_NOINLINE Real beta_fraction(const Real& a, const Real& b, long double x) {
  Real c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), fraction = d, step = 0;
  for (long double m = 1; moves(step) && m < 1e7L; ++m) {
    Real numerator = (b - m) * (m * x) / ((a + (2 * m - 1)) * (a + 2 * m));
    d = 1 / (1 + numerator * d);
    c = 1 + numerator / c;
    fraction *= c * d;
    numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + (2 * m + 1)));
    d = 1 / (1 + numerator * d);
    c = 1 + numerator / c;
    step = c * d;
    fraction *= step;
  }
  return fraction;
}

/// log of x^a y^b / beta(a, b), y = 1 - x.
template <class Real> BURLAB_NOINLINE Real log_beta_weight(const Real& a, const Real& b, long double x, long double y) {
  return a * (y < 0.5L ? std::log1p(-y) : std::log(x)) + b * (x < 0.5L ? std::log1p(-x) : std::log(y)) - log_beta(a, b);
}

/// I_x(a, b) over x^a y^b / beta(a, b) where `lower`, else 1 less it; y = 1 - x.
template <class Real>
BURLAB_NOINLINE Real beta_total(const Real& a, const Real& b, long double x, long double y, bool lower) {
  return lower ? beta_fraction(a, b, x) / a : beta_fraction(b, a, y) / b;
}
template <class Real>
BURLAB_NOINLINE Real beta_part(const Real& a, const Real& b, long double x, long double y, bool lower) {
  using std::exp;
  return exp(log_beta_weight(a, b, x, y)) * beta_total(a, b, x, y, lower);
}

/// Whether I_x(a, b) is computed, not 1 less it.
inline bool is_lower(long double a, long double b, long double x) { return x < (a + 1) / (a + b + 2); }

/// I_x(a, b), or 1 less it where `upper`; the one that is small is computed.
BURLAB_NOINLINE double beta_inc(double a, double b, double x, bool upper) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || a + b == kInfinity<double>) return kNan<double>;
  if (x == 0 || x == 1) return (x == 1) == upper ? 0 : 1;
  const bool lower = is_lower(a, b, x);
  const long double part = beta_part<long double>(a, b, x, 1 - static_cast<long double>(x), lower);
  return static_cast<double>(lower == upper ? 1 - part : part);
}

/// The derivative of orders m by a and n by b of I_x(a, b).
BURLAB_NOINLINE double beta_derivative(double m, double n, double a, double b, double x) {
  if (m < 0 || n < 0) return 0;
  const bool inside = a > 0 && b > 0 && x >= 0 && x <= 1 && a + b < kInfinity<double>;
  if (!is_order(m) || !is_order(n) || !inside) return kNan<double>;
  if (x == 0 || x == 1) return m + n == 0 ? x : 0;
  const int i = static_cast<int>(m), j = static_cast<int>(n);
  const Jet p = variable(a, i, j), q = variable(b, i, j, true);
  const long double z = x, y = 1 - z;
  const Jet result = is_lower(a, b, z) ? beta_part(p, q, z, y, true) : 1 - beta_part(p, q, z, y, false);
  return static_cast<double>(derivative(result, i, j));
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
