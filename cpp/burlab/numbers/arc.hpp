#pragma once
// arctan and arctan2: around multiples of pi/4, by the tangent t of what is left, |t| <= tan(pi/8).
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

/// The angle of (x, y): that of the smaller size over the larger one, mirrored into its quadrant. A float in double.
BURLAB_CONSTEXPR double atan2(double y, double x) {
  const double a = magnitude(x), b = magnitude(y);
  const bool upper = b > a, left = with_sign_of(1.0, x) < 0;
  const double more = upper ? b : a, less = upper ? a : b;
  const double scale = more > 1e300 ? 0x1p-8 : more < 1e-290 ? 0x1p120 : 1.0, big = more * scale, small = less * scale;
  const bool same = (less == more) & (more > 0), middle = (small > big * 0.41421356237309505) | same;
  const double over = same ? 0.0 : middle ? small - big : small, under = middle ? small + big : big;
  const double t = over / (((under == 0) | same) ? 1.0 : under), z = t * t, rest = t * (z * atan_rest(z));
  const double first = middle ? 1.0 : 0.0, second = upper ? 2.0 - first : first, turns = left ? 4.0 - second : second;
  const double side = upper != left ? -1.0 : 1.0;
  const bool three = turns == 3;  // times pi/4: the only one that is rounded
  const double angle = three ? 2.356194490192345 : turns * 0.7853981633974483;
  const double angle_rest = three ? 9.184850993605148e-17 : turns * 3.061616997868383e-17;
  return with_sign_of(angle + (side * t + (side * rest + angle_rest)), y);
}
BURLAB_CONSTEXPR float atan2(float y, float x) {
  return static_cast<float>(atan2(static_cast<double>(y), static_cast<double>(x)));
}

}  // namespace burlab::math
BURLAB_END
