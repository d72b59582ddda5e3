#pragma once
// log and log1p: x = 2^n (1 + f), 1 + f between sqrt(1/2) and sqrt(2).
#include "polynomial.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// x = 2^exponent * mantissa, for positive numbers that may be denormal.
template <class T> struct Split {
  T mantissa, exponent;
};
/// The bits of x, but that the exponent's are those of n: the mantissa starts at sqrt(1/2).
template <class T> BURLAB_CONSTEXPR Bits<T> from_root(T x) {
  constexpr Bits<T> root = __builtin_bit_cast(Bits<T>, T(0.7071067811865476));
  return __builtin_bit_cast(Bits<T>, x) + ((Real<T>::kBias << Real<T>::kMantissa) - root);
}
template <class T> BURLAB_CONSTEXPR T mantissa_of(Bits<T> b) {
  constexpr Bits<T> root = __builtin_bit_cast(Bits<T>, T(0.7071067811865476));
  return __builtin_bit_cast(T, (b & ((Bits<T>(1) << Real<T>::kMantissa) - 1)) + root);
}
/// n + kBias as a number, added to one whose last bit counts 1.
template <class T> inline constexpr T kWhole = T(Bits<T>(1) << Real<T>::kMantissa);
template <class T> BURLAB_CONSTEXPR T exponent_of(Bits<T> b) {
  return __builtin_bit_cast(T, (b >> Real<T>::kMantissa) | __builtin_bit_cast(Bits<T>, kWhole<T>));
}
template <class T> BURLAB_CONSTEXPR Split<T> split(T x) {
  using R = Real<T>;
  constexpr T least = __builtin_bit_cast(T, Bits<T>(1) << R::kMantissa), up = T(Bits<T>(1) << (R::kMantissa + 1));
  constexpr T normal = kWhole<T> + T(R::kBias), denormal = normal + T(R::kMantissa + 1);
  const T scaled = x * up, offset = x < least ? denormal : normal;
  const Bits<T> b = from_root(x < least ? scaled : x);
  return {mantissa_of<T>(b), exponent_of<T>(b) - offset};
}

/// (log((1 + s) / (1 - s)) - 2 s) / s at z = s^2.
BURLAB_ANYWHERE float log_rest(float z) {
  const float q = z * z;
  return z * fused(q, fused(2.3565954e-01f, z, 2.8538448e-01f), fused(4.000031e-01f, z, 6.666667e-01f));
}
BURLAB_ANYWHERE double log_rest(double z) {
  const double q = z * z;
  return z * fused(q,
                   fused(q, fused(q, 0.147719198043854, fused(0.1531681121881119, z, 0.18183439797430237)),
                         fused(0.2222220136040727, z, 0.28571428710355606)),
                   fused(0.3999999999958862, z, 0.6666666666666702));
}

/// n ln 2 + low + log(1 + f) = n ln 2 + low + f - (f^2 / 2 - s (f^2 / 2 + R)), s = f / (2 + f). x: the argument of log,
/// for its values at 0, below, and at infinity.
template <class T> BURLAB_ANYWHERE T log_of_parts(T x, T f, T n, T low) {
  const T s = f / (T(2) + f), h = T(0.5) * (f * f);
  const T left = h - fused(s, h + log_rest(s * s), fused(n, Real<T>::kLn2Low, low));
  const T y = fused(n, Real<T>::kLn2High, f - left);
  const T edge = x == T(0) ? -kInfinity<T> : kNan<T>, positive = x == kInfinity<T> ? x : y;
  return x > T(0) ? positive : edge;
}

template <class T>
  requires std::is_floating_point_v<T>
BURLAB_ANYWHERE T log(T x) {
  const auto [m, n] = split(x);
  return log_of_parts(x, m - T(1), n, T(-0.0));
}

/// log(1 + x), 1 + x = 2^n (1 + f): n of the rounded sum, but f = 2^-n x + (2^-n - 1), x near 0.
template <class T>
  requires std::is_floating_point_v<T>
BURLAB_ANYWHERE T log1p(T x) {
  using R = Real<T>;
  const T u = T(1) + x;
  const Bits<T> b = from_root(u), exponent = b & ~((Bits<T>(1) << R::kMantissa) - 1);
  const T scale = __builtin_bit_cast(T, ((R::kBias + 1) << (R::kMantissa + 1)) - exponent);  // 4 2^-n is no denormal
  const T quarter = T(0.25) * x, less = fused(T(0.25), scale, T(-1)), f = fused(quarter, scale, less);
  const T f_rest = fused(quarter, scale, less - f), low = fused(-f, f_rest, f_rest);  // over 1 + f
  const T y = log_of_parts(u, f, exponent_of<T>(b) - (kWhole<T> + T(R::kBias)), low);
  return magnitude(x) < T(1e-16) ? x : y;
}

}  // namespace burlab::math
BURLAB_END
