#pragma once
// exp, expm1, sigmoid and tanh. All but tanh reduce their argument, x = n ln 2 + r, |r| <= ln 2 / 2.
#include "polynomial.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// (e^r - 1 - r) / r^2.
BURLAB_CONSTEXPR float exp_rest(float r) {
  const float q = r * r;
  return (0.5f + 1.6666666e-01f * r) +
         q * ((4.166628e-02f + 8.333503e-03f * r) + q * (1.3945734e-03f + 1.9789333e-04f * r));
}
BURLAB_CONSTEXPR double exp_rest(double r) {
  const double q = r * r;
  return (0.5 + 0.16666666666666685 * r) +
         q * ((0.04166666666666604 + 0.008333333333315745 * r) +
              q * ((0.001388888888913295 + 0.00019841269899645268 * r) +
                   q * ((2.4801586905379235e-05 + 2.7557231550945517e-06 * r) +
                        q * ((2.755759149799172e-07 + 2.5113205627278545e-08 * r) + q * 2.0825824773814088e-09))));
}

/// e^(high + low) / 2^halvings, where low is small and high within what `exp` lets pass. 2^n comes in two factors, so
/// that results that overflow or are denormal round once.
template <class T> BURLAB_CONSTEXPR T exp_of_sum(T high, T low, Bits<T> halvings = 0) {
  using R = Real<T>;
  const T shifted = high * R::kLog2E + R::kShift, n = shifted - R::kShift;
  const T r = (high - n * R::kLn2High) - (n * R::kLn2Low - low);
  const T p = T(1) + (r + r * r * exp_rest(r));
  const Bits<T> k = __builtin_bit_cast(Bits<T>, shifted) - __builtin_bit_cast(Bits<T>, R::kShift) - halvings;
  const Bits<T> half = ((k + 4096) >> 1) - 2048;
  const T first = __builtin_bit_cast(T, (half + R::kBias) << R::kMantissa);
  return p * first * __builtin_bit_cast(T, (k - half + R::kBias) << R::kMantissa);
}

/// What lies beyond overflow is moved close to it; nan passes. Below underflow the result is 0 without a product that
/// underflows, which costs a CPU a hundred times as much as another (masks of attention are such arguments).
BURLAB_CONSTEXPR float exp(float x) {
  const bool vanishes = x < -104.0f;
  x = x > 89.0f ? 89.0f : x;
  const float y = exp_of_sum(vanishes ? 0.0f : x, 0.0f);
  return vanishes ? 0.0f : y;
}
BURLAB_CONSTEXPR double exp(double x) {
  const bool vanishes = x < -746.0;
  x = x > 710.0 ? 710.0 : x;
  const double y = exp_of_sum(vanishes ? 0.0 : x, 0.0);
  return vanishes ? 0.0 : y;
}

/// e^x - 1 without cancellation: 2^n (e^r - 1) + (2^n - 1), through half of 2^n, which may be too large. Below -50 it
/// is -1.
template <class T>
  requires std::is_floating_point_v<T>
BURLAB_CONSTEXPR T expm1(T x) {
  using R = Real<T>;
  constexpr T top = std::is_same_v<T, float> ? T(89) : T(710);
  T bounded = x < T(-50) ? T(-50) : x;
  bounded = bounded > top ? top : bounded;
  const T shifted = bounded * R::kLog2E + R::kShift, n = shifted - R::kShift;
  const T r = (bounded - n * R::kLn2High) - n * R::kLn2Low;
  const Bits<T> k = __builtin_bit_cast(Bits<T>, shifted) - __builtin_bit_cast(Bits<T>, R::kShift);
  const T half = __builtin_bit_cast(T, (k + (R::kBias - 1)) << R::kMantissa);
  const T y = (half * (r + r * r * exp_rest(r)) + (half - T(0.5))) * T(2);
  return magnitude(x) < T(1e-16) ? x : y;
}

/// 1 / (1 + e^-x), through e^-|x|; a float in double, which keeps the error below an ulp.
BURLAB_CONSTEXPR double sigmoid(double x) {
  const double e = exp(-magnitude(x)), up = x < 0 ? e : 1.0;
  return up / (1 + e);
}
BURLAB_CONSTEXPR float sigmoid(float single) {
  using R = Real<double>;
  double x = -static_cast<double>(magnitude(single));
  const bool vanishes = x < -104;
  x = vanishes ? 0.0 : x;
  const double shifted = x * R::kLog2E + R::kShift, n = shifted - R::kShift;
  const double r = (x - n * R::kLn2High) - n * R::kLn2Low, q = r * r;
  const double rest =
      (0.5 + 1.6666666e-01 * r) + q * ((4.166628e-02 + 8.333503e-03 * r) + q * (1.3945734e-03 + 1.9789333e-04 * r));
  const std::uint64_t k = __builtin_bit_cast(std::uint64_t, shifted) - __builtin_bit_cast(std::uint64_t, R::kShift);
  const double some = (1 + (r + q * rest)) * __builtin_bit_cast(double, (k + R::kBias) << 52),
               e = vanishes ? 0.0 : some;
  const double up = single < 0 ? e : 1.0;
  return static_cast<float>(up / (1 + e));
}

/// (tanh x - x) / x^3 at z = x^2, |x| <= 0.625.
BURLAB_CONSTEXPR float tanh_rest(float z) {
  const float q = z * z;
  return (-3.3333293e-01f + 1.3331665e-01f * z) + q * ((-5.3754196e-02f + 2.0676997e-02f * z) + q * -5.739475e-03f);
}
BURLAB_CONSTEXPR double tanh_rest(double z) {
  const double q = z * z;
  return (-0.3333333333333319 + 0.1333333333329669 * z) +
         q * ((-0.05396825394407657 + 0.021869487816408146 * z) +
              q * ((-0.008863223631596653 + 0.003592007134303895 * z) +
                   q * ((-0.0014550378136126514 + 0.0005865396475152626 * z) +
                        q * ((-0.00022895593141871798 + 7.753289330083978e-05 * z) + q * -1.62387947986252e-05))));
}

/// x + x^3 P(x^2) near 0, else 1 - 2 / (e^2x + 1).
template <class T>
  requires std::is_floating_point_v<T>
BURLAB_CONSTEXPR T tanh(T x) {
  const T a = magnitude(x), z = a * a;
  const T near = a + a * (z * tanh_rest(z)), far = T(1) - T(2) / (exp(a + a) + T(1));
  return with_sign_of(a < T(0.625) ? near : far, x);
}

}  // namespace burlab::math
BURLAB_END
