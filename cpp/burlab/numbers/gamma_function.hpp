#pragma once
// gamma, digamma and its derivative, by polynomials that become SIMD lanes (`polynomial.hpp`), and beta.
#include "power.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// psi(x) / (x - its root) of x - 1.5, for 1 <= x <= 2; x^2 (log x - 1 / (2x) - psi(x)) of 1 / (x^2 + 2), for x >= 2.
inline constexpr double kDigammaRoot[] = {
    0.951055876031833,      -0.4236274212814605,    0.2405424842407742,    -0.14840492305390884,
    0.09498872445494122,    -0.061922133273064534,  0.04076083381242074,   -0.02697579675613825,
    0.0179072524394512,     -0.011908218001568644,  0.007926944646403797,  -0.005279964873257405,
    0.003519006401502276,   -0.002345267632540769,  0.0015566317474486838, -0.0010376374098418604,
    0.0007233266279287554,  -0.0004821990530566789, 0.0002272331660987376, -0.00015148586836773365,
    0.00025968482126430747, -0.00017312261802727394};
inline constexpr double kDigammaFar[] = {
    0.08333333333333334,  -0.008333333333338628, -0.012698412696768772, -0.021626984256079493, -0.036471867127047496,
    -0.06683447263569667, -0.10720892162519341,  -0.26380485071066406,  -0.026512086609098217, -2.8667175697984026,
    9.503946623698829,    -41.927111541332756,   89.38801698361888,     -121.97726050791523};
/// psi'(x) of x - 1.5, for 1 <= x <= 2; x^3 (psi'(x) - 1 / x - 1 / (2 x^2)) of 1 / (x^2 + 2), for x >= 2.
inline constexpr double kTrigammaNear[] = {
    0.9348022005446793,    -0.8287966442343225,   0.7045455170012204,   -0.57904163777697,     0.46306452510085483,
    -0.36214936511857276,  0.2780808133953504,    -0.21030986856595482, 0.15705319873190296,   -0.11604084426545853,
    0.0849688754878434,    -0.06173846056338301,  0.04456524027953679,  -0.032005900678219984, 0.02285660597773074,
    -0.016111154228338292, 0.011413286454644761,  -0.00868471335385891, 0.006105349505741184,  -0.0025196374779004205,
    0.0017738028339027065, -0.004062813392287072, 0.002824310215239716};
inline constexpr double kTrigammaFar[] = {
    0.16666666666666657,  -0.03333333333307143, -0.04285714297703976, -0.0714285493620747, -0.10519697896778508,
    -0.21834887927050672, -0.16822955450891647, -1.5545350373886344,  5.402235579283506,   -39.467004753309254,
    178.28928987187595,   -665.9236178712845,   1648.000646197818,    -2534.7685634543204, 1625.1232421064083};
/// pi cot(pi r) r / (1 - 4 r^2) and sin(pi r) / r, of r^2, for |r| <= 1/2.
inline constexpr double kCotangent[] = {1.0,
                                        0.7101318663035304,
                                        0.6758809977968725,
                                        0.6688378666170829,
                                        0.6671967920207549,
                                        0.6667965658083592,
                                        0.6667306285204495,
                                        0.6661642927130073,
                                        0.67251558366827,
                                        0.6189955082114015,
                                        0.943486535801883,
                                        -0.4612382746984015,
                                        3.7732941760284464,
                                        -4.669712117726342,
                                        5.336813851582661};
inline constexpr double kSine[] = {3.141592653589793,     -5.167712780049969,      2.5501640398773007,
                                   -0.5992645293189447,   0.0821458865731029,      -0.007370430505916944,
                                   0.0004662998161898394, -2.1903497074626018e-05, 7.697826768224191e-07};
/// gamma(x) over Stirling's formula sqrt(2 pi) x^(x - 1/2) e^-x, of 1 / (x + 1/2), for x >= 1.
inline constexpr double kStirling[] = {1.0,
                                       0.08333333333333653,
                                       0.045138888888334686,
                                       0.021624228434828578,
                                       0.008769368937493893,
                                       0.0032475870926103345,
                                       0.0017930869032278423,
                                       0.001430340996679706,
                                       0.0003770304279008627,
                                       -0.00021737823350504877,
                                       -0.001917053144450671,
                                       0.00880046632683353,
                                       -0.01708981177183825,
                                       0.021257544057919228,
                                       -0.01786747304034026,
                                       0.009991078822958953,
                                       -0.003376416975370295,
                                       0.0005272212796472026};
/// log gamma(2 + u) / (u (1 + u)) of u + 1/8, for -3/4 <= u <= 1/2; x (log gamma(x) less Stirling's formula) of 1 /
/// x^2, x >= 3.5.
inline constexpr double kLogGammaNear[] = {0.43586455222115017,     -0.10918086531277564,   0.03812250298427603,
                                           -0.015252472846071397,   0.00656197124157338,    -0.0029506371998750643,
                                           0.0013661088716579457,   -0.0006455970845329471, 0.00030973235775743116,
                                           -0.0001503176678883748,  7.36161330783572e-05,   -3.6321425392409456e-05,
                                           1.8027981854665004e-05,  -8.975734963736792e-06, 4.497341006393667e-06,
                                           -2.3224900149180586e-06, 1.1725243264565556e-06, -4.70734521507263e-07,
                                           2.3836365613181386e-07,  -2.609069471176703e-07, 1.3329082752294213e-07};
inline constexpr double kLogGammaFar[] = {
    0.08333333333333331,    -0.002777777777734769, 0.0007936507759935256, -0.0005952352439092053, 0.0008415127599549598,
    -0.0019058041797362663, 0.006043560536192271,  -0.02188646223118823,  0.06688177820923424,    -0.11104695308738122};

/// psi(x), x > 0; around the root by its distance, below 1 by psi(x + 1) - 1 / x.
BURLAB_ANYWHERE double digamma_above(double x) {
  constexpr double root = 1.4616321449683622, root_low = 9.549995429965697e-17;
  const bool low = x < 1;
  const double over = 1 / x, left = low ? x - (root - 1) : x - root, centred = low ? x - 0.5 : x - 1.5;
  const double inside = (left - root_low) * polynomial(kDigammaRoot, centred), below = inside - over;
  const double rest = fused(over * over, polynomial(kDigammaFar, 1 / fused(x, x, 2.0)), 0.5 * over);
  const double near = low ? below : inside, far = log(x) - rest;
  return x < 2 ? near : far;
}
/// The derivative of log gamma; below 0 by reflection, psi(1 - x) - pi cot(pi x).
BURLAB_ANYWHERE double digamma(double x) {
  const bool reflected = x < 0;
  const double above = digamma_above(reflected ? 1 - x : x), r = x - rint(x);
  const double cotangent = (1 - 2 * r) * (1 + 2 * r) * polynomial(kCotangent, r * r) / r;
  const double below = r == 0 ? kNan<double> : above - cotangent, y = reflected ? below : above;
  return x == 0 ? with_sign_of(kInfinity<double>, -x) : y;
}

/// The derivative of digamma; below 0 by reflection, pi^2 / sin(pi x)^2 - psi'(1 - x).
BURLAB_ANYWHERE double trigamma(double x) {
  const bool reflected = x < 0;
  const double a = reflected ? 1 - x : x, over = 1 / a;
  const bool low = a < 1;
  const double inside = polynomial(kTrigammaNear, low ? a - 0.5 : a - 1.5), below = fused(over, over, inside);
  const double square = over * over, rest = fused(over, polynomial(kTrigammaFar, 1 / fused(a, a, 2.0)), 0.5);
  const double near = low ? below : inside, far = fused(square, rest, over), above = a < 2 ? near : far;
  const double r = x - rint(x), root = r == 0 ? 0.0 : 3.141592653589793 / (r * polynomial(kSine, r * r));
  const double under = r == 0 ? kInfinity<double> : fused(root, root, -above);
  return reflected ? under : above;
}

/// x + y without error (Knuth), rounded products as they are.
BURLAB_ANYWHERE Pair sum_of_any(double x, double y) {
  BURLAB_ROUNDED(x);
  BURLAB_ROUNDED(y);
  const double s = x + y, z = s - x;
  return {s, (x - (s - z)) + (y - z)};
}

/// log gamma(x), x > 0: near 1 and 2 a product with its roots; then a logarithm less below 1.25, or more up to 3.5;
/// then Stirling's formula.
BURLAB_ANYWHERE double lgamma_above(double x) {
  constexpr double half_log = 0.9189385332046728;  // log(2 pi) / 2
  const bool low = x < 0.25, below = x < 1.25, middle = x < 2.5, near = x < 3.5;
  const double high = middle ? 2.0 : 3.0, other = low ? 0.0 : 1.0, u = x - (below ? other : high), up = 1 + x;
  const double shifted = x * up, lost = low ? (rest(x, up, shifted) + x * (x - (up - 1))) / shifted : 0.0;
  const double above = middle ? 1.0 : near ? x - 1 : x, lower = low ? shifted : x;
  const Pair l = log_pair(below ? lower : above);
  const double t = u * polynomial(kLogGammaNear, u + 0.125), root = t * (1 + u);
  const double more = (root + l.low) + l.high, less = (root - (l.low + lost)) - l.high, inside = below ? less : more;
  const double over = 1 / x, series = over * polynomial(kLogGammaFar, over * over);
  const Pair p = product(x - 0.5, l.high), e = sum(p.high, -x);
  const double outside = e.high + ((fused(x - 0.5, l.low, series) + (e.low + p.low)) + half_log);
  const double beyond = x > 1e200 ? x * (l.high - 1) : outside;
  return near ? inside : beyond;
}

/// Stirling's formula for a = x, x + 1 below 1, 1 - x below 0, with its exponent in a pair. What is whole is exact up
/// to gamma(18).
BURLAB_ANYWHERE double gamma(double x) {
  constexpr double root = 2.5066282746310002, half_root = 1.2533141373155001;  // sqrt(2 pi), sqrt(pi / 2)
  const bool low = x < 1, reflected = x < 0;
  const double shifted = reflected ? 1 - x : x + 1, moved = low ? shifted : x;
  const double a = moved > 200 ? 200 : moved, lost = reflected ? (1 - a) - x : 0.0;  // of 1 - x
  const Pair l = log_pair(a), p = product(a - 0.5, l.high), e = sum_of_any(p.high, -a);
  const double rest = e.low + p.low + fused(a - 0.5, l.low, magnitude(lost) < 1 ? lost * l.high : 0.0);
  const double high = reflected ? -e.high : e.high, top = high > 710 ? 710.0 : high, least = top < -746 ? -746.0 : top;
  const double power = exp_of_sum(least, least == high ? (reflected ? -rest : rest) : 0.0);
  const double g = polynomial(kStirling, 1 / (a + 0.5)), n = rint(x), r = x - n, half = 0.5 * n;
  const double sine = r * polynomial(kSine, r * r), signed_sine = rint(half) == half ? sine : -sine;
  const double over = reflected ? power * half_root : power * (root * g);
  const double under = reflected ? g * signed_sine : low ? x : 1.0;
  const double y = over / under, whole = rint(y), exact = ((r == 0) & (x < 18.5)) ? whole : y;
  return (reflected & (r == 0)) ? kNan<double> : exact;
}

/// x / (x + y) as a pair's logarithm, given s = x + y.
BURLAB_ANYWHERE Pair log_of_share(double x, Pair s) {
  const double h = x / s.high;
  double hs = h * s.high;
  BURLAB_ROUNDED(hs);
  const double lost = ((x - hs) - rest(h, s.high, hs) - h * s.low) / s.high;
  const Pair l = log_pair(h);
  return {l.high, l.low + lost / h};
}
/// gamma(a) gamma(b) / gamma(a + b) = e^exponent rest for a, b > 0, by Stirling's formulas, whose large parts cancel
/// here.
struct BetaParts {
  Pair exponent;
  double rest;
};
BURLAB_ANYWHERE BetaParts beta_parts(double a, double b) {
  const bool low_a = a < 1, low_b = b < 1;
  const double up_a = a + 1, up_b = b + 1, p = low_a ? up_a : a, q = low_b ? up_b : b;
  const Pair s = sum_of_any(p, q), l = log_of_share(p, s), m = log_of_share(q, s);
  const Pair u = product(p - 0.5, l.high), v = product(q - 0.5, m.high), e = sum_of_any(u.high, v.high);
  const double lost_a = (a - (p - 1)) * l.high, lost_b = (b - (q - 1)) * m.high;  // of a + 1 and b + 1
  const double lost = (low_a ? lost_a : 0.0) + (low_b ? lost_b : 0.0);
  const double low = e.low + u.low + v.low + fused(p - 0.5, l.low, fused(q - 0.5, m.low, lost));
  const double quotient = polynomial(kStirling, 1 / (p + 0.5)) * polynomial(kStirling, 1 / (q + 0.5)) /
                          polynomial(kStirling, 1 / (s.high + 0.5));
  const double both = (1 / a + 1 / b) * (a + b + 1), only_a = 1 + b / a, only_b = 1 + a / b;
  const double shift_a = low_b ? both : only_a, shift_b = low_b ? only_b : 1.0, shift = low_a ? shift_a : shift_b;
  return {{e.high, low}, burlab_sqrt(6.283185307179586 / s.high) * quotient * shift};
}
/// beta(a, b) for a, b > 0.
BURLAB_ANYWHERE double beta_above(double a, double b) {
  const BetaParts parts = beta_parts(a, b);
  const bool vanishes = parts.exponent.high < -745;
  const double y = exp_of_sum(vanishes ? 0.0 : parts.exponent.high, parts.exponent.low) * parts.rest;
  return vanishes ? 0.0 : y;
}
BURLAB_NOINLINE double beta(double a, double b) {
  if (!(a > 0 && b > 0)) return gamma(a) * gamma(b) / gamma(a + b);
  return a + b == kInfinity<double> ? 0 : beta_above(a, b);
}

}  // namespace burlab::math
BURLAB_END
