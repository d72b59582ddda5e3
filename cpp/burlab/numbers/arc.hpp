#pragma once
// arctan: around 0, pi/4 and pi/2, by the tangent t of what is left, |t| <= tan(pi/8).
#include "polynomial.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// (arctan t - t) / t^3 at z = t^2.
BURLAB_CONSTEXPR float atan_rest(float z) {
  const float q = z * z;
  return (-3.3333316e-01f + 1.9998488e-01f * z) + q * ((-1.4243836e-01f + 1.0595906e-01f * z) + q * -6.083201e-02f);
}
BURLAB_CONSTEXPR double atan_rest(double z) {
  const double q = z * z, s = q * q;
  return ((-0.33333333333333199 + 0.1999999999995404 * z) + q * (-0.14285714280244041 + 0.11111110785903989 * z)) +
         s * (((-0.09090897829465035 + 0.076920615087540761 * z) +
               q * (-0.066631188820147293 + 0.058479977013784775 * z)) +
              s * ((-0.050397937781168062 + 0.038076978021296591 * z) + q * -0.017920779201764182));
}

template <class T>
  requires std::is_floating_point_v<T>
BURLAB_CONSTEXPR T atan(T x) {
  constexpr bool single = std::is_same_v<T, float>;
  constexpr T quarter = T(0.78539816339744831), quarter_rest = single ? T(-2.1855695e-08) : T(3.0616169978683830e-17);
  const T a = magnitude(x);
  const bool steep = a > T(2.4142135623730950), middle = a > T(0.41421356237309505);
  const T over = steep ? T(-1) : middle ? a - T(1) : a, under = steep ? a : middle ? a + T(1) : T(1);
  const T t = over / under, z = t * t;
  const T turns = steep ? T(2) : middle ? T(1) : T(0);
  const T y = turns * quarter + (t + (t * (z * atan_rest(z)) + turns * quarter_rest));
  return with_sign_of(y, x);
}

}  // namespace burlab::math
BURLAB_END
