#pragma once
// Bessel functions of whole order: I and K of orders 0, 1 and 2 by polynomials that become SIMD lanes
// (`polynomial.hpp`), all else one number at a time.
#include <cmath>

#include "exponential.hpp"
#include "logarithm.hpp"

extern "C" double jn(int, double) noexcept;
extern "C" double yn(int, double) noexcept;

BURLAB_BEGIN
namespace burlab::math {

inline constexpr double kMaxOrder = 1e4;

/// J_n(x) of the first kind.
BURLAB_NOINLINE double bessel_j(double n, double x) {
  if (!(magnitude(n) <= kMaxOrder) || n != std::floor(n)) return kNan<double>;
  return jn(static_cast<int>(n), x);
}

/// Coefficients of I_n(x) = (x / 2)^n P(x^2 / 4) up to x = kMiddle, and of sqrt(x) e^-x I_n(x) = Q(16 / x - 1) above,
/// n = 0, 1 and 2.
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

inline constexpr double kBesselI2Near[] = {0.5,
                                           0.16666666666666666,
                                           0.02083333333333332,
                                           0.0013888888888889228,
                                           5.787037037033301e-05,
                                           1.6534391534640186e-06,
                                           3.444664901912926e-08,
                                           5.467722100949586e-10,
                                           6.834651883024051e-12,
                                           6.903700439968577e-14,
                                           5.752949241904099e-16,
                                           4.0241772045239095e-18,
                                           2.3883955694945284e-20,
                                           1.2547613948294672e-22,
                                           4.7398334544366275e-25,
                                           3.345051621035998e-27};
inline constexpr double kBesselI2Far[] = {
    0.35350170206677406,    -0.04409555824541179,   0.0013823176940255517,  4.0427322676388014e-05,
    3.593029756964783e-06,  5.702716761261578e-07,  1.4477123538008467e-07, 5.722019888720706e-08,
    2.98711869820671e-08,   1.1520352526193364e-08, -6.604448406455874e-09, -1.597114998744472e-08,
    -7.621930709641107e-09, 7.688445147832947e-09,  8.621672843217958e-09,  -2.859213090229923e-09,
    -5.868970405449108e-09, 8.767337848126504e-10,  2.8424213502807226e-09, -1.9737721699301499e-10,
    -8.770449824666714e-10, 2.3380901088098216e-11, 1.2706576549519688e-10};

/// I_n(x), n = 0, 1 or 2, to 4 ulp: t is rounded, and I_n grows with it. e^x alone may be too large: e^8 is apart.
template <int n, bool scaled> BURLAB_ANYWHERE double bessel_i012(double x) {
  const double a = magnitude(x), z = 0.25 * a * a, t = 16 / a - 1;
  const double small = n == 0   ? polynomial(kBesselI0Near, z)
                       : n == 1 ? 0.5 * a * polynomial(kBesselI1Near, z)
                                : z * polynomial(kBesselI2Near, z);
  const double large = n == 0   ? polynomial(kBesselI0Far, t)
                       : n == 1 ? polynomial(kBesselI1Far, t)
                                : polynomial(kBesselI2Far, t);
  const bool near = a < kMiddle;
  const double rest = large / burlab_sqrt(a), power = exp(scaled ? -a : a - 8);
  const double inside = scaled ? small * power : small, beyond = scaled ? rest : rest * 2980.9579870417283 * power;
  const double y = near ? inside : beyond, all = scaled ? y : (a == kInfinity<double> ? a : y);
  return n == 1 ? with_sign_of(all, x) : all;
}

/// K_0(x) or K_1(x) for x > 0: by log x I_n(x) up to 1, above sqrt(x) e^x K_n(x) is a polynomial of (x - 1) / (x + 1).
inline constexpr double kBesselK0Near[] = {0.11593151565841245,   1.1159315156584129,    0.40398287891456774,
                                           0.05414624580645735,   0.0038181681228439584, 0.00016661576601870607,
                                           4.948998229042891e-06, 1.0839496379014044e-07};
inline constexpr double kBesselK0Log[] = {1.0,
                                          1.0,
                                          0.25,
                                          0.027777777777777145,
                                          0.0017361111111241566,
                                          6.94444442937552e-05,
                                          1.929013367919041e-06,
                                          3.9363559119391725e-08,
                                          6.237183472042653e-10};
inline constexpr double kBesselK1Near[] = {-0.6159315156584124,    -0.6829657578292063,    -0.14854984852708591,
                                           -0.0144046170070151,    -0.0007983558483340466, -2.8733792402478243e-05,
                                           -7.267047813598428e-07, -1.3836205422849895e-08};
inline constexpr double kBesselK1Log[] = {1.0,
                                          0.5,
                                          0.08333333333333195,
                                          0.006944444444488719,
                                          0.0003472222215267197,
                                          1.1574080005505367e-05,
                                          2.755451820714188e-07,
                                          4.989749177892271e-09};
inline constexpr double kBesselK0Far[] = {
    1.144463079806895,       0.16108226689417182,   -0.08898473922146523,  0.06365392193258922,   -0.04822615728888175,
    0.03871400073501437,     -0.032033528159521624, 0.027209926949477804,  -0.02354944427275352,  0.020769771247999308,
    -0.01880263385564952,    0.017874669949548554,  -0.018331265688427266, 0.02010085433464318,   -0.021998999406523456,
    0.02190554738988539,     -0.018365298229996285, 0.012222061603673834,  -0.006114359587733299, 0.0021458764460318617,
    -0.00046957399486666495, 4.815973138849404e-05};
inline constexpr double kBesselK1Far[] = {
    1.6361534862632583,    -0.6527726733505301,    0.4959122093430167,   -0.4225163735544902,  0.3732324644402259,
    -0.3383231582681614,   0.3115433875035631,     -0.29029342264639646, 0.2728287523270207,   -0.2580866977758166,
    0.24506906562049313,   -0.2323717435230238,    0.21749518551504982,  -0.19671044369713295, 0.16650892614026674,
    -0.1267702117789098,   0.08307911344539452,    -0.04470348684190411, 0.018699967844249852, -0.005649780413324011,
    0.0010900391517757564, -0.00010046842912467124};

template <bool first, bool scaled> BURLAB_ANYWHERE double bessel_k01(double x) {
  const double z = 0.25 * x * x, l = log(x), t = 1 - 2 / (x + 1);
  const double of_log = first ? polynomial(kBesselK1Log, z) : polynomial(kBesselK0Log, z);
  const double small = first ? fused(0.5 * x, fused(l, of_log, polynomial(kBesselK1Near, z)), 1 / x)
                             : fused(-l, of_log, polynomial(kBesselK0Near, z));
  const double large = (first ? polynomial(kBesselK1Far, t) : polynomial(kBesselK0Far, t)) / burlab_sqrt(x);
  const bool near = x < 1;
  const double power = exp(scaled ? x : -x);
  const double inside = scaled ? small * power : small, beyond = scaled ? large : large * power;
  const double y = near ? inside : beyond;
  return x == 0 ? kInfinity<double> : y;
}

/// Y_n(x) of the second kind; nan below 0.
BURLAB_NOINLINE double bessel_y(double n, double x) {
  if (!(magnitude(n) <= kMaxOrder) || n != std::floor(n)) return kNan<double>;
  if (!(x > 0)) return x == 0 ? -kInfinity<double> : kNan<double>;
  return yn(static_cast<int>(n), x);
}

/// K_n(x), modified, of the second kind, for a whole n >= 2; upwards from K_0 and K_1, where all terms are positive.
BURLAB_NOINLINE double bessel_k_upwards(double n, double x, bool scaled) {
  if (!(n <= kMaxOrder) || n != std::floor(n) || !(x >= 0)) return kNan<double>;
  if (x == 0 || x == kInfinity<double>) return x == 0 ? kInfinity<double> : 0;
  long double below = bessel_k01<false, true>(x), y = bessel_k01<true, true>(x);
  for (long double k = 1; k < n; ++k) {
    const long double above = below + 2 * k / x * y;
    below = y;
    y = above;
  }
  return static_cast<double>(scaled ? y : y * std::exp(-static_cast<long double>(x)));
}

/// K_n(x), times e^x where `scaled`. Of a known order up to 2 it is part of a loop.
template <bool scaled> BURLAB_ANYWHERE double bessel_k(double n, double x) {
  n = magnitude(n);
  if (n == 0) return bessel_k01<false, scaled>(x);
  if (n == 1) return bessel_k01<true, scaled>(x);
  if (n == 2) return fused(2 / x, bessel_k01<true, scaled>(x), bessel_k01<false, scaled>(x));
  return bessel_k_upwards(n, x, scaled);
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

/// I_n(x), modified, of the first kind, for a whole n > 2; `scaled`: times e^-|x|.
BURLAB_NOINLINE double bessel_i_by_series(double n, double x, bool scaled) {
  if (!(n <= kMaxOrder) || n != std::floor(n) || x != x) return kNan<double>;
  const double a = magnitude(x), sign = x < 0 && std::fmod(n, 2) == 1 ? -1 : 1;
  if (a == 0) return sign * x * x;
  if (a == kInfinity<double>) return scaled ? sign * 0.0 : sign * a;
  return sign * static_cast<double>(std::exp(log_scaled_bessel_i(n, a) + (scaled ? 0 : a)));
}

/// I_n(x), times e^-|x| where `scaled`. Of a known order up to 2 it is part of a loop.
template <bool scaled> BURLAB_ANYWHERE double bessel_i(double n, double x) {
  n = magnitude(n);
  if (n == 0) return bessel_i012<0, scaled>(x);
  if (n == 1) return bessel_i012<1, scaled>(x);
  if (n == 2) return bessel_i012<2, scaled>(x);
  return bessel_i_by_series(n, x, scaled);
}

}  // namespace burlab::math
BURLAB_END
