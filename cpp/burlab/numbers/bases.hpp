#pragma once
// Powers and logarithms of other bases, and the cube root: exact where the exact value is a number. A float in double.
#include "power.hpp"
#include "rounding.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// 2^x = 2^n 2^t, n whole and |t| <= 1/2: nothing is rounded before the power of what is left, 1 + t log 2 + t^2 P(t).
BURLAB_ANYWHERE double exp2(double x) {
  const bool vanishes = x < -1076.0;
  const double top = x > 1025.0 ? 1025.0 : x, bounded = vanishes ? 0.0 : top;
  const auto [shift, factor] = shift_of(bounded);
  const double shifted = bounded + shift, t = bounded - (shifted - shift), q = t * t;
  const double high = fused(q, fused(q, 2.5740097720756874e-11, fused(4.456207068304955e-10, t, 7.054889686423222e-09)),
                            fused(1.0178054629400425e-07, t, 1.3215486828468698e-06));
  const double p = fused(q,
                         fused(q, fused(q, high, fused(1.525273384692764e-05, t, 0.00015403530393347982)),
                               fused(0.0013333558146401906, t, 0.00961812910762849)),
                         fused(0.05550410866482164, t, 0.24022650695910072));
  const double rest = fused(q, p, t * 2.3190468138462996e-17), y = 1 + fused(t, 0.6931471805599453, rest);
  return vanishes ? 0.0 : y * power_of_two(shifted) * factor;
}

/// log x of another base: f - left = log(1 + f) times its number, in two parts, and what n adds. x: for the edges.
BURLAB_CONSTEXPR double at_edges(double x, double y) {
  const double edge = x == 0 ? -kInfinity<double> : kNan<double>, positive = x == kInfinity<double> ? x : y;
  return x > 0 ? positive : edge;
}
BURLAB_ANYWHERE double left_of_log(double f) {
  const double s = f / (2 + f), h = 0.5 * (f * f);
  return fused(-s, h + log_rest(s * s), h);
}
/// Exact at powers of two, where f is 0.
BURLAB_ANYWHERE double log2(double x) {
  constexpr double factor = 1.4426950408889634, factor_low = 2.0355273740931033e-17;
  const auto [m, n] = split(x);
  const double f = m - 1, rest = fused(f, factor_low, -factor * left_of_log(f));
  return at_edges(x, n + fused(f, factor, rest));
}
/// Exact at powers of ten: less than half a unit is lost before the last sum. n times its number's first part is exact.
BURLAB_ANYWHERE double log10(double x) {
  constexpr double factor = 0.4342944819032518, factor_low = 1.098319650216765e-17, whole = 0.30102999566361177,
                   whole_low = 3.694239077158931e-13;
  const auto [m, n] = split(x);
  const double f = m - 1, rest = fused(f, factor_low, -factor * left_of_log(f));
  return at_edges(x, fused(n, whole, fused(f, factor, fused(n, whole_low, rest))));
}

/// x = m 8^q with m from 0.35 to 2.83. r = 1 / cbrt m is a cubic in the mantissa, and a step of third order; t = m r^2,
/// rounded to 26 bits so that its square is exact, is mended by what m exceeds t^3: (1 - v)^(-1/3) = 1 + v/3 + 2/9 v^2.
BURLAB_ANYWHERE double cbrt(double x) {
  constexpr double shift = Real<double>::kShift;
  const double a = magnitude(x);
  const auto [part, n] = split(a);
  const double shifted = fused(n, 0.3333333333333333, shift + 1023), q = shifted - (shift + 1023),
               left = fused(-3.0, q, n);
  const double m = part * power_of_two(left + (shift + 1023));
  const double up = left > 0 ? 0.7937005259840998 : 1.0, scale = left < 0 ? 1.2599210498948732 : up;
  const double guess =
      scale * fused(part, fused(part, fused(part, -0.15853978023897233, 0.7133406237948171), -1.285731867936352),
                    1.730709656982446);
  const double e = fused(-m, guess * guess * guess, 1);
  const double r = fused(guess * e, fused(0.2222222222222222, e, 0.3333333333333333), guess), square = r * r;
  const double t = upper_half(m * square), v = fused(-(t * t), t, m) * (square * r);
  const double y = fused(t * v, fused(0.2222222222222222, v, 0.3333333333333333), t) * power_of_two(shifted);
  return with_sign_of(((a > 0) & (a < kInfinity<double>)) ? y : a, x);
}

BURLAB_ANYWHERE float exp2(float x) { return static_cast<float>(exp2(static_cast<double>(x))); }
BURLAB_ANYWHERE float log2(float x) { return static_cast<float>(log2(static_cast<double>(x))); }
BURLAB_ANYWHERE float log10(float x) { return static_cast<float>(log10(static_cast<double>(x))); }
BURLAB_ANYWHERE float cbrt(float x) { return static_cast<float>(cbrt(static_cast<double>(x))); }

}  // namespace burlab::math
BURLAB_END
