#pragma once
// sin, cos and tan: x = (n + f) pi / 2, |f| <= 1/2, for every number, also 1e38 and 1e308 (Payne and Hanek 1983).
// Floats in double; of doubles f is a sum of two.
#include "polynomial.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// 2^e * 2 / pi mod 4 for e = 0 ... 104, each as a double of 29 bits and what is left: the product of a float's 24 bits
/// with the first is exact.
inline constexpr double kTwoOverPi[] = {
    0.6366197690367699,  3.330811476132176e-09,  1.2732395380735397,  6.661622952264352e-09,
    2.54647908359766,    5.872665307604874e-09,  1.0929581746459007,  4.294750018285921e-09,
    2.185916356742382,   1.138919439648014e-09,  0.3718327134847641,  2.277838879296028e-09,
    0.7436654269695282,  4.555677758592056e-09,  1.487330861389637,   1.6607749202602838e-09,
    2.974661722779274,   3.3215498405205676e-09, 1.949323445558548,   6.643099681041135e-09,
    3.8986468985676765,  5.8356187651584414e-09, 3.7972938045859337,  4.2206569333930555e-09,
    3.594587616622448,   9.907332698622821e-10,  3.189175233244896,   1.9814665397245642e-09,
    2.378350466489792,   3.9629330794491285e-09, 0.7567009404301643,  4.752855619744297e-10,
    1.5134018808603287,  9.505711239488593e-10,  3.0268037617206573,  1.9011422478977186e-09,
    2.0536075234413147,  3.802284495795437e-09,  0.10721505433320999, 1.5398839466704606e-10,
    0.21443010866641998, 3.0797678933409213e-10, 0.42886021733283997, 6.159535786681843e-10,
    0.8577204346656799,  1.2319071573363685e-09, 1.7154408693313599,  2.463814314672737e-09,
    3.4308817386627197,  4.927628629345474e-09,  2.86176348477602,    2.4046766617671204e-09,
    1.72352696955204,    4.809353323534241e-09,  3.447053946554661,   2.1681260501446532e-09,
    2.8941078931093216,  4.3362521002893065e-09, 1.7882157936692238,  1.2219236036547852e-09,
    3.5764315873384476,  2.4438472073095704e-09, 3.152863174676895,   4.887694414619141e-09,
    2.305726356804371,   2.3248082323144544e-09, 0.6114527136087418,  4.649616464628909e-09,
    1.2229054346680641,  1.848652332333989e-09,  2.4458108693361282,  3.697304664667978e-09,
    0.8916217386722565,  7.394609329335956e-09,  1.7832434847950935,  7.338638061748084e-09,
    3.5664869770407677,  7.226695526572339e-09,  3.132973961532116,   7.0028104562208505e-09,
    2.2659479305148125,  6.555040315517873e-09,  0.5318958684802055,  5.659500034111918e-09,
    1.0637917444109917,  3.868419471300007e-09,  2.127583496272564,   2.8625834567618517e-10,
    0.25516699254512787, 5.725166913523703e-10,  0.5103339850902557,  1.1450333827047407e-09,
    1.0206679701805115,  2.2900667654094814e-09, 2.041335940361023,   4.580133530818963e-09,
    0.0826718881726265,  1.709686464714098e-09,  0.165343776345253,   3.419372929428196e-09,
    0.330687552690506,   6.838745858856392e-09,  0.6613751128315926,  6.226911120788957e-09,
    1.3227502331137657,  5.003241644654086e-09,  2.645500473678112,   2.555902692384343e-09,
    1.291000947356224,   5.111805384768686e-09,  2.5820019021630287,  2.773030172613544e-09,
    1.1640038043260574,  5.546060345227088e-09,  2.3280076161026955,  3.6415400935303494e-09,
    0.6560152322053909,  7.283080187060699e-09,  1.3120304718613625,  7.1155797771975685e-09,
    2.6240609511733055,  6.780578957471309e-09,  1.2481219097971916,  6.11057731801879e-09,
    2.496243827044964,   4.770574039113752e-09,  0.9924876615405083,  2.090567481303676e-09,
    1.9849753230810165,  4.181134962607352e-09,  3.9699506536126137,  9.116893282908753e-10,
    3.9399013072252274,  1.8233786565817506e-09, 3.8798026144504547,  3.646757313163501e-09,
    3.7596052289009094,  7.293514626327002e-09,  3.5192104652523994,  7.136448655730177e-09,
    3.0384209379553795,  6.822316714536525e-09,  2.0768418833613396,  6.194052832149223e-09,
    0.15368377417325974, 4.937525067374619e-09,  0.30736755579710007, 2.4244695378254084e-09,
    0.6147351115942001,  4.848939075650817e-09,  1.2294702306389809,  2.247297554377806e-09,
    2.4589404612779617,  4.494595108755612e-09,  0.9178809300065041,  1.538609620587396e-09,
    1.8357618600130081,  3.077219241174792e-09,  3.6715237200260162,  6.154438482349584e-09,
    3.343047447502613,   4.8582963677753385e-09, 2.6860949024558067,  2.2660121386268493e-09,
    1.3721898049116135,  4.532024277253699e-09,  2.7443796172738075,  1.613467957583569e-09,
    1.488759234547615,   3.226935915167138e-09,  2.97751846909523,    6.453871830334276e-09,
    1.9550369456410408,  5.457163063744724e-09,  3.910073898732662,   3.4637455305656194e-09,
    3.8201477974653244,  6.927491061131239e-09,  3.6402956023812294,  6.40440152533865e-09,
    3.2805912122130394,  5.3582224537534715e-09, 2.5611824318766594,  3.265864310583115e-09,
    1.1223648637533188,  6.53172862116623e-09,   2.244729734957218,   5.612876645408631e-09,
    0.48945947736501694, 3.7751726938934354e-09, 0.9789189621806145,  9.976479086304255e-11,
    1.957837924361229,   1.995295817260851e-10,  3.915675848722458,   3.990591634521702e-10,
    3.8313516974449158,  7.981183269043404e-10,  3.6627033948898315,  1.5962366538086808e-09,
    3.325406789779663,   3.1924733076173616e-09, 2.650813579559326,   6.384946615234723e-09,
    1.301627166569233,   5.319312633545618e-09,  2.6032543405890465,  3.188044670167408e-09,
    1.206508681178093,   6.376089340334816e-09,
};

/// sin and cos of what is left of an angle, and how many quarter turns were taken off.
struct Turned {
  double sine, cosine;
  std::uint64_t quarters;
};
BURLAB_CONSTEXPR Turned turned(float x) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  std::int32_t e = static_cast<std::int32_t>((bits >> 23) & 255) - 150;  // x = m 2^e, m of 24 bits or, for e = 0, fewer
  e = e < 0 ? 0 : e > 104 ? 104 : e;
  const double m = __builtin_bit_cast(float, bits - (static_cast<std::uint32_t>(e) << 23));
  const double high = m * kTwoOverPi[2 * e], low = m * kTwoOverPi[2 * e + 1];
  const double shifted = (high + low) + Real<double>::kShift, n = shifted - Real<double>::kShift;
  const double r = ((high - n) + low) * 1.5707963267948966, z = r * r, q = z * z;
  const double sine = r * (1 + z * ((-0.166666548734 + 0.00833217354039 * z) + q * -0.000195166555901));
  const double cosine =
      1 + z * ((-0.499999997229 + 0.0416666230648 * z) + q * (-0.00138867553226 + 2.43896338012e-5 * z));
  return {sine, cosine, __builtin_bit_cast(std::uint64_t, shifted)};
}

/// sin(x + quarters pi / 2); nan at infinity.
BURLAB_CONSTEXPR float sin_after(float x, std::uint64_t quarters) {
  const Turned t = turned(x);
  const std::uint64_t k = t.quarters + quarters;
  const double y = (k & 1) != 0 ? t.cosine : t.sine;
  return x - x == 0 ? static_cast<float>((k & 2) != 0 ? -y : y) : kNan<float>;
}
BURLAB_CONSTEXPR float sin(float x) { return sin_after(x, 0); }
BURLAB_CONSTEXPR float cos(float x) { return sin_after(x, 1); }
BURLAB_CONSTEXPR float tan(float x) {
  const Turned t = turned(x);
  const bool odd = (t.quarters & 1) != 0;
  const double over = odd ? -t.cosine : t.sine, under = odd ? t.sine : t.cosine;
  return x - x == 0 ? static_cast<float>(over / under) : kNan<float>;
}

/// 2^(32 k) * 2 / pi, less a multiple of 4, for k = 0 ... 30: each as a sum of four doubles.
inline constexpr double kTwoOverPiInFour[] = {
    0.6366197723675814,   -3.935735335036497e-17,  -2.1442872565786008e-33, 1.6107127853188224e-49,
    -1.694273640870821,   1.0852635185510961e-16,  -5.665244373482231e-33,  -4.495785048513143e-51,
    1.9849753272621515,   -3.1178565966641257e-17, 6.863064799465887e-34,   -3.385108475271734e-51,
    1.9578379245607584,   7.769584704001829e-17,   3.34906530821634e-33,    -1.9473147087135764e-49,
    0.8569730280980947,   3.577510976413712e-18,   -4.409950693639701e-35,  8.125176617421835e-52,
    1.2354059373013278,   5.0950457647316266e-17,  8.532979878662327e-34,   1.6800657131910823e-50,
    1.9934294027905102,   7.468610146763042e-17,   2.6623537174486554e-33,  2.624290316405018e-50,
    -0.12994734157915236, 3.158226718119009e-18,   -1.5729866384287356e-34, -5.033166681025912e-51,
    1.7153996364816557,   3.989997103266016e-17,   -2.778971522716871e-33,  1.314003515760171e-49,
    -1.7410000041070035,  -1.5068331020551784e-17, -4.0090031461978995e-34, 2.27415815770192e-50,
    0.02455418790652278,  1.5716943815562158e-18,  -6.677128753021848e-35,  -3.390363894770571e-51,
    -1.9616459540574243,  -6.783354033487134e-17,  4.257792839986927e-34,   2.568817226516546e-50,
    0.9926440186547213,   -1.0467525454342137e-17, 6.293270923234803e-34,   -3.1076181173778906e-50,
    0.6920418289742053,   -2.8341991027430526e-17, -6.859988001438987e-34,  -1.7186745576996058e-50,
    -1.0917631412896922,  6.271635464139531e-17,   6.0653663707502085e-33,  -3.3322666471961407e-49,
    1.1825449776166452,   2.098179600458306e-18,   -3.1428272666860984e-35, 1.3820409653673834e-51,
    0.9125433058255776,   -2.421972770216662e-17,  6.213798655161652e-34,   -5.416972084971054e-51,
    -1.2954178896674697,  8.638451221074821e-17,   8.4225269935799e-34,     8.545114584385982e-50,
    1.2248815431988307,   -8.388410436886892e-17,  -1.3178845532633915e-33, 8.024134531623681e-50,
    1.5129886839099682,   -6.302354304316678e-18,  1.1435170039797679e-34,  -2.1813463004889347e-51,
    0.6113948551337428,   3.2051665461021856e-18,  -7.81940772565019e-35,   -5.236674178479329e-51,
    -0.257916913571561,   -7.195152808990792e-21,  -3.4279848075403856e-37, -1.570929526316849e-53,
    -0.8751130104373971,  8.638007821401913e-19,   -1.4201656791519197e-35, -5.52949567595393e-52,
    -0.13272714243868552, -6.3235158433261986e-18, -2.897853492980069e-34,  -1.9393449229477956e-51,
    -0.06568804118975029, 1.7036400926609164e-18,  7.309546151776133e-36,   -3.349855763064181e-52,
    -0.648278407886016,   -1.6525656610109604e-17, 1.2032554679689714e-33,  -2.8985615296438144e-50,
    -0.5733872169732485,  2.3815024694267182e-17,  -1.6417372469441525e-35, -2.7204478015414685e-52,
    -0.8445581366984021,  -8.314819587895112e-18,  -5.207463049859117e-35,  2.7482121952990456e-51,
    -0.6903343557802376,  3.021983908099415e-17,   1.144635385947028e-33,   2.758975873299845e-50,
    -1.381348956968254,   -7.242896184037602e-17,  1.391760450615745e-33,   -5.350359402069822e-50,
    1.457637475785212,    2.0558554398611556e-17,  4.9571308478526475e-34,  -1.196861860890493e-51,
};

/// sine + sine_rest and cosine + cosine_rest of what is left of an angle, and the quarter turns that were taken off.
struct TurnedPair {
  double sine, sine_rest, cosine, cosine_rest;
  std::uint64_t quarters;
};
/// a * b, rounded.
BURLAB_ANYWHERE double rounded_product(double a, double b) {
  double y = a * b;
  BURLAB_ROUNDED(y);
  return y;
}

/// x = 2^(32 k) m with |m| < 2^84, whose product with the table is summed from the large to the small in pairs, each
/// without error (Dekker 1971; the larger is a multiple of the smaller's last bit). Where much cancels, as beside a
/// multiple of pi / 2, nothing was lost before: every double is reduced to 2^-60 of what is left, also
/// 6381956970095103 * 2^797, which is within 2^-61 of one.
BURLAB_ANYWHERE TurnedPair turned(double x) {
  const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, x), field = (bits >> 52) & 2047;
  const std::uint64_t k = ((field - 1075) >> 5) & (0 - std::uint64_t(field >= 1075));
  const double m = __builtin_bit_cast(double, bits - (k << 57)), *const t = kTwoOverPiInFour + 4 * k;
  const double t0 = t[0], t1 = t[1], t2 = t[2], t3 = t[3],
               whole = 1.5 * 0x1p87;  // adding it rounds to multiples of 2^35
  const double h0 = rounded_product(m, t0), h1 = rounded_product(m, t1), h2 = rounded_product(m, t2);
  const double l0 = rest(m, t0, h0), l1 = rest(m, t1, h1), l2 = fused(m, t3, rest(m, t2, h2));
  const double h = h0 - ((h0 + whole) - whole);
  const double shifted = (h + (l0 + h1)) + Real<double>::kShift, a = h - (shifted - Real<double>::kShift);
  const double s1 = a + l0, e1 = l0 - (s1 - a), s2 = s1 + h1, e2 = h1 - (s2 - s1);
  const double p = l1 + h2, e3 = h2 - (p - l1), s3 = s2 + p, e4 = p - (s3 - s2);
  const double low = ((e1 + e2) + (e3 + l2)) + (e4 + (x - x));
  constexpr double quarter = 1.5707963267948966, quarter_low = 6.123233995736766e-17;
  const double r = rounded_product(s3, quarter), r_low = rest(s3, quarter, r) + fused(s3, quarter_low, low * quarter);
  const double z = r * r, q = z * z, w = fused(-0.5, z, 1);
  const double sine = fused(q,
                            fused(q, fused(1.5896795709069063e-10, z, -2.5050758115610947e-08),
                                  fused(2.7557313691914895e-06, z, -0.00019841269829807775)),
                            fused(0.008333333333322413, z, -0.16666666666666632));
  const double cosine = fused(q,
                              fused(q, fused(-1.1359648041096236e-11, z, 2.0875723278108346e-09),
                                    fused(-2.755731435237199e-07, z, 2.480158728948234e-05)),
                              fused(-0.0013888888888874125, z, 0.0416666666666666));
  return {r, fused(r_low, w, (r * z) * sine), w, fused(q, cosine, fused(-0.5, z, 1 - w) - r * r_low),
          __builtin_bit_cast(std::uint64_t, shifted)};
}

/// sin(x + quarters pi / 2).
BURLAB_ANYWHERE double sin_after(double x, std::uint64_t quarters) {
  const TurnedPair t = turned(x);
  const std::uint64_t k = t.quarters + quarters;
  const double size = blend((k & 1) != 0, t.cosine + t.cosine_rest, t.sine + t.sine_rest);
  return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, size) ^ ((k & 2) << 62));
}
/// Near 0 it is x, where products would be denormal.
BURLAB_ANYWHERE double sin(double x) { return blend(magnitude(x) < 1e-8, x, sin_after(x, 0)); }
BURLAB_ANYWHERE double cos(double x) { return sin_after(x, 1); }
/// The quotient, and what the rests add to it.
BURLAB_ANYWHERE double tan(double x) {
  const TurnedPair t = turned(x);
  const bool odd = (t.quarters & 1) != 0;
  const double sine = t.sine + t.sine_rest, sine_rest = t.sine_rest - (sine - t.sine);
  const double cosine = t.cosine + t.cosine_rest, cosine_rest = t.cosine_rest - (cosine - t.cosine);
  const double over = blend(odd, -cosine, sine), over_rest = blend(odd, -cosine_rest, sine_rest);
  const double under = blend(odd, sine, cosine), under_rest = blend(odd, sine_rest, cosine_rest);
  const double reciprocal = 1 / under, y = over * reciprocal, yu = y * under;
  const double left = ((over - yu) - rest(y, under, yu)) + (over_rest - y * under_rest);
  return blend(magnitude(x) < 1e-8, x, y + left * reciprocal);
}

}  // namespace burlab::math
BURLAB_END
