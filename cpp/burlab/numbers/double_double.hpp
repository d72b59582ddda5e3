#pragma once
// Numbers of 106 bits with their functions, by reduction and Taylor series: off by less than 2^-103 of their values,
// but for powers, which multiply an error, and for sin, cos and tan of large numbers near their zeros.
#include <cstdint>
#include <limits>

#include "double_double_arithmetic.hpp"

BURLAB_BEGIN
namespace burlab {

namespace double_double {

// Constants by their leading digits: the sum of the doubles.
inline constexpr double kLn2[] = {0.6931471805599453, 2.3190468138462996e-17, 5.707708438416212e-34};
inline constexpr double kHalfPi[] = {1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33,
                                     5.562271104316826e-50};

/// x - k c for a whole k, c in parts: no product is rounded.
template <int N> DoubleDouble reduced(DoubleDouble x, double k, const double (&parts)[N]) {
  for (const double part : parts) x = x - DoubleDouble::product(k, part);
  return x;
}

/// 2^k x.
inline DoubleDouble scaled(DoubleDouble x, int k) { return {std::ldexp(x.high, k), std::ldexp(x.low, k)}; }

/// e^x - 1 for |x| < 0.4.
inline DoubleDouble expm1_series(DoubleDouble x) {
  DoubleDouble y = 1;
  for (int n = 25; n > 1; --n) y = y * x / n + 1;
  return y * x;
}

/// 2^shift e^x, infinite only where that is.
inline DoubleDouble power_of_e(DoubleDouble x, int shift) {
  if (!(std::fabs(x.high) < 746)) return std::exp(x.high);
  const double k = std::rint(x.high / kLn2[0]);
  return scaled(expm1_series(reduced(x, k, kLn2)) + 1, static_cast<int>(k) + shift);
}

/// artanh x for |x| < 0.18.
inline DoubleDouble artanh_series(DoubleDouble x) {
  const DoubleDouble square = x * x;
  DoubleDouble y;
  for (int n = 45; n > 0; n -= 2) y = y * square + DoubleDouble(1) / n;
  return y * x;
}

/// sin(x + quarters pi / 2); nan from 1e15 on, where the reduction would not be exact.
inline DoubleDouble sine(DoubleDouble x, int quarters) {
  if (!(std::fabs(x.high) < 1e15)) return std::numeric_limits<double>::quiet_NaN();
  const double k = std::rint(x.high / kHalfPi[0]);
  const DoubleDouble r = reduced(x, k, kHalfPi), square = -(r * r);
  const int quarter = static_cast<int>((static_cast<std::int64_t>(k) + quarters) & 3), odd = quarter & 1;
  DoubleDouble y = 1;
  for (int n = 29 - odd; n > 1; n -= 2) y = y * square / (n * (n - 1)) + 1;
  if (odd == 0) y = y * r;
  return quarter < 2 ? y : -y;
}

/// x^n for 0 <= n, by squares.
inline DoubleDouble whole_power(DoubleDouble x, int n) {
  DoubleDouble y = 1;
  for (; n > 0; n /= 2, x = x * x)
    if (n % 2 == 1) y = y * x;
  return y;
}

}  // namespace double_double

inline DoubleDouble exp(DoubleDouble x) { return double_double::power_of_e(x, 0); }
inline DoubleDouble expm1(DoubleDouble x) {
  return std::fabs(x.high) < 0.35 ? double_double::expm1_series(x) : exp(x) - 1;
}
inline DoubleDouble log(DoubleDouble x) {
  if (!(x.high > 0 && x.high < std::numeric_limits<double>::infinity())) return std::log(x.high);
  int k = 0;
  if (std::frexp(x.high, &k) < 0.7071067811865476) --k;
  const DoubleDouble part = double_double::scaled(x, -k), ln2(double_double::kLn2[0], double_double::kLn2[1]);
  return ln2 * k + 2 * double_double::artanh_series((part - 1) / (part + 1));
}
inline DoubleDouble log1p(DoubleDouble x) {
  return std::fabs(x.high) < 0.25 ? 2 * double_double::artanh_series(x / (x + 2)) : log(x + 1);
}

inline DoubleDouble sin(DoubleDouble x) { return double_double::sine(x, 0); }
inline DoubleDouble cos(DoubleDouble x) { return double_double::sine(x, 1); }
inline DoubleDouble tan(DoubleDouble x) { return sin(x) / cos(x); }
/// That of the double, and what is left of the angle after turning back by it, which is so small that it is its
/// tangent.
inline DoubleDouble atan(DoubleDouble x) {
  if (!(std::fabs(x.high) < 1e300)) {
    const double sign = x.high < 0 ? -1 : 1;
    return x.high != x.high ? x : DoubleDouble(sign * double_double::kHalfPi[0], sign * double_double::kHalfPi[1]);
  }
  const DoubleDouble angle = std::atan(x.high), s = sin(angle), c = cos(angle);
  return angle + (x * c - s) / (c + x * s);
}

inline DoubleDouble sinh(DoubleDouble x) {
  if (std::fabs(x.high) < 0.35) {
    const DoubleDouble y = expm1(x);
    return (y + y / (y + 1)) * 0.5;
  }
  return double_double::power_of_e(x, -1) - double_double::power_of_e(-x, -1);
}
inline DoubleDouble cosh(DoubleDouble x) {
  return double_double::power_of_e(x, -1) + double_double::power_of_e(-x, -1);
}
inline DoubleDouble tanh(DoubleDouble x) {
  if (!(std::fabs(x.high) < 40)) return std::tanh(x.high);
  const DoubleDouble y = expm1(2 * x);
  return y / (y + 2);
}

/// By products for whole exponents up to 64, else e^(y log x): the error is multiplied by |y|, or by |y log x|.
inline DoubleDouble pow(DoubleDouble x, DoubleDouble y) {
  const double size = std::fabs(y.high);
  const bool is_whole = y.high == std::rint(y.high) && y.low == std::rint(y.low);
  if (is_whole && size <= 64) {
    const DoubleDouble z = double_double::whole_power(x, static_cast<int>(size));
    return y.high < 0 ? 1 / z : z;
  }
  const bool is_negative = x.high < 0 && is_whole;
  if (!(size < std::numeric_limits<double>::infinity()) || !(x.high > 0 || is_negative))
    return std::pow(x.high, y.high);
  const DoubleDouble z = exp(y * log(fabs(x)));
  return is_negative && std::fabs(std::fmod(y.high, 2) + std::fmod(y.low, 2)) == 1 ? -z : z;
}

}  // namespace burlab
BURLAB_END
