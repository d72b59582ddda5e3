#pragma once
// erf and erfc.
#include "exponential.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// e^(x^2) erfc x = P(t) / (1 + 2x) for 0 <= x <= 27.3, t = (x - K) / (x + K) (the form of Shepherd and Laframboise
/// 1981).
BURLAB_ANYWHERE double erfc_by_square(double x) {
  const double t = (x - 4) / (x + 4), q = t * t;
  const double p =
      (1.2329951186255526 + -0.13962111684056253 * t) +
      q * ((0.015379652102619676 + 0.06809705425469538 * t) +
           q * ((-0.1010390660363008 + 0.09373283499825337 * t) +
                q * ((-0.06633036581229235 + 0.03716751553904687 * t) +
                     q * ((-0.016197734056955102 + 0.005031969964010654 * t) +
                          q * ((-0.0007577732946018634 + -0.00019925661920440696 * t) +
                               q * ((0.0001506217066086914 + -2.4399469766802076e-05 * t) +
                                    q * ((-1.1222148423753306e-05 + 5.710269818577616e-06 * t) +
                                         q * ((2.941301674454023e-07 + -8.260808850160415e-07 * t) +
                                              q * ((7.409482537805582e-08 + 1.1042749949629262e-07 * t) +
                                                   q * ((-1.7424384707383887e-08 + -1.4097600641857981e-08 * t) +
                                                        q * (1.6509699940273289e-09 +
                                                             1.1924801705152505e-09 * t)))))))))));
  return p / (1 + (x + x));
}
/// Times e^-x^2, where x^2 is split in two, since its rounding error would grow with it.
BURLAB_ANYWHERE double erfc_positive(double x) {
  const bool vanishes = x > 27.23;
  x = vanishes ? 0.0 : x;
  const double high = upper_half(x);
  const double y = exp_of_sum(-(high * high), -((x - high) * (x + high))) * erfc_by_square(x);
  return vanishes ? 0.0 : y;
}
/// A float in double, where the square is exact; to 26 bits.
BURLAB_ANYWHERE float erfc_positive(float single) {
  const bool vanishes = single > 10.06f;
  const double x = vanishes ? 0.0f : single, t = (x - 2) / (x + 2), q = t * t;
  const double p =
      (1.2769784 + -0.09276389 * t) + q * ((-0.16603135 + 0.16405298 * t) +
                                           q * ((-0.054205257 + -0.008043216 * t) +
                                                q * ((0.008639037 + 0.0012693868 * t) +
                                                     q * ((-0.0012555433 + -0.00036065467 * t) + q * 0.000029333758))));
  const double y = exp(-(x * x)) * (p / (1 + (x + x)));
  return static_cast<float>(vanishes ? 0.0 : y);
}
/// Good enough to be subtracted from 1.
BURLAB_ANYWHERE double erfc_below_one(double x) { return erfc_positive(x > 6.5 ? 6.5 : x); }
BURLAB_ANYWHERE float erfc_below_one(float x) {
  x = x > 4.2f ? 4.2f : x;
  const float t = (x - 2) / (x + 2), q = t * t;
  const float p = (1.2769784e+00f + -9.276404e-02f * t) +
                  q * ((-1.660246e-01f + 1.6406478e-01f * t) +
                       q * ((-5.430961e-02f + -8.28945e-03f * t) + q * (8.921837e-03f + 2.554639e-03f * t)));
  return exp(-(x * x)) * (p / (1 + (x + x)));
}

/// erf x, |x| <= 1: 2 / sqrt(pi) x and x^3 P(x^2).
BURLAB_ANYWHERE float erf_near_zero(float x) {
  const float z = x * x, q = z * z;
  return x + x * (0.12837917f +
                  z * ((-3.7612632e-01f + 1.1283641e-01f * z) +
                       q * ((-2.6855953e-02f + 5.1921355e-03f * z) + q * (-8.042089e-04f + 7.9553865e-05f * z))));
}
BURLAB_ANYWHERE double erf_near_zero(double x) {
  const double z = x * x, q = z * z;
  return x + x * (0.1283791670955126 +
                  z * ((-0.3761263890318375 + 0.11283791670954992 * z) +
                       q * ((-0.026866170645095097 + 0.005223977624976173 * z) +
                            q * ((-0.0008548326989074024 + 0.0001205533138799612 * z) +
                                 q * ((-1.4925601436559191e-05 + 1.6461093154259333e-06 * z) +
                                      q * ((-1.635123816331782e-07 + 1.4665667264168098e-08 * z) +
                                           q * (-1.1394489798244353e-09 + 5.99207353263026e-11 * z)))))));
}

template <class T>
  requires std::is_floating_point_v<T>
BURLAB_ANYWHERE T erf(T x) {
  const T a = magnitude(x), near = erf_near_zero(x), far = with_sign_of(T(1) - erfc_below_one(a), x);
  return a < T(0.9) ? near : far;
}

BURLAB_ANYWHERE float erfc(float x) {
  const float y = erfc_positive(magnitude(x)), other = 2 - y;
  return x < 0 ? other : y;
}
BURLAB_ANYWHERE double erfc(double x) {
  const double a = magnitude(x), y = erfc_positive(a), other = 2 - y, near = 1 - erf_near_zero(x);
  const double far = x < 0 ? other : y;
  return a < 0.5 ? near : far;
}

}  // namespace burlab::math
BURLAB_END
