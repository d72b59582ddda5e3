#pragma once
// The errors of computed results: f(x + dx) - z for numbers z that should be f(x), where dx is the error that x has
// already. A number and its error are a sum of two doubles that is not carried out, with some 106 bits, so an error is
// known to 2^-100 of the result: arithmetic without rounding (Dekker 1971; Knuth 1969), functions by tables and Taylor
// series whose leading terms are such sums (Hida, Li and Bailey 2001; Joldes, Muller and Popescu 2017). Where a number
// is infinite or nan its error is 0. Code without branches, as in `polynomial.hpp`.
#include "power.hpp"
#include "trigonometric.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// x + y without error (Knuth 1969).
BURLAB_CONSTEXPR Pair exact_sum(double x, double y) {
  const double s = x + y, part = s - x;
  return {s, (x - (s - part)) + (y - part)};
}
/// x * y without error, far from overflow (Dekker 1971).
BURLAB_ANYWHERE Pair exact_product(double x, double y) {
  const double p = rounded_product(x, y);
  return {p, rest(x, y, p)};
}
/// A product of two such sums; low is not normalized.
BURLAB_ANYWHERE Pair product(Pair x, Pair y) {
  const Pair p = exact_product(x.high, y.high);
  return {p.high, fused(x.high, y.low, fused(x.low, y.high, p.low))};
}
/// A sum of two, the first of which is larger, or 0.
BURLAB_CONSTEXPR Pair sum(Pair x, Pair y) {
  const Pair s = sum(x.high, y.high);
  return {s.high, s.low + (x.low + y.low)};
}
/// y - z, if all are finite; else 0.
BURLAB_CONSTEXPR double finite_difference(Pair y, double z) {
  const double e = (y.high - z) + y.low;
  return e - e == 0 ? e : 0.0;
}

BURLAB_ANYWHERE double sum_error(double x, double dx, double y, double dy, double z) {
  const Pair s = exact_sum(x, y);
  return finite_difference({s.high, s.low + (dx + dy)}, z);
}
BURLAB_ANYWHERE double product_error(double x, double dx, double y, double dy, double z) {
  const Pair p = exact_product(x, y);
  return finite_difference({p.high, p.low + fused(x, dy, fused(y, dx, dx * dy))}, z);
}
/// ((x - z y) + dx - z dy) / (y + dy): the rest of a division is exact.
BURLAB_ANYWHERE double quotient_error(double x, double dx, double y, double dy, double z) {
  const Pair p = exact_product(z, y);
  const double e = (((x - p.high) - p.low) + fused(-z, dy, dx)) / (y + dy);
  return e - e == 0 ? e : 0.0;
}

/// 2^(j / 32) for j = -16 ... 16, each as a sum of two.
inline constexpr double kRootsOfTwo[] = {0.7071067811865476,
                                         -4.833646656726457e-17,
                                         0.7225904034885233,
                                         -1.5118790674969937e-17,
                                         0.7384130729697497,
                                         -1.741997278446398e-17,
                                         0.7545822137967114,
                                         -5.082276638771475e-17,
                                         0.7711054127039704,
                                         3.9749174048488104e-17,
                                         0.7879904225539432,
                                         -5.068458235639152e-18,
                                         0.8052451659746271,
                                         1.2353596284898944e-17,
                                         0.8228777390769825,
                                         -5.062839956837386e-17,
                                         0.8408964152537145,
                                         4.099505010290748e-17,
                                         0.859309649061239,
                                         -9.256902091315555e-18,
                                         0.8781260801866497,
                                         1.4800703477244367e-17,
                                         0.8973545375015536,
                                         9.113729213956043e-18,
                                         0.9170040432046712,
                                         1.6415536121228136e-17,
                                         0.93708381705515,
                                         -3.061381706502071e-17,
                                         0.9576032806985737,
                                         -5.3099730280979813e-17,
                                         0.9785720620877001,
                                         4.480383895518334e-17,
                                         1.0,
                                         0.0,
                                         1.0218971486541166,
                                         5.109225028973444e-17,
                                         1.0442737824274138,
                                         8.551889705537965e-17,
                                         1.0671404006768237,
                                         -7.899853966841582e-17,
                                         1.0905077326652577,
                                         -3.046782079812471e-17,
                                         1.1143867425958924,
                                         1.0410278456845571e-16,
                                         1.1387886347566916,
                                         8.912812676025408e-17,
                                         1.1637248587775775,
                                         3.8292048369240935e-17,
                                         1.189207115002721,
                                         3.982015231465646e-17,
                                         1.215247359980469,
                                         -7.712630692681488e-17,
                                         1.241857812073484,
                                         4.658027591836937e-17,
                                         1.2690509571917332,
                                         2.667932131342186e-18,
                                         1.2968395546510096,
                                         2.5382502794888315e-17,
                                         1.3252366431597413,
                                         -2.8587312100388614e-17,
                                         1.3542555469368927,
                                         7.70094837980299e-17,
                                         1.383909881963832,
                                         -6.770511658794786e-17,
                                         1.4142135623730951,
                                         -9.667293313452913e-17};

/// e^(high + low) as power * (root + root * rest), rest of e^r - 1, |r| <= ln 2 / 64.
struct Exponential {
  Pair root, part;     // part: root * rest
  double half, other;  // their product is the power of two, which may be too large
};
BURLAB_ANYWHERE Exponential exponential(double high, double low) {
  using R = Real<double>;
  const double bounded = high < -760 ? -760.0 : high > 720 ? 720.0 : high;
  const double shifted = fused(bounded, 46.16624130844683, R::kShift), n = shifted - R::kShift;
  const double whole = fused(n, 0.03125, R::kShift) - R::kShift;  // n = 32 whole + j
  const double half = fused(whole, 0.5, R::kShift) - R::kShift;
  const std::uint64_t j = __builtin_bit_cast(std::uint64_t, fused(whole, -32.0, n) + (R::kShift + 16)) & 63;
  const Pair t = exact_sum(fused(n, -0.021660849392446835, bounded), n * -5.1456092446457696e-14);
  const Pair r = sum(t.high, t.low + fused(n, -9.568252300058288e-26, low));
  const double tail = fused(
      r.high,
      fused(r.high,
            fused(r.high,
                  fused(r.high, fused(r.high, 2.08767569878681e-09, 2.505210838544172e-08), 2.755731922398589e-07),
                  2.7557319223985893e-06),
            2.48015873015873e-05),
      0.0001984126984126984);
  Pair p = sum({0.001388888888888889, -5.300543954373577e-20}, product(r, {tail, 1.7209558293420705e-22}));
  p = sum({0.008333333333333333, 1.1564823173178714e-19}, product(r, p));
  p = sum({0.041666666666666664, 2.3129646346357427e-18}, product(r, p));
  p = sum({0.16666666666666666, 9.25185853854297e-18}, product(r, p));
  p = sum({0.5, 0}, product(r, p));
  p = product(r, sum({1, 0}, product(r, p)));
  const Pair root = {kRootsOfTwo[2 * j], kRootsOfTwo[2 * j + 1]};
  return {root, product(root, p), power_of_two(half + (R::kShift + R::kBias)),
          power_of_two((whole - half) + (R::kShift + R::kBias))};
}
BURLAB_ANYWHERE double exp_error(double x, double dx, double z) {
  const Pair a = exact_sum(x, dx);
  const Exponential e = exponential(a.high, a.low);
  const Pair y = sum(e.root, e.part);
  const double found = finite_difference({(y.high * e.half) * e.other, (y.low * e.half) * e.other}, z);
  return x - x == 0 ? found : 0.0;
}
/// Where the power and the root are 1, their difference from 1 is exactly 0.
BURLAB_ANYWHERE double expm1_error(double x, double dx, double z) {
  const Pair a = exact_sum(x, dx);
  const Exponential e = exponential(a.high < -80 ? -80.0 : a.high, a.low);
  const double power = e.half * e.other;
  const Pair whole = exact_sum(e.root.high * power, -1), y = exact_sum(whole.high, e.part.high * power);
  const double low = fused(e.root.low, power, whole.low) + fused(e.part.low, power, y.low);
  const double found = finite_difference({y.high, low}, z);
  return x - x == 0 ? found : 0.0;
}

/// sin(j pi / 32) for j = 0 ... 63, each as a sum of two.
inline constexpr double kSines[] = {0.0,
                                    0.0,
                                    0.0980171403295606,
                                    -1.634582362244256e-18,
                                    0.19509032201612828,
                                    -7.991079068461731e-18,
                                    0.2902846772544624,
                                    -1.892797870777425e-17,
                                    0.3826834323650898,
                                    -1.0050772696461588e-17,
                                    0.47139673682599764,
                                    6.516678136069013e-18,
                                    0.5555702330196022,
                                    4.709410940561677e-17,
                                    0.6343932841636455,
                                    1.0420901929280035e-17,
                                    0.7071067811865476,
                                    -4.833646656726457e-17,
                                    0.773010453362737,
                                    -3.256590703364977e-17,
                                    0.8314696123025452,
                                    1.4073856984728024e-18,
                                    0.881921264348355,
                                    -1.9843248405890562e-17,
                                    0.9238795325112867,
                                    1.7645047084336677e-17,
                                    0.9569403357322088,
                                    4.05538698618757e-17,
                                    0.9807852804032304,
                                    1.8546939997825006e-17,
                                    0.9951847266721969,
                                    -4.248691367830441e-17,
                                    1.0,
                                    0.0,
                                    0.9951847266721969,
                                    -4.248691367830441e-17,
                                    0.9807852804032304,
                                    1.8546939997825006e-17,
                                    0.9569403357322088,
                                    4.05538698618757e-17,
                                    0.9238795325112867,
                                    1.7645047084336677e-17,
                                    0.881921264348355,
                                    -1.9843248405890562e-17,
                                    0.8314696123025452,
                                    1.4073856984728024e-18,
                                    0.773010453362737,
                                    -3.256590703364977e-17,
                                    0.7071067811865476,
                                    -4.833646656726457e-17,
                                    0.6343932841636455,
                                    1.0420901929280035e-17,
                                    0.5555702330196022,
                                    4.709410940561677e-17,
                                    0.47139673682599764,
                                    6.516678136069013e-18,
                                    0.3826834323650898,
                                    -1.0050772696461588e-17,
                                    0.2902846772544624,
                                    -1.892797870777425e-17,
                                    0.19509032201612828,
                                    -7.991079068461731e-18,
                                    0.0980171403295606,
                                    -1.634582362244256e-18,
                                    0.0,
                                    0.0,
                                    -0.0980171403295606,
                                    1.634582362244256e-18,
                                    -0.19509032201612828,
                                    7.991079068461731e-18,
                                    -0.2902846772544624,
                                    1.892797870777425e-17,
                                    -0.3826834323650898,
                                    1.0050772696461588e-17,
                                    -0.47139673682599764,
                                    -6.516678136069013e-18,
                                    -0.5555702330196022,
                                    -4.709410940561677e-17,
                                    -0.6343932841636455,
                                    -1.0420901929280035e-17,
                                    -0.7071067811865476,
                                    4.833646656726457e-17,
                                    -0.773010453362737,
                                    3.256590703364977e-17,
                                    -0.8314696123025452,
                                    -1.4073856984728024e-18,
                                    -0.881921264348355,
                                    1.9843248405890562e-17,
                                    -0.9238795325112867,
                                    -1.7645047084336677e-17,
                                    -0.9569403357322088,
                                    -4.05538698618757e-17,
                                    -0.9807852804032304,
                                    -1.8546939997825006e-17,
                                    -0.9951847266721969,
                                    4.248691367830441e-17,
                                    -1.0,
                                    0.0,
                                    -0.9951847266721969,
                                    4.248691367830441e-17,
                                    -0.9807852804032304,
                                    -1.8546939997825006e-17,
                                    -0.9569403357322088,
                                    -4.05538698618757e-17,
                                    -0.9238795325112867,
                                    -1.7645047084336677e-17,
                                    -0.881921264348355,
                                    1.9843248405890562e-17,
                                    -0.8314696123025452,
                                    -1.4073856984728024e-18,
                                    -0.773010453362737,
                                    3.256590703364977e-17,
                                    -0.7071067811865476,
                                    4.833646656726457e-17,
                                    -0.6343932841636455,
                                    -1.0420901929280035e-17,
                                    -0.5555702330196022,
                                    -4.709410940561677e-17,
                                    -0.47139673682599764,
                                    -6.516678136069013e-18,
                                    -0.3826834323650898,
                                    1.0050772696461588e-17,
                                    -0.2902846772544624,
                                    1.892797870777425e-17,
                                    -0.19509032201612828,
                                    7.991079068461731e-18,
                                    -0.0980171403295606,
                                    1.634582362244256e-18};

/// sin(x + dx + quarters pi / 2) - z; 0 from 7e13 on, where the whole number of steps of pi / 32 is not exact.
BURLAB_ANYWHERE double sine_error(double x, double dx, double z, std::uint64_t quarters) {
  using R = Real<double>;
  const Pair a = exact_sum(x, dx);
  const double shifted = fused(a.high, 10.185916357881302, R::kShift), n = shifted - R::kShift;
  const Pair first = exact_product(n, 0.09817477042468103), second = exact_product(n, 3.827021247335479e-18);
  const Pair s = exact_sum(a.high - first.high, -first.low), t = exact_sum(s.high, -second.high);
  const double low = (s.low + t.low) + (fused(n, 9.358655655369811e-35, -second.low) + a.low);
  const Pair r = exact_sum(t.high, low), q = product(r, r), z2 = sum(q.high, q.low);
  const double v = z2.high;
  const double sines =
      fused(v,
            fused(v, fused(v, fused(v, 2.8114572543455206e-15, -7.647163731819816e-13), 1.6059043836821613e-10),
                  -2.505210838544172e-08),
            2.7557319223985893e-06);
  const double cosines =
      fused(v,
            fused(v, fused(v, fused(v, 4.779477332387385e-14, -1.1470745597729725e-11), 2.08767569878681e-09),
                  -2.755731922398589e-07),
            2.48015873015873e-05);
  Pair p = sum({-0.0001984126984126984, -1.7209558293420705e-22}, product(z2, {sines, 0}));
  p = sum({0.008333333333333333, 1.1564823173178714e-19}, product(z2, p));
  p = sum({-0.16666666666666666, -9.25185853854297e-18}, product(z2, p));
  const Pair sine = product(r, sum({1, 0}, product(z2, p)));
  Pair c = sum({-0.001388888888888889, 5.300543954373577e-20}, product(z2, {cosines, 0}));
  c = sum({0.041666666666666664, 2.3129646346357427e-18}, product(z2, c));
  const Pair less = product(z2, sum({-0.5, 0}, product(z2, c)));  // cos r - 1
  const std::uint64_t j = __builtin_bit_cast(std::uint64_t, shifted) + 16 * quarters;
  const std::uint64_t at = 2 * (j & 63), beside = 2 * ((j + 16) & 63);
  const Pair y = {kSines[at], kSines[at + 1]}, turn = {kSines[beside], kSines[beside + 1]};
  const Pair main = product(turn, sine), rest = product(y, less);
  const Pair big = exact_sum(y.high, main.high), all = exact_sum(big.high, rest.high);
  const double found = finite_difference({all.high, all.low + (big.low + (y.low + (main.low + rest.low)))}, z);
  return magnitude(a.high) < 7e13 ? found : 0.0;
}
BURLAB_ANYWHERE double sin_error(double x, double dx, double z) { return sine_error(x, dx, z, 0); }
BURLAB_ANYWHERE double cos_error(double x, double dx, double z) { return sine_error(x, dx, z, 1); }

}  // namespace burlab::math
BURLAB_END
