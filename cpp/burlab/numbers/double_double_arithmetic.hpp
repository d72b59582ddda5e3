#pragma once
// Numbers of 106 bits, 32 digits: the sum of two doubles that is not carried out (Dekker 1971; Hida, Li and Bailey
// 2001; bounds of the operations: Joldes, Muller and Popescu 2017). Its functions are in `double_double.hpp`.
#include <cmath>
#include <type_traits>

#include "assignment.hpp"
#include "mask.hpp"
#include "polynomial.hpp"

BURLAB_BEGIN
namespace burlab {

/// high + low, where high is the double next to the sum. Sums, products, quotients and roots are off by less than
/// 6 * 2^-106 of themselves, from 1e-290 up to 1e300: below, low has fewer bits. What is infinite or nan is so in high,
/// with 0 in low. A constant such as 0.1 is a double: write DoubleDouble(1) / 10 for all digits of it.
struct DoubleDouble {
  double high = 0, low = 0;

  constexpr DoubleDouble() = default;
  constexpr DoubleDouble(double first, double second) : high(first), low(second) {}
  template <class S>
    requires std::is_arithmetic_v<S>
  constexpr DoubleDouble(S number) : high(static_cast<double>(number)) {
    if constexpr (std::is_integral_v<S> && sizeof(S) > 4) {  // of 64 bits, more than a double has
      const double few = static_cast<double>(number & 0xffffffff);
      *this = normalized(static_cast<double>(number - static_cast<S>(number & 0xffffffff)), few);
    }
  }
  static constexpr DoubleDouble of_digits(double high, double low) { return {high, low}; }
  explicit constexpr operator double() const { return high; }

  /// a + b and the error of this sum, exactly (Knuth 1969).
  static constexpr DoubleDouble sum(double a, double b) {
    const double s = a + b, part = s - a;
    return {s, (a - (s - part)) + (b - part)};
  }
  /// a * b and the error of this product, exactly.
  static DoubleDouble product(double a, double b) {
    double p = a * b;
    BURLAB_ROUNDED(p);
    return {p, math::rest(a, b, p)};
  }
  /// The same sum, of parts of which the second one is smaller.
  static constexpr DoubleDouble normalized(double high, double low) {
    const double s = high - high == 0 ? high + low : high;
    return {s, s - s == 0 ? low - (s - high) : 0.0};
  }

  friend constexpr DoubleDouble operator-(DoubleDouble x) { return {-x.high, -x.low}; }
  friend constexpr DoubleDouble operator+(DoubleDouble x, DoubleDouble y) {
    const DoubleDouble s = sum(x.high, y.high), t = sum(x.low, y.low), u = normalized(s.high, s.low + t.high);
    return normalized(u.high, u.low + t.low);
  }
  friend constexpr DoubleDouble operator-(DoubleDouble x, DoubleDouble y) { return x + -y; }
  friend DoubleDouble operator*(DoubleDouble x, DoubleDouble y) {
    const DoubleDouble p = product(x.high, y.high);
    return normalized(p.high, p.low + (x.high * y.low + x.low * y.high));
  }
  friend DoubleDouble operator/(DoubleDouble x, DoubleDouble y) {
    const double q = x.high / y.high;
    if (q == 0 || !(q - q == 0)) return {q, 0};
    const DoubleDouble left = (x - product(y.high, q)) - product(y.low, q);
    return normalized(q, left.high / y.high);
  }
  friend DoubleDouble sqrt(DoubleDouble x) {
    const double root = std::sqrt(x.high);
    if (root == 0 || !(root - root == 0)) return {root, 0};
    return normalized(root, (x - product(root, root)).high / (2 * root));
  }

  friend constexpr bool operator<(DoubleDouble x, DoubleDouble y) {
    return x.high < y.high || (x.high == y.high && x.low < y.low);
  }
  friend constexpr bool operator<=(DoubleDouble x, DoubleDouble y) {
    return x.high < y.high || (x.high == y.high && x.low <= y.low);
  }
  friend constexpr bool operator>(DoubleDouble x, DoubleDouble y) { return y < x; }
  friend constexpr bool operator>=(DoubleDouble x, DoubleDouble y) { return y <= x; }
  friend constexpr bool operator==(DoubleDouble x, DoubleDouble y) { return x.high == y.high && x.low == y.low; }
  friend constexpr bool operator!=(DoubleDouble x, DoubleDouble y) { return !(x == y); }

  friend constexpr DoubleDouble select(bool mask, DoubleDouble yes, DoubleDouble no) { return mask ? yes : no; }
  friend constexpr bool is_zero(DoubleDouble x) { return x.high == 0; }
  friend DoubleDouble fabs(DoubleDouble x) { return std::signbit(x.high) ? -x : x; }
  friend constexpr DoubleDouble max(DoubleDouble x, DoubleDouble y) { return x < y ? y : x; }
  friend constexpr DoubleDouble min(DoubleDouble x, DoubleDouble y) { return y < x ? y : x; }
};

template <>
inline constexpr bool has_fabs<DoubleDouble> = true;
template <>
inline constexpr bool is_number<DoubleDouble> = true;

}  // namespace burlab
BURLAB_END
