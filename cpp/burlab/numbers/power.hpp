#pragma once
// pow: e^(y log |x|) with a logarithm of some 65 bits, and the conventions of IEEE 754.
#include "exponential.hpp"
#include "logarithm.hpp"
#include "rounding.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// A number as the sum of two.
struct Pair {
  double high, low;
};
/// x * y without error (Dekker 1971), for numbers far from overflow.
BURLAB_ANYWHERE Pair product(double x, double y) {
#if defined(BURLAB_PLAIN)
  const double x1 = upper_half(x), y1 = upper_half(y), x2 = x - x1, y2 = y - y1, xy = x * y;
  return {xy, ((x1 * y1 - xy) + x1 * y2 + x2 * y1) + x2 * y2};
#else
  const double xy = x * y;
  return {xy, __builtin_fma(x, y, -xy)};
#endif
}
/// x + y without error (Dekker 1971), for |x| >= |y| or x = 0.
BURLAB_CONSTEXPR Pair sum(double x, double y) {
  const double s = x + y;
  return {s, y - (s - x)};
}

/// log x for positive x: 2 s + 2/3 s^3 + s^5 P(s^2), the first two terms in pairs.
BURLAB_ANYWHERE Pair log_pair(double x) {
  constexpr double third = 0.6666666666666666, third_low = 3.700743415417188e-17;  // two of them
  const auto [m, n] = split(x);
  const double f = m - 1, g = 2 + f, g_low = f - (g - 2), reciprocal = 1 / g, s = f * reciprocal;
  const Pair sg = product(s, g), square = product(s, s);
  const double s_low = fused(-s, g_low, (f - sg.high) - sg.low) * reciprocal;
  const double z = square.high, z_low = fused(s + s, s_low, square.low), q = z * z;
  const double p = fused(q,
                         fused(q, fused(q, 0.1292685465914393, fused(0.13284871761930872, z, 0.15385607962939377)),
                               fused(0.18181807784294365, z, 0.22222222273998712)),
                         fused(0.28571428571331964, z, 0.4));
  const Pair cube = product(z, third), u = sum(2.0, cube.high), l = product(s, u.high);
  const double u_low = fused(q, p, u.low + fused(z, third_low, fused(z_low, third, cube.low)));
  const Pair total = sum(n * Real<double>::kLn2High, l.high);
  const double low = total.low + fused(n, Real<double>::kLn2Low, fused(s, u_low, fused(s_low, u.high, l.low)));
  const double high = total.high + low;
  return {high, low - (high - total.high)};
}

/// e^(y log a) for a >= 0; nan where one of both is.
BURLAB_ANYWHERE double power_of_positive(double a, double y) {
  y = y < -1e21 ? -1e21 : y;  // no number but 1 has a logarithm so small that this matters
  y = y > 1e21 ? 1e21 : y;
  const Pair l = log_pair(a);
  const double above = a == kInfinity<double> ? a : l.high, log = a == 0 ? -kInfinity<double> : above;
  const Pair e = product(y, a == a ? log : a);
  const double low = fused(y, l.low, e.low);
  const bool vanishes = e.high < -746;
  const double bounded = e.high > 710 ? 710.0 : e.high, high = vanishes ? 0.0 : bounded;
  const double z = exp_of_sum(high, high == e.high ? low : 0.0);
  return vanishes ? 0.0 : z;
}
/// A float in double, where it needs no care.
BURLAB_ANYWHERE float power_of_positive(float a, float b) {
  const double x = a;
  double y = b;
  y = y < -1e21 ? -1e21 : y;
  y = y > 1e21 ? 1e21 : y;
  const auto [m, n] = split(x);
  return static_cast<float>(exp(y * log_of_parts(x, m - 1, n, -0.0)));
}

template <class T>
  requires std::is_floating_point_v<T>
BURLAB_ANYWHERE T pow(T x, T y) {
  const T a = magnitude(x), b = magnitude(y), half = T(0.5) * b;
  const bool whole = trunc(b) == b, odd = whole & (trunc(half) != half);
  T z = power_of_positive(a, y);
  z = odd ? with_sign_of(z, x) : z;
  z = ((x < T(0)) & (a < kInfinity<T>)&!whole) ? kNan<T> : z;
  return ((x == T(1)) | (y == T(0))) ? T(1) : z;
}

}  // namespace burlab::math
BURLAB_END
