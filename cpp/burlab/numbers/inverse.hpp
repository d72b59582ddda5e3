#pragma once
// arcsin and arccos, around 0 and around 1; arcsinh and arccosh, as logarithms. A float in double.
#include "logarithm.hpp"

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

/// log(a + sqrt(a^2 + 1)), whose argument less 1 is a + a^2 / (1 + sqrt(a^2 + 1)); for large a, log 2a.
BURLAB_CONSTEXPR double asinh(double x) {
  const double a = magnitude(x);
  const bool large = a > 1e9;
  const double b = large ? 1.0 : a, square = b * b, some = b + square / (1 + burlab_sqrt(square + 1));
  const double near = log1p(some), far = log(a) + 0.6931471805599453;
  return with_sign_of(large ? far : near, x);
}
/// log(x + sqrt(x^2 - 1)), by t = x - 1, and as above.
BURLAB_CONSTEXPR double acosh(double x) {
  const bool large = x > 1e9;
  const double t = (large ? 2.0 : x) - 1, some = t + burlab_sqrt(2 * t + t * t);
  const double near = log1p(some), far = log(x) + 0.6931471805599453;
  return large ? far : x < 1 ? kNan<double> : near;
}
BURLAB_CONSTEXPR float asinh(float x) { return static_cast<float>(asinh(static_cast<double>(x))); }
BURLAB_CONSTEXPR float acosh(float x) { return static_cast<float>(acosh(static_cast<double>(x))); }

}  // namespace burlab::math
BURLAB_END
