#pragma once
// arcsin and arccos, around 0 and around 1; arcsinh and arccosh, as logarithms. A float in double.
#include "hyperbolic.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// (arcsin x - x) / x^3 at z = x^2, |x| <= 1/2.
BURLAB_CONSTEXPR double asin_rest(double z) {
  const double q = z * z, s = q * q;
  return ((0.16666666666666669 + 0.07499999999998433 * z) + q * (0.04464285714635543 + 0.030381944138531247 * z)) +
         s * (((0.02237217294214989 + 0.017352392720869973 * z) +
               q * (0.013971212973552933 + 0.011479177415184906 * z)) +
              s * ((0.01032281435018578 + 0.005457506718640358 * z) +
                   q * ((0.01740087944269402 - 0.014851887071247204 * z) + q * 0.028757851367421566)));
}

/// Near 1 by the half angle: arccos a = 2 arcsin sqrt((1 - a) / 2).
BURLAB_CONSTEXPR double asin(double x) {
  const double a = magnitude(x), half = 0.5 * (1 - a), root = burlab_sqrt(half);
  const bool steep = a > 0.5;
  const double z = steep ? half : a * a, t = steep ? root : a, rest = t * (z * asin_rest(z));
  const double far = 1.5707963267948966 - (2 * (t + rest) - 6.123233995736766e-17), near = t + rest;
  return with_sign_of(steep ? far : near, x);
}
BURLAB_CONSTEXPR double acos(double x) {
  const double a = magnitude(x), half = 0.5 * (1 - a), root = burlab_sqrt(half);
  const bool steep = a > 0.5, below = x < 0;
  const double z = steep ? half : a * a, t = steep ? root : x, rest = t * (z * asin_rest(z));
  const double near = 1.5707963267948966 - (t - (6.123233995736766e-17 - rest));
  const double above = 2 * (t + rest), other = 3.141592653589793 - (above - 1.2246467991473532e-16);
  const double far = below ? other : above;
  return steep ? far : near;
}
BURLAB_CONSTEXPR float asin(float x) { return static_cast<float>(asin(static_cast<double>(x))); }
BURLAB_CONSTEXPR float acos(float x) { return static_cast<float>(acos(static_cast<double>(x))); }

/// log 2(v + 2 low) = n ln 2 + log((1 + s) / (1 - s)); where n is 0, s = over / under, which is known better.
BURLAB_ANYWHERE double log_of_double(double v, double low, double over, double under) {
  const std::uint64_t b = from_root(v);
  const double m = mantissa_of<double>(b), n = exponent_of<double>(b) - (kWhole<double> + 1022);
  const double scale = __builtin_bit_cast(double, (std::uint64_t(2047) << 52) - (b & (std::uint64_t(2047) << 52)));
  const bool near = n == 0;
  return log_of_quotient((near ? over : fused(low, scale, m - 1)) / (near ? under : m + 1), n);
}
/// log(a + w), w = sqrt(a^2 + 1), and what rounding has taken from w and the sum; near 0 by tanh(y / 2) = a / (1 + w).
BURLAB_ANYWHERE double asinh(double x) {
  const double a = magnitude(x), square = fused(a, a, 1), root = burlab_sqrt(square);
  const bool large = a > 1e9;
  const double w = large ? a : root, v = 0.5 * a + 0.5 * w;
  const double slope = fused(-0.08, w, 0.2035), some = slope > 0 ? slope : 0.0;  // 1 / 8w, where it matters
  const double low = fused(-rest(w, w, square), some, 0.25 * (a - ((v + v) - w)));
  const double y = log_of_double(v, large ? 0.0 : low, a, 1 + w);
  return with_sign_of(a < kInfinity<double> ? y : a, x);
}
/// log(x + w), w = sqrt(x^2 - 1); near 1 by tanh(y / 2) = w / (1 + x).
BURLAB_ANYWHERE double acosh(double x) {
  const double t = x - 1, root = burlab_sqrt(fused(t, t, t + t)), w = x > 1e9 ? x : root;
  const double y = log_of_double(0.5 * x + 0.5 * w, 0.0, w, 1 + x);
  const double beyond = x == kInfinity<double> ? x : kNan<double>;
  return ((x >= 1) & (x < kInfinity<double>)) ? y : beyond;
}
BURLAB_ANYWHERE float asinh(float x) { return static_cast<float>(asinh(static_cast<double>(x))); }
BURLAB_ANYWHERE float acosh(float x) { return static_cast<float>(acosh(static_cast<double>(x))); }

}  // namespace burlab::math
BURLAB_END
