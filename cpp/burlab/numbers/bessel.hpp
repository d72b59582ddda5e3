#pragma once
// Bessel functions of whole order, one number at a time.
#include <cmath>

#include "polynomial.hpp"

extern "C" double jn(int, double) noexcept;
extern "C" double yn(int, double) noexcept;

BURLAB_BEGIN
namespace burlab::math {

inline constexpr double kMostOrder = 1e4;

/// J_n(x) of the first kind.
BURLAB_NOINLINE double bessel_j(double n, double x) {
  if (!(magnitude(n) <= kMostOrder) || n != std::floor(n)) return kNan<double>;
  return jn(static_cast<int>(n), x);
}

/// Coefficients of I_n(x) = (x / 2)^n P(x^2 / 4) up to x = kMiddle, and of sqrt(x) e^-x I_n(x) = Q(16 / x - 1) above,
/// n = 0 and 1.
inline constexpr double kMiddle = 8;
inline constexpr double kBesselI0Near[] = {1.0,
                                           1.0,
                                           0.2500000000000001,
                                           0.027777777777777565,
                                           0.0017361111111113758,
                                           6.944444444424399e-05,
                                           1.9290123457790406e-06,
                                           3.936759885673581e-08,
                                           6.151187413177668e-10,
                                           7.594056846699174e-12,
                                           7.594079950279469e-14,
                                           6.275862820937522e-16,
                                           4.3600362269175774e-18,
                                           2.5698743857514957e-20,
                                           1.35095827969477e-22,
                                           4.940670282542572e-25,
                                           3.6454386812677436e-27};
inline constexpr double kBesselI0Far[] = {
    0.4021765094450081,      0.003360551983667854,   0.00013621607439232746, 1.1143033791556743e-05,
    1.4838475473607391e-06,  2.973598432479169e-07,  8.87225351128584e-08,   3.932602459703109e-08,
    2.1545177650836005e-08,  7.553516470355896e-09,  -6.729724111923548e-09, -1.3404241991980871e-08,
    -5.4685974495866e-09,    7.540601378890834e-09,  7.58022133915272e-09,   -3.4857887470034955e-09,
    -6.188265090497361e-09,  1.497880830187091e-09,  3.881151253996067e-09,  -5.562201990080394e-10,
    -1.7789375042917173e-09, 1.4672236659214398e-10, 5.181936971288284e-10,  -1.9216763724933513e-11,
    -7.06893851181878e-11};
inline constexpr double kBesselI1Near[] = {1.0,
                                           0.5000000000000001,
                                           0.08333333333333304,
                                           0.0069444444444450686,
                                           0.00034722222222153507,
                                           1.157407407453132e-05,
                                           2.7557319204030443e-07,
                                           4.920949921538654e-09,
                                           6.834651294492253e-11,
                                           7.594078567160322e-13,
                                           6.90345927367201e-15,
                                           5.231992159979275e-17,
                                           3.3410044697092935e-19,
                                           1.891028804078631e-21,
                                           7.413211040554544e-24,
                                           5.833651333188183e-26};
inline constexpr double kBesselI1Far[] = {
    0.38939845902587233,     -0.009749577193235728,   -0.00021923576383430274, -1.5038547201176271e-05,
    -1.8349101134666435e-06, -3.483855609009937e-07,  -1.0001323461066435e-07, -4.312935369971356e-08,
    -2.337059627111857e-08,  -8.426622829598154e-09,  6.715795128085017e-09,   1.4029693589852716e-08,
    6.040877342160988e-09,   -7.630751970065577e-09,  -8.044231276166508e-09,  3.406636130196794e-09,
    6.4870195719816896e-09,  -1.4171698018664596e-09, -4.047785403711858e-09,  5.146498826087142e-10,
    1.8513716745511988e-09,  -1.342266320082222e-10,  -5.388285995923524e-10,  1.7502497778701306e-11,
    7.347992441734663e-11};

/// A polynomial by its even and its odd terms, which do not wait for each other.
template <int N> BURLAB_ANYWHERE double polynomial(const double (&c)[N], double x) {
  const double q = x * x;
  double even = 0, odd = 0;
  for (int k = (N - 1) / 2 * 2; k >= 0; k -= 2) even = fused(even, q, c[k]);
  for (int k = N / 2 * 2 - 1; k > 0; k -= 2) odd = fused(odd, q, c[k]);
  return fused(odd, x, even);
}

/// I_0(x) or I_1(x) for a finite x > 0, to 4 ulp: t is rounded, and I_n grows with it.
BURLAB_NOINLINE double bessel_i01(bool first, double x, bool scaled) {
  if (x < kMiddle) {
    const double t = 0.25 * x * x, y = first ? 0.5 * x * polynomial(kBesselI1Near, t) : polynomial(kBesselI0Near, t);
    return scaled ? std::exp(-x) * y : y;
  }
  const double t = 16 / x - 1;
  const double y = (first ? polynomial(kBesselI1Far, t) : polynomial(kBesselI0Far, t)) / std::sqrt(x);
  if (scaled) return y;
  if (x < 700) return std::exp(x) * y;
  const double half = std::exp(0.5 * x);  // e^x alone may be too large
  return half * y * half;
}

/// Y_n(x) of the second kind; nan below 0.
BURLAB_NOINLINE double bessel_y(double n, double x) {
  if (!(magnitude(n) <= kMostOrder) || n != std::floor(n)) return kNan<double>;
  if (!(x > 0)) return x == 0 ? -kInfinity<double> : kNan<double>;
  return yn(static_cast<int>(n), x);
}

/// K_n(x), modified, of the second kind; `scaled`: times e^x. By the integral of e^(-x cosh t) cosh(n t) over t > 0,
/// for which the trapezoidal rule is right to all digits (Trefethen and Weideman 2014).
BURLAB_NOINLINE double bessel_k(double n, double x, bool scaled) {
  n = magnitude(n);
  if (!(n <= kMostOrder) || n != std::floor(n) || !(x >= 0)) return kNan<double>;
  if (x == 0 || x == kInfinity<double>) return x == 0 ? kInfinity<double> : 0;
  const long double z = x, order = n, wide = z > order ? z : order;
  const long double step = wide > 16 ? 0.5L / std::sqrt(wide) : 0.125L;
  long double total = 0.5L;
  for (long double t = step; t < 1e4L; t += step) {
    const long double half = std::sinh(0.5L * t), decay = 2 * z * half * half;
    const long double term = 0.5L * (std::exp(order * t - decay) + std::exp(-order * t - decay));
    total += term;
    if (z * std::sinh(t) > order && !(term > 1e-22L * total)) break;
  }
  return static_cast<double>(step * total * (scaled ? 1 : std::exp(-z)));
}

/// log(e^-x I_n(x)) for n >= 0 and x > 0: the power series, all of whose terms are positive, or the asymptotic one.
BURLAB_NOINLINE long double log_scaled_bessel_i(long double n, long double x) {
  long double total = 1, term = 1;
  if (x > 30 + n * n) {
    for (int k = 1; k < 60 && std::fabs(term) > 1e-20L * total; ++k) {
      const long double odd = 2 * k - 1;
      term *= (odd * odd - 4 * n * n) / (8 * k * x);
      total += term;
    }
    return std::log(total) - 0.5L * std::log(6.283185307179586476925L * x);
  }
  const long double q = 0.25L * x * x;
  long double taken = 0;
  for (long double k = 1; term > 1e-21L * total; ++k) {
    term *= q / (k * (n + k));
    total += term;
    if (total > 1e200L) {
      total *= 1e-200L;
      term *= 1e-200L;
      taken += 460.51701859880913680359829093687L;  // log 1e200
    }
  }
  long double over = n * std::log(0.5L * x);
  for (long double k = 2; k <= n; ++k) over -= std::log(k);
  return over - x + (std::log(total) + taken);
}

/// I_n(x), modified, of the first kind; `scaled`: times e^-|x|.
BURLAB_NOINLINE double bessel_i(double n, double x, bool scaled) {
  n = magnitude(n);
  if (!(n <= kMostOrder) || n != std::floor(n) || x != x) return kNan<double>;
  const double a = magnitude(x), sign = x < 0 && std::fmod(n, 2) == 1 ? -1 : 1;
  if (a == 0) return n == 0 ? 1 : sign * x * x;
  if (a == kInfinity<double>) return scaled ? sign * 0.0 : sign * a;
  if (n < 2) return sign * bessel_i01(n == 1, a, scaled);
  return sign * static_cast<double>(std::exp(log_scaled_bessel_i(n, a) + (scaled ? 0 : a)));
}

}  // namespace burlab::math
BURLAB_END
