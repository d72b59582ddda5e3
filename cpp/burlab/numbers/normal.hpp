#pragma once
// Quantiles and tails of the normal distribution: the inverses of erf and erfc, log Phi and phi / Phi, by polynomials
// that become SIMD lanes (`polynomial.hpp`).
#include <cmath>

#include "error_function.hpp"
#include "logarithm.hpp"

BURLAB_BEGIN
namespace burlab::math {

inline constexpr double kHalfRootPi = 0.8862269254527580, kRootHalf = 0.7071067811865476;

/// e^(z^2) erfc z for z >= 0; the asymptotic series where erfc comes near the smallest number.
BURLAB_ANYWHERE double scaled_erfc(double z) {
  const bool far = z > 26;
  const double q = 0.5 / (z * z), near = erfc_by_square(far ? 0.0 : z);
  const double series = 1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q * (1 - 11 * q)))));
  return far ? series / (2 * kHalfRootPi * z) : near;
}

/// y with erf y = x, |x| <= 0.5: x times a polynomial of x^2.
BURLAB_ANYWHERE double erfinv_inside(double x) {
  const double z = x * x, q = z * z;
  const double p = fused(
      q,
      fused(q,
            fused(q,
                  fused(q,
                        fused(q, fused(q, 0.09951397716009813, fused(-0.0543975033519298, z, 0.05823487511902459)),
                              fused(0.014647922534589715, z, 0.029968080039894627)),
                        fused(0.03143160540567929, z, 0.03648851738325005)),
                  fused(0.042835401841888124, z, 0.0517313311454083)),
            fused(0.06495961665938374, z, 0.08655212925396849)),
      fused(0.1275561753055423, z, 0.23201366653465452));
  return x * fused(z, p, kHalfRootPi);
}

/// y >= 0 with erfc y = p, 0 < p <= 0.5: a guess to 3e-7, y / t as a polynomial of 1 / (t + 1.5) for t^2 = -log p, and
/// a step of third order on log erfc, which is nearly a parabola.
BURLAB_ANYWHERE double erfcinv_outside(double p) {
  const double l = -log(p), t = burlab_sqrt(l), u = 1 / (t + 1.5), q = u * u;
  const double guess = fused(q,
                             fused(q,
                                   fused(q,
                                         fused(q, fused(-160.45930115650077, u, 184.95123242562286),
                                               fused(8.553984026826312, u, -86.13019675953302)),
                                         fused(54.498079081503306, u, -21.058985045098595)),
                                   fused(2.797267395005498, u, -1.8432286164277976)),
                             fused(-0.01709157152058549, u, 1.000122278670656));
  const double y = t * guess, s = erfc_by_square(y), r = fused(s, exp(fused(-y, y, l)), -1);
  const double k = kHalfRootPi * s, step = k * (r * fused(r, fused(r, 0.3333333333333333, -0.5), 1));
  return fused(fused(-0.5, 1 / k, y), step * step, y + step);
}

BURLAB_ANYWHERE double erfcinv(double p) {
  const bool other = p > 1;
  const double q = other ? 2 - p : p, tail = erfcinv_outside(q), infinite = q == 0 ? kInfinity<double> : tail;
  const double outside = other ? -infinite : infinite, inside = erfinv_inside(1 - p);
  return q < 0.5 ? outside : inside;
}

BURLAB_ANYWHERE double erfinv(double x) {
  const double a = magnitude(x), tail = erfcinv_outside(1 - a), infinite = a == 1 ? kInfinity<double> : tail;
  const double inside = erfinv_inside(x), outside = with_sign_of(infinite, x);
  return a <= 0.5 ? inside : outside;
}

/// The quantile of the normal distribution.
BURLAB_ANYWHERE double ndtri(double p) { return (0 - erfcinv(2 * p)) / kRootHalf; }

/// erfc(x / sqrt 2) / 2; what x / sqrt 2 loses by rounding is put back.
BURLAB_ANYWHERE double upper_tail(double x) {
  const double z = x * kRootHalf, lost = rest(x, kRootHalf, z) - x * 4.833646656726457e-17;
  return 0.5 * erfc(z) - 0.5 * exp(-z * z) * lost / kHalfRootPi;
}

/// log Phi(x).
BURLAB_ANYWHERE double log_ndtr(double x) {
  const bool below = x < -1, above = x > 40;
  const double inside = above ? 0.0 : below ? 0.0 : x, tail = below ? -x * kRootHalf : 0.0;
  const double lower = fused(-0.5 * x, x, log(0.5 * scaled_erfc(tail))), upper = log1p(-upper_tail(inside));
  const double y = below ? lower : upper;
  return above ? -0.0 : y;
}

/// phi(x) / Phi(x), the derivative of log Phi.
BURLAB_ANYWHERE double mills(double x) {
  constexpr double root = 0.7978845608028654;  // sqrt(2 / pi)
  const bool below = x < 0, within = x < 38.7;
  const double lower = root / scaled_erfc(below ? -x * kRootHalf : 0.0);
  const double inside = below ? 0.0 : within ? x : 0.0, high = upper_half(inside);  // x^2 rounds less in two parts
  const double density = exp_of_sum(-0.5 * (high * high), -0.5 * ((inside - high) * (inside + high)));
  const double upper = 0.5 * root * density / (1 - upper_tail(inside)), beyond = x == x ? 0.0 : x;
  const double y = below ? lower : upper;
  return within ? y : beyond;
}

/// x e_1(-x) of 1 / (x^2 + 8), for x >= 4.
inline constexpr double kMillsExcess[] = {1.0,
                                          -1.9999999999999505,
                                          -6.000000000102438,
                                          -41.999999915055,
                                          -174.00003749624045,
                                          -1697.9898357162847,
                                          -3847.84221747386,
                                          -119325.91640672456,
                                          634207.4236576115,
                                          -19717156.619489584,
                                          272524158.646689,
                                          -4603793451.873169,
                                          56391852695.96826,
                                          -558884727045.3257,
                                          3486675024155.991,
                                          -11860907121230.795};

/// e_1(x) = x + phi(x) / Phi(x), which would cancel far below 0.
BURLAB_ANYWHERE double mills_excess(double x) {
  const double near = x + mills(x), far = polynomial(kMillsExcess, 1 / fused(x, x, 8.0)) / -x;
  return x < -4 ? far : near;
}

/// e_n(x), where e_(n + 1) = n / e_n + x: by Laplace's continued fraction n / (-x + e_(n + 1)) where the sum would
/// cancel.
BURLAB_NOINLINE double mills_term(int n, double x) {
  if (x < -4) {
    double fraction = -x;
    for (int k = 70; k > n; --k) fraction = k / fraction - x;
    return n / fraction;
  }
  double excess = x + mills(x);
  for (int k = 1; k < n; ++k) excess = k / excess + x;
  return excess;
}

}  // namespace burlab::math
BURLAB_END
