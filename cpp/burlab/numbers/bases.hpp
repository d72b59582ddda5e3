#pragma once
// Powers and logarithms of other bases, and the cube root: exact where the exact value is a number. A float in double.
#include "power.hpp"
#include "rounding.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// 2^x = 2^n e^(r ln 2), n whole and |r| <= 1/2: nothing is rounded before the exponential of what is left.
BURLAB_CONSTEXPR double exp2(double x) {
  const bool vanishes = x < -1076.0;
  const double top = x > 1025.0 ? 1025.0 : x, bounded = vanishes ? 0.0 : top;
  const double shifted = bounded + Real<double>::kShift, n = shifted - Real<double>::kShift;
  const double t = bounded - n, r = t * 0.6931471805599453, low = t * 2.3190468138462996e-17;
  const double p = 1 + (r + (r * r * exp_rest(r) + low));
  const std::uint64_t k =
      __builtin_bit_cast(std::uint64_t, shifted) - __builtin_bit_cast(std::uint64_t, Real<double>::kShift);
  const std::uint64_t half = ((k + 4096) >> 1) - 2048;
  const double y =
      p * __builtin_bit_cast(double, (half + 1023) << 52) * __builtin_bit_cast(double, (k - half + 1023) << 52);
  return vanishes ? 0.0 : y;
}

/// log x times a number in two parts, in some 65 bits: what rounds to a whole number where it is one.
BURLAB_CONSTEXPR double scaled_log(double x, double factor, double factor_low) {
  const bool inside = (x > 0) & (x < kInfinity<double>);
  const Pair l = log_pair(inside ? x : 1.0), y = product(l.high, factor);
  const double value = y.high + (y.low + (l.high * factor_low + l.low * factor));
  const double edge = x == 0 ? -kInfinity<double> : kNan<double>, above = x == kInfinity<double> ? x : edge;
  return inside ? value : above;
}
BURLAB_CONSTEXPR double log2(double x) { return scaled_log(x, 1.4426950408889634, 2.0355273740931033e-17); }
BURLAB_CONSTEXPR double log10(double x) { return scaled_log(x, 0.4342944819032518, 1.098319650216765e-17); }

/// x = m 8^q with m from 1/3 to 3: three steps of Halley from a line through m, and one of Newton whose rest is exact.
BURLAB_CONSTEXPR double cbrt(double x) {
  const double a = magnitude(x);
  const bool inside = (a > 0) & (a < kInfinity<double>);
  const auto [part, n] = split(inside ? a : 1.0);
  const double q = rint(n * 0.3333333333333333), left = n - 3 * q;
  const double m = part * (left < 0 ? 0.5 : left > 0 ? 2.0 : 1.0);
  double t = 0.55 + m * (0.5 - m * 0.05);
  double cube = t * t * t;
  t = t * ((cube + (m + m)) / ((cube + cube) + m));
  cube = t * t * t;
  t = t * ((cube + (m + m)) / ((cube + cube) + m));
  cube = t * t * t;
  t = t * ((cube + (m + m)) / ((cube + cube) + m));
  t = upper_half(t);  // t * t is exact
  const double square = t * t, over = m / square;
  t = t + t * ((over - t) / ((t + t) + over));
  const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, q + Real<double>::kShift) -
                             __builtin_bit_cast(std::uint64_t, Real<double>::kShift);
  const double y = t * __builtin_bit_cast(double, (bits + 1023) << 52);
  return with_sign_of(inside ? y : a, x);
}

BURLAB_CONSTEXPR float exp2(float x) { return static_cast<float>(exp2(static_cast<double>(x))); }
BURLAB_CONSTEXPR float log2(float x) { return static_cast<float>(log2(static_cast<double>(x))); }
BURLAB_CONSTEXPR float log10(float x) { return static_cast<float>(log10(static_cast<double>(x))); }
BURLAB_CONSTEXPR float cbrt(float x) { return static_cast<float>(cbrt(static_cast<double>(x))); }

}  // namespace burlab::math
BURLAB_END
