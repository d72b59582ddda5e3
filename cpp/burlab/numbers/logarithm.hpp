#pragma once
// log and log1p: x = 2^n (1 + f), 1 + f between sqrt(1/2) and sqrt(2).
#include "polynomial.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// x = 2^exponent * mantissa, for positive numbers that may be denormal.
template <class T> struct Split {
  T mantissa, exponent;
};
template <class T> BURLAB_CONSTEXPR Split<T> split(T x) {
  using R = Real<T>;
  constexpr Bits<T> root = __builtin_bit_cast(Bits<T>, T(0.7071067811865476)), one = R::kBias << R::kMantissa;
  constexpr Bits<T> magic = (R::kBias + R::kMantissa) << R::kMantissa;  // a number whose last bit counts 1
  constexpr T least = __builtin_bit_cast(T, Bits<T>(1) << R::kMantissa), up = T(Bits<T>(1) << (R::kMantissa + 1));
  constexpr T normal = __builtin_bit_cast(T, magic) + T(R::kBias), denormal = normal + T(R::kMantissa + 1);
  const T scaled = x * up, offset = x < least ? denormal : normal;
  const Bits<T> b = __builtin_bit_cast(Bits<T>, x < least ? scaled : x) + (one - root);
  return {__builtin_bit_cast(T, (b & ((Bits<T>(1) << R::kMantissa) - 1)) + root),
          __builtin_bit_cast(T, (b >> R::kMantissa) + magic) - offset};
}

/// (log((1 + s) / (1 - s)) - 2 s) / s at z = s^2.
BURLAB_CONSTEXPR float log_rest(float z) {
  const float q = z * z;
  return z * ((6.666667e-01f + 4.000031e-01f * z) + q * (2.8538448e-01f + 2.3565954e-01f * z));
}
BURLAB_CONSTEXPR double log_rest(double z) {
  const double q = z * z;
  return z * ((0.6666666666666702 + 0.3999999999958862 * z) +
              q * ((0.28571428710355606 + 0.2222220136040727 * z) +
                   q * ((0.18183439797430237 + 0.1531681121881119 * z) + q * 0.147719198043854)));
}

/// n ln 2 + low + log(1 + f) = n ln 2 + low + f - (f^2 / 2 - s (f^2 / 2 + R)), s = f / (2 + f). x: the
/// argument of log, for its values at 0, below, and at infinity.
template <class T> BURLAB_CONSTEXPR T log_of_parts(T x, T f, T n, T low) {
  const T s = f / (T(2) + f), h = T(0.5) * (f * f);
  const T y = n * Real<T>::kLn2High - ((h - (s * (h + log_rest(s * s)) + (n * Real<T>::kLn2Low + low))) - f);
  const T edge = x == T(0) ? -kInfinity<T> : kNan<T>, positive = x == kInfinity<T> ? x : y;
  return x > T(0) ? positive : edge;
}

template <class T>
  requires std::is_floating_point_v<T>
BURLAB_CONSTEXPR T log(T x) {
  const auto [m, n] = split(x);
  return log_of_parts(x, m - T(1), n, T(0));
}

/// log(1 + x): the logarithm of the rounded sum, and its rounding error (Knuth 1969) over it.
template <class T>
  requires std::is_floating_point_v<T>
BURLAB_CONSTEXPR T log1p(T x) {
  const T u = T(1) + x, t = u - T(1), error = (T(1) - (u - t)) + (x - t);
  const auto [m, n] = split(u);
  const T y = log_of_parts(u, m - T(1), n, error / u);
  return magnitude(x) < T(1e-16) ? x : y;
}

}  // namespace burlab::math
BURLAB_END
