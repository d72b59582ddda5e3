#pragma once
// exp, expm1, sigmoid and tanh, by their argument reduced: x = n ln 2 + r, |r| <= ln 2 / 2.
#include "polynomial.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// (e^r - 1 - r) / r^2.
BURLAB_ANYWHERE float exp_rest(float r) {
  const float q = r * r;
  return fused(q, fused(q, fused(1.9789333e-04f, r, 1.3945734e-03f), fused(8.333503e-03f, r, 4.166628e-02f)),
               fused(1.6666666e-01f, r, 0.5f));
}
BURLAB_ANYWHERE double exp_rest(double r) {
  const double q = r * r;
  const double high = fused(q,
                            fused(q, fused(2.5110040616460346e-08, r, 2.7632643692089324e-07),
                                  fused(2.7557242361296536e-06, r, 2.4801487358023968e-05)),
                            fused(0.00019841269886569242, r, 0.0013888888947792596));
  return fused(q, fused(q, high, fused(0.008333333333322215, r, 0.041666666666522086)),
               fused(0.16666666666666674, r, 0.500000000000001));
}

/// 2^n as it lies in the last bits of shifted = n + kShift + kBias, for exponents of normal numbers.
template <class T> BURLAB_CONSTEXPR T power_of_two(T shifted) {
  return __builtin_bit_cast(T, __builtin_bit_cast(Bits<T>, shifted) << Real<T>::kMantissa);
}
/// What to add, so that a sum's last bits are an exponent whose power of two, times the other factor, is 2^n: neither
/// overflows nor is denormal where the result is, which then rounds once.
template <class T> struct Shift {
  T shift, factor;
};
template <class T> BURLAB_CONSTEXPR Shift<T> shift_of(T x) {
  using R = Real<T>;
  constexpr T up = R::kShift + T(R::kBias + 64), down = R::kShift + T(R::kBias - 1), least = T(0x1p-64);
  return {x < T(0) ? up : down, x < T(0) ? least : T(2)};
}

/// e^(high + low), where low is small and high within what `exp` lets pass.
template <class T> BURLAB_ANYWHERE T exp_of_sum(T high, T low) {
  using R = Real<T>;
  const auto [shift, factor] = shift_of(high);
  const T shifted = fused(high, R::kLog2E, shift), n = shifted - shift;
  const T t = fused(n, -R::kLn2High, high), u = fused(n, -R::kLn2Low, t), r = u + low;
  const T rest = fused(n, -R::kLn2Low, t - u) + (low - (r - u));
  const T p = T(1) + r, p_rest = (r - (p - T(1))) + rest * p;
  return (p + fused(r * r, exp_rest(r), p_rest)) * power_of_two(shifted) * factor;
}
/// e^x for such x.
template <class T> BURLAB_ANYWHERE T exp_within(T x) {
  using R = Real<T>;
  const auto [shift, factor] = shift_of(x);
  const T shifted = fused(x, R::kLog2E, shift), n = shifted - shift;
  const T r = fused(n, -R::kLn2Low, fused(n, -R::kLn2High, x));
  return (T(1) + fused(r * r, exp_rest(r), r)) * power_of_two(shifted) * factor;
}

/// What lies beyond overflow is moved close to it; nan passes. Below underflow the result is 0 without a product that
/// underflows, which costs a CPU a hundred times as much as another (masks of attention are such arguments).
BURLAB_ANYWHERE float exp(float x) {
  const bool vanishes = x < -104.0f;
  x = x > 89.0f ? 89.0f : x;
  const float y = exp_within(vanishes ? 0.0f : x);
  return vanishes ? 0.0f : y;
}
BURLAB_ANYWHERE double exp(double x) {
  const bool vanishes = x < -746.0;
  x = x > 710.0 ? 710.0 : x;
  const double y = exp_within(vanishes ? 0.0 : x);
  return vanishes ? 0.0 : y;
}

/// e^x - 1 = 2^n (e^r - 1) + (2^n - 1) without cancellation, through half of 2^n, which may be too large. Below -50 it
/// is -1.
template <class T>
  requires std::is_floating_point_v<T>
BURLAB_ANYWHERE T expm1(T x) {
  using R = Real<T>;
  constexpr T top = std::is_same_v<T, float> ? T(89) : T(710), shift = R::kShift + T(R::kBias - 1);
  T bounded = x < T(-50) ? T(-50) : x;
  bounded = bounded > top ? top : bounded;
  const T shifted = fused(bounded, R::kLog2E, shift), n = shifted - shift;
  const T r = fused(n, -R::kLn2Low, fused(n, -R::kLn2High, bounded)), power = power_of_two(shifted);
  const T half = fused(power, fused(r * r, exp_rest(r), r), power - T(0.5));
  return magnitude(x) < T(1e-16) ? x : half + half;
}

/// 1 / (1 + e^-x), through e^-|x|; a float in double, which keeps the error below an ulp.
BURLAB_ANYWHERE double sigmoid(double x) {
  const double e = exp(-magnitude(x)), up = x < 0 ? e : 1.0;
  return up / (1 + e);
}
BURLAB_ANYWHERE float sigmoid(float single) {
  using R = Real<double>;
  constexpr double shift = R::kShift + 1023;
  double x = -static_cast<double>(magnitude(single));
  const bool vanishes = x < -104;
  x = vanishes ? 0.0 : x;
  const double shifted = fused(x, R::kLog2E, shift), n = shifted - shift;
  const double r = fused(n, -0.6931471805599453, x), q = r * r;
  const double rest = fused(q, fused(q, fused(1.9789333e-04, r, 1.3945734e-03), fused(8.333503e-03, r, 4.166628e-02)),
                            fused(1.6666666e-01, r, 0.5));
  const double some = (1 + fused(q, rest, r)) * power_of_two(shifted), e = vanishes ? 0.0 : some;
  const double up = single < 0 ? e : 1.0;
  return static_cast<float>(up / (1 + e));
}

/// (tanh x - x) / x^3 at z = x^2, |x| <= 0.625.
BURLAB_ANYWHERE float tanh_rest(float z) {
  const float q = z * z;
  return fused(q, fused(q, -5.739475e-03f, fused(2.0676997e-02f, z, -5.3754196e-02f)),
               fused(1.3331665e-01f, z, -3.3333293e-01f));
}
/// x + x^3 P(x^2) near 0, else 1 - 2 / (e^2x + 1).
BURLAB_ANYWHERE float tanh(float x) {
  const float a = magnitude(x), z = a * a;
  const float near = fused(a, z * tanh_rest(z), a), far = 1.0f - 2.0f / (exp(a + a) + 1.0f);
  return with_sign_of(a < 0.625f ? near : far, x);
}
/// E / (E + 2), E = e^2|x| - 1, with what rounding has taken from E, E + 2 and the quotient; from 22 on it is 1.
BURLAB_ANYWHERE double tanh(double x) {
  using R = Real<double>;
  constexpr double shift = R::kShift + 1023;
  const double a = magnitude(x), bounded = a > 22 ? 22 : a;
  const double shifted = fused(bounded, 2 * R::kLog2E, shift), n = shifted - shift, power = power_of_two(shifted);
  const double t = fused(n, -R::kLn2High, bounded + bounded), r = fused(n, -R::kLn2Low, t);
  const double tail = fused(r * r, exp_rest(r), fused(n, -R::kLn2Low, t - r)), p = r + tail, less = power - 1;
  const double e = fused(power, p, less), under = e + 2, reciprocal = 1 / under, y = e * reciprocal, ye = y * under;
  const double left = fused(y, (under - 2) - e, (e - ye) - rest(y, under, ye));
  const double low = fused(power, tail - (p - r), left);
  return with_sign_of(fused(low, reciprocal, y), x);
}

}  // namespace burlab::math
BURLAB_END
