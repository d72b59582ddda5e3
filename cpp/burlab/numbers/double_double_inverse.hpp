#pragma once
// Functions of 106 bits beside those of `double_double.hpp`, which includes this file's users: roots, other bases,
// inverse functions and the error function. Off by less than 2^-102 of their values.
#include "double_double.hpp"

BURLAB_BEGIN
namespace burlab {

namespace double_double {

inline constexpr double kPi[] = {3.141592653589793, 1.2246467991473532e-16};
inline constexpr double kLn10[] = {2.302585092994046, -2.1707562233822494e-16};
inline DoubleDouble constant(const double (&parts)[2]) { return {parts[0], parts[1]}; }

}  // namespace double_double

/// That of the double, and one step of Newton's method.
inline DoubleDouble cbrt(DoubleDouble x) {
  const double root = std::cbrt(x.high);
  if (root == 0 || !(root - root == 0)) return root;
  int k = 0;
  std::frexp(x.high, &k);
  k /= 3;  // scaled, so that no square underflows
  const double y = std::ldexp(root, -k);
  const DoubleDouble square = DoubleDouble::product(y, y), left = double_double::scaled(x, -3 * k) - square * y;
  return double_double::scaled(y + left / (3 * square), k);
}

inline DoubleDouble exp2(DoubleDouble x) {
  if (!(std::fabs(x.high) < 1100)) return std::exp2(x.high);
  const double k = std::rint(x.high);
  const DoubleDouble ln2(double_double::kLn2[0], double_double::kLn2[1]);
  return double_double::scaled(double_double::expm1_series((x - k) * ln2) + 1, static_cast<int>(k));
}
/// Exact for powers of 2.
inline DoubleDouble log2(DoubleDouble x) {
  if (!(x.high > 0 && x.high < std::numeric_limits<double>::infinity())) return std::log2(x.high);
  int k = 0;
  if (std::frexp(x.high, &k) < 0.7071067811865476) --k;
  const DoubleDouble ln2(double_double::kLn2[0], double_double::kLn2[1]);
  return log(double_double::scaled(x, -k)) / ln2 + k;
}
inline DoubleDouble log10(DoubleDouble x) { return log(x) / double_double::constant(double_double::kLn10); }

/// That of the doubles, and what is left of the angle after turning back by it.
inline DoubleDouble atan2(DoubleDouble y, DoubleDouble x) {
  const double angle = std::atan2(y.high, x.high), size = std::fmax(std::fabs(x.high), std::fabs(y.high));
  if (angle == 0 || angle != angle) return angle;
  if (!(size > 0 && size < std::numeric_limits<double>::infinity())) {  // a whole number of eighths of a turn
    return double_double::constant(double_double::kPi) * (std::rint(angle / double_double::kPi[0] * 4) / 4);
  }
  int k = 0;
  std::frexp(size, &k);
  const DoubleDouble turn = angle, s = sin(turn), c = cos(turn);
  const DoubleDouble u = double_double::scaled(x, -k), v = double_double::scaled(y, -k);
  return turn + (v * c - u * s) / (u * c + v * s);
}
inline DoubleDouble asin(DoubleDouble x) { return atan2(x, sqrt((1 - x) * (1 + x))); }
inline DoubleDouble acos(DoubleDouble x) { return atan2(sqrt((1 - x) * (1 + x)), x); }

inline DoubleDouble asinh(DoubleDouble x) {
  const DoubleDouble size = fabs(x), ln2(double_double::kLn2[0], double_double::kLn2[1]);
  if (x.high == 0 || !(size.high < 1e300)) return std::asinh(x.high);
  const DoubleDouble square = size.high < 1e20 ? size * size : DoubleDouble(0);
  const DoubleDouble y = size.high < 1e20 ? log1p(size + square / (1 + sqrt(1 + square))) : log(size) + ln2;
  return std::signbit(x.high) ? -y : y;
}
inline DoubleDouble acosh(DoubleDouble x) {
  if (!(x.high >= 1 && x.high < 1e300)) return std::acosh(x.high);
  const DoubleDouble above = x - 1, ln2(double_double::kLn2[0], double_double::kLn2[1]);
  return x.high < 1e20 ? log1p(above + sqrt(above * (above + 2))) : log(x) + ln2;
}
inline DoubleDouble atanh(DoubleDouble x) {
  const DoubleDouble size = fabs(x);
  if (x.high == 0) return x;
  if (size.high < 0.17) return double_double::artanh_series(x);
  if (!(size < 1)) return std::atanh(x.high);
  const DoubleDouble y = 0.5 * log1p(2 * size / (1 - size));
  return x.high < 0 ? -y : y;
}

namespace double_double {

/// erf x for |x| < 0.5: e^(-x^2) sum of 2^n x^(2n + 1) / (2n + 1)!!, whose terms have one sign, times 2 / sqrt pi.
inline DoubleDouble erf_series(DoubleDouble x) {
  const DoubleDouble square = x * x;
  DoubleDouble y = 1;
  for (int n = 30; n > 0; --n) y = y * (2 * square) / (2 * n + 1) + 1;
  return 2 * x * y * exp(-square) / sqrt(constant(kPi));
}

/// erfc x for x >= 0.5: the integral of e^(-t^2) x / (t^2 + x^2) by the trapezoidal rule of step h, which is off by
/// e^(-(pi / h)^2), and the residue of its pole (Chiarella and Reichel 1968).
inline DoubleDouble erfc_by_trapezoids(DoubleDouble x) {
  constexpr double h = 0.34375;  // exact, and so are its multiples and their squares
  const DoubleDouble pi = constant(kPi), square = x * x, step = exp(-DoubleDouble(h * h));
  DoubleDouble weight = 1, factor = step, total = 1 / square;  // weight: e^(-(n h)^2), factor: e^(-(2n + 1) h^2)
  for (int n = 1; n < 27; ++n) {
    weight = weight * factor;
    factor = factor * step * step;
    total = total + 2 * weight / (n * n * (h * h) + square);
  }
  const DoubleDouble far = DoubleDouble::product(x.high, x.high);  // x^2 to more digits than two doubles have
  const DoubleDouble near = DoubleDouble::product(2 * x.high, x.low) + far.low + x.low * x.low;
  const DoubleDouble tail = h * x / pi * (exp(DoubleDouble(-far.high)) * exp(-near)) * total;
  return x.high < 9 ? tail - 2 / expm1(2 * pi * x / h) : tail;
}

}  // namespace double_double

inline DoubleDouble erfc(DoubleDouble x) {
  if (!(std::fabs(x.high) < 27.5)) return std::erfc(x.high);
  if (x.high >= 0.5) return double_double::erfc_by_trapezoids(x);
  return x.high > -0.5 ? 1 - double_double::erf_series(x) : 2 - double_double::erfc_by_trapezoids(-x);
}
inline DoubleDouble erf(DoubleDouble x) {
  if (std::fabs(x.high) < 0.5) return double_double::erf_series(x);
  if (!(std::fabs(x.high) < 27.5)) return std::erf(x.high);
  const DoubleDouble y = 1 - double_double::erfc_by_trapezoids(fabs(x));
  return x.high < 0 ? -y : y;
}

}  // namespace burlab
BURLAB_END
