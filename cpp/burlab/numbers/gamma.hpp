#pragma once
// The gamma function and its kin, one number at a time. Sums are taken in long double: of 64 bits on x86-64, and what
// cancels costs a double nothing that one would see.
#include <cmath>

#include "gamma_function.hpp"
#include "jet.hpp"

extern "C" double lgamma_r(double, int*) noexcept;  // lgamma writes a global variable

BURLAB_BEGIN
namespace burlab::math {

/// log |gamma(x)|.
BURLAB_NOINLINE double lgamma(double x) {
  int sign = 0;
  return x > 0 ? lgamma_above(x) : lgamma_r(x, &sign);
}

/// B_2k / (2k)!.
inline constexpr int kBernoulliTerms = 12;
inline constexpr long double kBernoulli[kBernoulliTerms] = {
    1.0L / 12,
    -1.0L / 720,
    1.0L / 30240,
    -1.0L / 1209600,
    1.0L / 47900160,
    -691.0L / 1307674368000.0L,
    1.0L / 74724249600.0L,
    -3617.0L / 10670622842880000.0L,
    43867.0L / 5109094217170944000.0L,
    -174611.0L / 802857662698291200000.0L,
    77683.0L / 14101100039391805440000.0L,
    -236364091.0L / 1693824136731743669452800000.0L,
};

/// sum over k >= 0 of (q + k)^-s by the formula of Euler and Maclaurin from q + 7 on, s > 1; for q < 0 only with whole
/// s.
BURLAB_NOINLINE double hurwitz_zeta(double s, double q) {
  if (s == 1) return kInfinity<double>;
  if (!(s > 1)) return kNan<double>;
  if (!(q < 1e300)) return q == q ? 0 : q;
  long double below = 0, first = q;  // what lies below 0 may cancel
  if (q <= 0) {
    if (q == std::floor(q)) return kInfinity<double>;
    if (s != std::floor(s) || q < -1e6) return kNan<double>;
    for (; first < 0; ++first) below += std::pow(first, -static_cast<long double>(s));
    q = static_cast<double>(first);
  }
  constexpr int terms = 7;
  double power[terms + 1], growth[kBernoulliTerms], total = 0;
  BURLAB_LANES
  for (int k = 0; k <= terms; ++k) power[k] = pow(q + k, -s);
  if (power[terms] > 0) {
    const double a = q + terms, z = 1 / (a * a);
    BURLAB_LANES
    for (int k = 0; k < kBernoulliTerms; ++k) growth[k] = (s + (2 * k - 1)) * (s + 2 * k) * z;
    double tail = static_cast<double>(kBernoulli[kBernoulliTerms - 1]);
    for (int k = kBernoulliTerms - 1; k > 0; --k) tail = fused(growth[k], tail, static_cast<double>(kBernoulli[k - 1]));
    total = power[terms] * fused(tail, s / a, a / (s - 1) + 0.5);
  }
  for (int k = terms - 1; k >= 0; --k) total += power[k];
  return below == 0 ? total : static_cast<double>(below + total);
}

/// The derivative of order n by s of the sum over k >= 0 of (q + k)^-s, continued to all s but 1: the same formula with
/// a Taylor polynomial for s. For q > 0 and s >= -1.
BURLAB_NOINLINE double zeta_derivative(int n, double s, double q) {
  const long double start = 12 + (s < 200 ? s / 2 : 100.0);
  const Jet power = variable(s, n, 0);
  Jet total(0, n, 0);
  long double a = q;
  for (; a < start; ++a) total += exp(power * -std::log(a));
  const Jet last = exp(power * -std::log(a));
  total += last * (reciprocal(power - 1) * a + 0.5L);
  Jet factor = last * power * (1 / a);
  for (int k = 0; k < 9; ++k) {
    total += factor * kBernoulli[k];
    factor *= (power + (2 * k + 1)) * (power + (2 * k + 2)) * (1 / (a * a));
  }
  return static_cast<double>(derivative(total, n, 0));
}

/// log gamma(a) less Stirling's formula (a - 1/2) log a - a + log(2 pi) / 2, for a >= 14. Real: long double, or a Jet.
template <class Real> BURLAB_NOINLINE Real stirling_rest(const Real& a) {
  const Real z = 1 / (a * a);
  Real series = -3617.0L / 122400;
  series = 1.0L / 156 + z * series;
  series = -691.0L / 360360 + z * series;
  series = 1.0L / 1188 + z * series;
  series = -1.0L / 1680 + z * series;
  series = 1.0L / 1260 + z * series;
  series = -1.0L / 360 + z * series;
  series = 1.0L / 12 + z * series;
  return series / a;
}

/// log of beta(a, b) for a, b > 0: upwards by quotients until Stirling's formula holds, whose large parts cancel here.
template <class Real> BURLAB_NOINLINE Real log_beta(Real a, Real b) {
  using std::log, std::log1p;
  if (value_of(a) > value_of(b)) return log_beta(b, a);
  if (value_of(b) == kInfinity<double>) return -b;
  Real quotient = 1;  // beta(a, b) = (a + b) / a beta(a + 1, b)
  for (; value_of(a) < 14; a = a + 1) {
    if (value_of(b) < 14) {
      quotient = quotient * ((a + b) * (a + b + 1) / (a * b));
      b = b + 1;
    } else {
      quotient = quotient * ((a + b) / a);
    }
  }
  const Real sum = a + b, rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(sum);
  const long double half_log = 0.91893853320467274178032973640562L;  // log(2 pi) / 2
  return (a - 0.5L) * log(a / sum) - (b - 0.5L) * log1p(a / b) - 0.5L * log(sum) + half_log + rest + log(quotient);
}

/// log |beta(a, b)|; where one is negative as accurate as log gamma is.
BURLAB_NOINLINE double betaln(double a, double b) {
  if (a > 0 && b > 0) {
    const BetaParts parts = beta_parts(a, b);
    const double y = parts.exponent.high + (parts.exponent.low + log(parts.rest));
    if (magnitude(y) > 2 && magnitude(y) < 1e300) return y;  // else the sum cancels, or a part is too large
    return static_cast<double>(log_beta<long double>(a, b));
  }
  return a == 0 && b == 0 ? kInfinity<double> : lgamma(a) + lgamma(b) - lgamma(a + b);
}

/// The derivative of order n of digamma, n > 1.
BURLAB_NOINLINE double polygamma_by_zeta(double n, double x) {
  if (!(n > 0) || n != std::floor(n)) return kNan<double>;
  const double size = std::tgamma(n + 1) * hurwitz_zeta(n + 1, x);
  return std::fmod(n, 2) == 1 ? size : -size;
}

/// The derivative of order n of digamma. Of a known order up to 1 it is part of a loop.
BURLAB_ANYWHERE double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  return polygamma_by_zeta(n, x);
}

/// The derivative of order n by s of `hurwitz_zeta`.
BURLAB_NOINLINE double hurwitz_derivative(double n, double s, double q) {
  if (n == 0) return hurwitz_zeta(s, q);
  if (!(n > 0) || n != std::floor(n) || n > Jet::kOrder || !(s > 1) || !(q > 0)) return n < 0 ? 0 : kNan<double>;
  if (!(s < 1e300 && q < 1e300)) return s == s && q == q && (q > 1 || s < 1e300) ? 0 : kNan<double>;
  return zeta_derivative(static_cast<int>(n), s, q);
}

/// The derivative of order n of Riemann's zeta function; below -1 by its functional equation,
/// zeta(s) = 2 (2 pi)^(s - 1) sin(pi s / 2) gamma(1 - s) zeta(1 - s).
BURLAB_NOINLINE double riemann_zeta(double order, double s) {
  if (!(order >= 0) || order != std::floor(order) || order > Jet::kOrder || !(s > -1e308)) return kNan<double>;
  const int n = static_cast<int>(order);
  if (s == 1) return n % 2 == 0 ? kInfinity<double> : -kInfinity<double>;
  if (s > 1e4) return n == 0 ? 1 : 0;
  if (s >= -1) return zeta_derivative(n, s, 1);
  if (n == 0 && std::fmod(s, 2) == 0) return 0;
  const long double pi = 3.141592653589793238462643383279502884L, part = pi / 2 * std::fmod(s, 4.0);
  long double sine[Jet::kSide], zeta[Jet::kSide], gamma[Jet::kSide], power = 1, sign = 1;
  for (int k = 0; k <= n; ++k) {  // Taylor coefficients in s
    const long double over = power / std::tgamma(k + 1.0L), wave = k % 2 == 0 ? std::sin(part) : std::cos(part);
    sine[k] = (k / 2 % 2 == 0 ? wave : -wave) * over;
    power *= pi / 2;
    zeta[k] = sign * zeta_derivative(k, 1 - s, 1) / std::tgamma(k + 1.0L);
    gamma[k] =
        k == 0 ? std::lgamma(1 - static_cast<long double>(s)) : sign * polygamma(k - 1, 1 - s) / std::tgamma(k + 1.0L);
    sign = -sign;
  }
  const Jet x = variable(s, n, 0);
  const Jet result = exp(compose(x, gamma) + (x - 1) * std::log(2 * pi)) * compose(x, sine) * compose(x, zeta) * 2.0L;
  return static_cast<double>(derivative(result, n, 0));
}

}  // namespace burlab::math
BURLAB_END
