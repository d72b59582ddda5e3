#pragma once
// The incomplete gamma and beta functions solved for x, one number at a time: Newton's method for the logarithm of the
// tail that is at most 1/2, by log x or log(x / (1 - x)). In these it is concave: from a start however far off the
// iterates come to the solution, after the first of them from one side.
#include "incomplete.hpp"
#include "normal.hpp"

BURLAB_BEGIN
namespace burlab::math {

inline constexpr int kMaxSteps = 200;
inline constexpr long double kMaxStep = 4;  // step away from where a tail is flat

/// A tail's logarithm, and its derivative.
struct Tail {
  long double log, slope;
};

/// Of the one of two parts that was computed, or of what is left of 1; its slope from that of the part's weight.
BURLAB_NOINLINE Tail tail_of(long double log_weight, long double total, bool this_one) {
  const long double log_part = log_weight + std::log(total);
  const long double log_tail = this_one ? log_part : std::log1p(-std::exp(log_part));
  return {log_tail, std::exp(log_weight - log_tail)};
}

/// Of P(a, e^u), or of Q where `upper`.
BURLAB_NOINLINE Tail gamma_tail(long double a, long double u, bool upper) {
  const long double x = std::exp(u);
  if (x == 0) return {upper ? 0 : a * u - std::lgamma(a + 1), a};
  const bool lower = x < a + 1;
  const Tail tail = tail_of(log_gamma_weight(a, x), gamma_total(a, x, lower), lower != upper);
  return {tail.log, upper ? -a * tail.slope : a * tail.slope};
}

/// The x with P(a, x) = p, or with Q = 1 - P = p where `upper`.
BURLAB_NOINLINE double gamma_quantile(double a, double p, bool upper) {
  if (!(a >= 0 && a < kInfinity<double> && p >= 0 && p <= 1)) return kNan<double>;
  if (p == 0 || p == 1) return (p == 0) == upper ? kInfinity<double> : 0;
  if (a == 0) return kNan<double>;
  if (p > 0.5) {
    upper = !upper;
    p = 1 - p;
  }
  const long double s = a, target = std::log(static_cast<long double>(p));
  // By Wilson and Hilferty 1931: the cube root is nearly normal; where that is far off by P < (e^u)^a / gamma(a + 1).
  const long double root = 1 - 1 / (9 * s) + (upper ? -1 : 1) * ndtri(p) / (3 * std::sqrt(s));
  const bool normal = root > 0.1L && (upper || s > 1);
  const long double small = (std::log(upper ? 1 - static_cast<long double>(p) : p) + std::lgamma(s + 1)) / s;
  const long double far = upper && small > -1 ? std::log(1 - target) : small;
  long double u = normal ? std::log(s) + 3 * std::log(root) : far;
  for (int k = 0; k < kMaxSteps; ++k) {
    const Tail tail = gamma_tail(s, u, upper);
    const long double step = (target - tail.log) / tail.slope;
    u += step < kMaxStep ? step : kMaxStep;
    if (!(std::fabs(step) > 1e-11L)) break;  // what is left is of the order of its square
  }
  return static_cast<double>(std::exp(u));
}

/// log(x / (1 - x)) for the x with I_x(a, b) = p, 0 < p <= 1/2.
BURLAB_NOINLINE long double beta_logit(long double a, long double b, long double p) {
  const long double target = std::log(p);
  long double u = (target + std::log(a) + log_beta(a, b)) / a;  // I_x < e^(a u) / (a beta(a, b))
  if (a > 1 && b > 1) {                                         // Abramowitz and Stegun 26.5.22
    const long double z = -ndtri(static_cast<double>(p)), l = (z * z - 3) / 6, s = 1 / (2 * a - 1), t = 1 / (2 * b - 1);
    const long double h = 2 / (s + t), w = z * std::sqrt(h + l) / h - (t - s) * (l + 5.0L / 6 - 2 / (3 * h));
    if (w == w) u = std::log(a / b) - 2 * w;
  }
  for (int k = 0; k < kMaxSteps; ++k) {
    const long double x = 1 / (1 + std::exp(-u)), y = 1 / (1 + std::exp(u));
    if (x == 0 || y == 0) return u;
    const bool lower = is_lower(a, b, x);
    const Tail tail = tail_of(log_beta_weight(a, b, x, y), beta_total(a, b, x, y, lower), lower);
    const long double step = (target - tail.log) / tail.slope;
    u += step < kMaxStep ? step : kMaxStep;
    if (!(std::fabs(step) > 1e-11L)) break;  // what is left is of the order of its square
  }
  return u;
}

/// The x with I_x(a, b) = p, or with 1 - I_x(a, b) = p where `upper`.
BURLAB_NOINLINE double beta_quantile(double a, double b, double p, bool upper) {
  if (!(a > 0 && b > 0 && a + b < kInfinity<double> && p >= 0 && p <= 1)) return kNan<double>;
  if (p == 0 || p == 1) return (p == 1) == upper ? 0 : 1;
  const bool right = upper == (p <= 0.5);  // the tail that is at most 1/2 lies beyond x
  const long double tail = p <= 0.5 ? p : 1 - p;
  const long double u = right ? -beta_logit(b, a, tail) : beta_logit(a, b, tail);
  return static_cast<double>(1 / (1 + std::exp(-u)));
}

/// The quantile of Student's t with df degrees of freedom: t^2 / df = (1 - x) / x for x distributed as beta(df / 2,
/// 1/2).
BURLAB_NOINLINE double student_quantile(double df, double p) {
  if (!(df > 0 && p >= 0 && p <= 1)) return kNan<double>;
  if (p == 0 || p == 1) return p == 0 ? -kInfinity<double> : kInfinity<double>;
  if (p == 0.5) return 0;
  if (df == kInfinity<double>) return ndtri(p);
  const long double both = 2 * (p < 0.5 ? static_cast<long double>(p) : 1 - static_cast<long double>(p)),
                    half = 0.5L * df;
  const long double u = both < 0.5L ? beta_logit(half, 0.5L, both) : -beta_logit(0.5L, half, 1 - both);
  const double size = static_cast<double>(std::sqrt(static_cast<long double>(df)) * std::exp(-0.5L * u));
  return p < 0.5 ? -size : size;
}

}  // namespace burlab::math
BURLAB_END
