#pragma once
// sinh and cosh, of sinh r and cosh r for x = n ln 2 + r, |r| <= ln 2 / 2; arctanh.
#include "exponential.hpp"
#include "logarithm.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// (sinh r - r) / r^3 and (cosh r - 1) / r^2 at z = r^2.
BURLAB_ANYWHERE float sinh_rest(float z) { return fused(z, fused(z, 1.9904885e-04f, 8.333289e-03f), 1.6666667e-01f); }
BURLAB_ANYWHERE float cosh_rest(float z) { return fused(z, fused(z, 1.3946230e-03f, 4.1666266e-02f), 0.5f); }
BURLAB_ANYWHERE double sinh_rest(double z) {
  const double q = z * z;
  return fused(q, fused(q, 2.5110049895765e-08, fused(2.7557242336680607e-06, z, 0.00019841269886591)),
               fused(0.008333333333322207, z, 0.16666666666666674));
}
BURLAB_ANYWHERE double cosh_rest(double z) {
  const double q = z * z;
  return fused(q,
               fused(q, fused(2.0925041003937454e-09, z, 2.755724047250843e-07),
                     fused(2.4801587363841052e-05, z, 0.0013888888888864673)),
               fused(0.041666666666666706, z, 0.5));
}

/// e^a = 2^n (cosh r + sinh r) for a >= 0: sum and difference of 2^n and 2^-n, over 4, what their
/// rounding has taken, r, sinh r - r, and cosh r - 1.
template <class T> struct Halves {
  T sum, difference, lost, r, sine, cosine;
};
template <class T> BURLAB_ANYWHERE Halves<T> halves(T a) {
  using R = Real<T>;
  constexpr bool single = std::is_same_v<T, float>;
  constexpr T shift = R::kShift + T(R::kBias - 2), top = single ? T(89.5) : T(710.5), most = single ? T(100) : T(1000);
  const T bounded = a > top ? top : a;
  const T shifted = fused(bounded, R::kLog2E, shift), n = shifted - shift;
  const T t = fused(n, -R::kLn2High, bounded), r = fused(n, -R::kLn2Low, t), z = r * r;
  const T rest = fused(n, -R::kLn2Low, t - r);
  const T up = power_of_two(shifted), down = power_of_two(shift - (n > most ? most : n));
  const T sum = up + down, difference = up - down;
  return {sum, difference, down - (sum - up), r, fused(r * z, sinh_rest(z), rest), z * cosh_rest(z)};
}

template <class T>
  requires std::is_floating_point_v<T>
BURLAB_ANYWHERE T sinh(T x) {
  const Halves<T> h = halves(magnitude(x));
  const T y = h.difference + fused(h.r, h.sum, fused(h.sine, h.sum, fused(h.cosine, h.difference, -h.lost)));
  return magnitude(x) < T(1e-16) ? x : with_sign_of(y + y, x);
}
template <class T>
  requires std::is_floating_point_v<T>
BURLAB_ANYWHERE T cosh(T x) {
  const Halves<T> h = halves(magnitude(x));
  const T y = h.sum + fused(h.r, h.difference, fused(h.sine, h.difference, fused(h.cosine, h.sum, h.lost)));
  return y + y;
}

/// 2 arctanh s = log((1 + s) / (1 - s)), less its first term 2 s, over s at z = s^2, |s| <= 0.283.
BURLAB_ANYWHERE double atanh_rest(double z) {
  const double q = z * z;
  const double high = fused(q, fused(q, 0.15286621626475305, fused(0.10898544715015848, z, 0.13417414452502605)),
                            fused(0.15379764976338395, z, 0.18181989375844512));
  return z * fused(q, fused(q, high, fused(0.22222218586973932, z, 0.28571428614996525)),
                   fused(0.3999999999974435, z, 0.6666666666666718));
}
/// n ln 2 + log((1 + s) / (1 - s)).
BURLAB_ANYWHERE double log_of_quotient(double s, double n) {
  using R = Real<double>;
  return fused(n, R::kLn2High, s + s + fused(s, atanh_rest(s * s), n * R::kLn2Low));
}
/// log((1 + a) / (1 - a)) / 2. Of the quotient 2^n is taken, n from the difference of the exponents, mantissas
/// included. A float in double.
BURLAB_ANYWHERE double atanh(double x) {
  constexpr std::uint64_t quarter = std::uint64_t(1) << 50, whole = std::uint64_t(1) << 52;
  const double a = magnitude(x), p = 1 + a, q = 1 - a, p_rest = a - (p - 1), q_rest = (1 - q) - a;
  const std::uint64_t e = __builtin_bit_cast(std::uint64_t, p) - __builtin_bit_cast(std::uint64_t, q) + quarter;
  const double c = __builtin_bit_cast(double, (std::uint64_t(1023) << 52) - (e & ~(whole - 1))),
               n = exponent_of<double>(e) - kWhole<double>;
  const double over = fused(p, c, -q) + fused(p_rest, c, -q_rest), s = over / (n == 0 ? 2.0 : fused(p, c, q));
  const double edge = a == 1 ? kInfinity<double> : kNan<double>;
  return with_sign_of(a < 1 ? 0.5 * log_of_quotient(s, n) : edge, x);
}
BURLAB_ANYWHERE float atanh(float x) { return static_cast<float>(atanh(static_cast<double>(x))); }

}  // namespace burlab::math
BURLAB_END
