#pragma once
// sinh and cosh, of h = e^|x| / 2 and 1 / 4h; arctanh.
#include "exponential.hpp"
#include "logarithm.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// (sinh x - x) / x^3 at z = x^2, |x| <= 1.
BURLAB_CONSTEXPR float sinh_rest(float z) {
  return (1.6666667e-01f + 8.3333506e-03f * z) + z * z * (1.9836065e-04f + 2.8174457e-06f * z);
}
BURLAB_CONSTEXPR double sinh_rest(double z) {
  const double q = z * z;
  return (0.16666666666666667 + 0.0083333333333331387 * z) +
         q * ((0.00019841269841437762 + 2.7557319155310217e-06 * z) +
              q * ((2.5052123402960384e-08 + 1.605723998622709e-10 * z) + q * 7.75933231186319e-13));
}

/// e^a / 2 for a >= 0: infinite only where sinh a is.
template <class T> BURLAB_CONSTEXPR T half_exp(T a) {
  constexpr T top = std::is_same_v<T, float> ? T(90) : T(711);
  return exp_of_sum(a > top ? top : a, T(0), 1);
}

template <class T>
  requires std::is_floating_point_v<T>
BURLAB_CONSTEXPR T sinh(T x) {
  const T a = magnitude(x), z = a * a;
  const T near = a + a * (z * sinh_rest(z)), h = half_exp(a);
  return with_sign_of(a < T(1) ? near : h - T(0.25) / h, x);
}
template <class T>
  requires std::is_floating_point_v<T>
BURLAB_CONSTEXPR T cosh(T x) {
  const T h = half_exp(magnitude(x));
  return h + T(0.25) / h;
}
/// log((1 + a) / (1 - a)) / 2, of which 1 is taken before the logarithm. A float in double.
BURLAB_CONSTEXPR double atanh(double x) {
  const double a = magnitude(x);
  return with_sign_of(0.5 * log1p(2 * a / (1 - a)), x);
}
BURLAB_CONSTEXPR float atanh(float x) { return static_cast<float>(atanh(static_cast<double>(x))); }

}  // namespace burlab::math
BURLAB_END
