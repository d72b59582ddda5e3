#pragma once
// pow: e^(y log |x|) with a logarithm of some 65 bits, and the conventions of IEEE 754.
#include "exponential.hpp"
#include "logarithm.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// A number as the sum of two.
struct Pair {
  double high, low;
};
/// x * y without error (Dekker 1971), for numbers far from overflow.
BURLAB_CONSTEXPR Pair product(double x, double y) {
  const double x1 = upper_half(x), y1 = upper_half(y), x2 = x - x1, y2 = y - y1, xy = x * y;
  return {xy, ((x1 * y1 - xy) + x1 * y2 + x2 * y1) + x2 * y2};
}
/// x + y without error (Knuth 1969).
BURLAB_CONSTEXPR Pair sum(double x, double y) {
  const double s = x + y, t = s - x;
  return {s, (x - (s - t)) + (y - t)};
}

/// log x for positive x: 2 s + 2/3 s^3 + s^5 P(s^2), the first two terms in pairs.
BURLAB_CONSTEXPR Pair log_pair(double x) {
  constexpr double third = 0.6666666666666666, third_low = 3.700743415417188e-17;  // two of them
  const auto [m, n] = split(x);
  const double f = m - 1, g = 2 + f, g_low = f - (g - 2), s = f / g;
  const Pair sg = product(s, g), square = product(s, s);
  const double s_low = (((f - sg.high) - sg.low) - s * g_low) / g;
  const double z = square.high, z_low = square.low + 2 * s * s_low, q = z * z;
  const double p = (0.4 + 0.28571428571331964 * z) +
                   q * ((0.22222222273998712 + 0.18181807784294365 * z) +
                        q * ((0.15385607962939377 + 0.13284871761930872 * z) + q * 0.1292685465914393));
  const Pair cube = product(z, third), u = sum(2.0, cube.high), l = product(s, u.high);
  const double u_low = u.low + (cube.low + z * third_low + z_low * third + q * p);
  const Pair total = sum(n * Real<double>::kLn2High, l.high);
  const double low = total.low + ((l.low + s * u_low + s_low * u.high) + n * Real<double>::kLn2Low);
  const double high = total.high + low;
  return {high, low - (high - total.high)};
}

/// e^(y log a) for a > 0.
BURLAB_CONSTEXPR double power_of_positive(double a, double y) {
  y = y < -1e21 ? -1e21 : y;  // no number but 1 has a logarithm so small that this matters
  y = y > 1e21 ? 1e21 : y;
  const Pair l = log_pair(a), e = product(y, l.high);
  const double low = e.low + y * l.low;
  double high = e.high < -746 ? -746.0 : e.high;
  high = high > 710 ? 710.0 : high;
  return exp_of_sum(high, high == e.high ? low : 0.0);
}
/// A float in double, where it needs no care.
BURLAB_CONSTEXPR float power_of_positive(float a, float b) {
  const double x = a;
  double y = b;
  y = y < -1e21 ? -1e21 : y;
  y = y > 1e21 ? 1e21 : y;
  const auto [m, n] = split(x);
  return static_cast<float>(exp(y * log_of_parts(x, m - 1, n, 0.0)));
}

template <class T> BURLAB_CONSTEXPR bool is_whole(T positive) {
  constexpr T top = T(Bits<T>(1) << Real<T>::kMantissa);
  return (positive >= top) | ((positive + top) - top == positive);
}

template <class T>
  requires std::is_floating_point_v<T>
BURLAB_CONSTEXPR T pow(T x, T y) {
  constexpr T inf = kInfinity<T>, nan = kNan<T>, zero = 0, one = 1;
  const T a = magnitude(x), b = magnitude(y), inside = ((a > zero) & (a < inf)) ? a : one;
  const bool whole = is_whole(b), odd = whole & !is_whole(T(0.5) * b), up = y > zero;
  const T at_zero = up ? zero : inf, at_infinity = up ? inf : zero;
  T z = power_of_positive(inside, y);
  z = a == zero ? at_zero : z;
  z = a == inf ? at_infinity : z;
  const T signed_z = with_sign_of(z, x);
  z = odd ? signed_z : z;
  z = (((x < zero) & (a < inf) & !whole) | (x != x) | (y != y)) ? nan : z;
  return ((x == one) | (y == zero)) ? one : z;
}

}  // namespace burlab::math
BURLAB_END
