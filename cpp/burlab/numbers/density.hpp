#pragma once
// The densities of which the incomplete gamma and beta functions are integrals: derivatives by their parameters, and by
// x without its quotients. A derivative by x of x^(a - 1) f(x) is that of the power, (a - 1) x^(a - 2) f, plus that of
// f: terms that are right at x = 0 one by one.
#include <cmath>

#include "incomplete.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// (s - 1) (s - 2) ... (s - i), which i derivatives by x have put before x^(s - 1 - i).
inline Jet falling(const Jet& s, int i) {
  Jet result(1, s.rows, s.columns);
  for (int j = 1; j <= i; ++j) result *= s - static_cast<long double>(j);
  return result;
}

/// The limit at x = 0 from above of the derivative of order m by s, n by t, of factor(s, t) x^e, where e moves with s:
/// the term with the highest power of log x decides.
inline double limit_at_zero(const Jet& factor, int m, int n, double e) {
  if (e > 0) return 0;
  for (int k = m; k >= 0; --k) {
    const long double weight = derivative(factor, m - k, n);
    if (weight == 0) continue;
    if (k == 0 && e == 0) return static_cast<double>(weight);
    return (weight > 0) == (k % 2 == 0) ? kInfinity<double> : -kInfinity<double>;
  }
  return 0;
}

/// The derivative of order n by a of (a - 1) ... (a - i) x^(a - 1 - i) e^-x / gamma(a).
BURLAB_NOINLINE double gamma_density(double n, int i, double a, double x) {
  if (n < 0) return 0;
  if (!is_order(n) || !(a > 0 && x >= 0) || a == kInfinity<double>) return kNan<double>;
  if (x == kInfinity<double>) return 0;
  const int order = static_cast<int>(n);
  const Jet s = variable(a, order, 0), factor = falling(s, i) * s;
  if (x == 0) return limit_at_zero(factor * exp(log_gamma_weight(s, 1) + 1), order, 0, a - 1 - i);
  const long double power = std::pow(static_cast<long double>(x), -1 - i);
  return static_cast<double>(derivative(exp(log_gamma_weight(s, x)) * factor * power, order, 0));
}

/// The derivative of orders m by a and n by b of (a - 1) ... (a - i) x^(a - 1 - i) times (b - 1) ... (b - j)
/// (1 - x)^(b - 1 - j) / beta(a, b).
BURLAB_NOINLINE double beta_density(double m, double n, int i, int j, double a, double b, double x) {
  if (m < 0 || n < 0) return 0;
  const bool inside = a > 0 && b > 0 && x >= 0 && x <= 1 && a + b < kInfinity<double>;
  if (!is_order(m) || !is_order(n) || !inside) return kNan<double>;
  if (x == 1) return beta_density(n, m, j, i, b, a, 0);
  const int first = static_cast<int>(m), second = static_cast<int>(n);
  const Jet p = variable(a, first, second), q = variable(b, first, second, true);
  const Jet factor = falling(p, i) * falling(q, j);
  if (x == 0) return limit_at_zero(factor * exp(-log_beta(p, q)), first, second, a - 1 - i);
  const long double z = x, y = 1 - z;
  const Jet density = exp(log_beta_weight(p, q, z, y)) * factor * (std::pow(z, -1 - i) * std::pow(y, -1 - j));
  return static_cast<double>(derivative(density, first, second));
}

}  // namespace burlab::math
BURLAB_END
