// Numbers of two doubles without Python: arithmetic against 113 bits, functions against 40 digits, edges, and duals.
#include "burlab/numbers/double_double.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "burlab/burlab.hpp"
#include "expect.hpp"

using namespace burlab;

namespace {

using D = DoubleDouble;
#if __LDBL_MANT_DIG__ == 113
using Quad = long double;
#else
using Quad = __float128;
#endif

constexpr double kUnit = 0x1p-104;

Quad quad(D x) { return static_cast<Quad>(x.high) + static_cast<Quad>(x.low); }

void is_near(D got, Quad exact, double units, const char* what) {
  const Quad error = quad(got) - exact, size = exact < 0 ? -exact : exact;
  expect((error < 0 ? -error : error) <= static_cast<Quad>(units * kUnit) * size, what);
  expect(got.high == got.high + got.low, "the high part is the double next to the sum");
}

void arithmetic() {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> part(-1, 1), exponent(-40, 40);
  const auto few = [&] { return std::ldexp(std::rint(0x1p24 * part(random)), -24); };
  // Of at most 90 bits, so that they are exact in 113, and so is what two of them leave that are nearly the same.
  const auto draw = [&] {
    const D x = D::normalized(part(random), 0x1p-60 * few());
    const int k = static_cast<int>(exponent(random));
    return D(std::ldexp(x.high, k), std::ldexp(x.low, k));
  };
  for (int k = 0; k < 20000; ++k) {
    const D x = draw(), y = k % 3 == 0 ? -x + x.high * 0x1p-40 * few() : draw();
    is_near(x + y, quad(x) + quad(y), 0.75, "sum");
    is_near(x - y, quad(x) - quad(y), 0.75, "difference");
    is_near(x * y, quad(x) * quad(y), 1.25, "product");
    is_near(x / y, quad(x) / quad(y), 1.5, "quotient");
    const D root = sqrt(fabs(x));  // its square is off by twice as much
    is_near(fabs(x), quad(root) * quad(root), 3, "root");
    expect((x < y) == (quad(x) < quad(y)) && (x >= y) == (quad(x) >= quad(y)), "comparisons");
  }
  const D tenth = D(1) / 10;
  expect(tenth.low != 0 && tenth * 10 == D(1) && (D(1) + 1e-25 > D(1)) && D(1) - 1 == D(0), "digits beyond a double");
}

/// The value of f as two doubles, from 60 digits of mpmath.
struct Known {
  const char* name;
  D (*f)(D);
  D x, y;
};

const Known kKnown[] = {
    {"log", log, {0.7072, -1.865175923087189e-17}, {-0.3464417676587033, -1.5359382678869546e-18}},
    {"log", log, {1.414, -5.606747342379215e-17}, {0.34642256747438094, -1.8320051197530354e-17}},
    {"log1p", log1p, {-0.2499, 2.5954283893660756e-18}, {-0.28754874800654645, 9.640080126374307e-19}},
    {"log1p", log1p, {0.2499, -8.61535138494739e-18}, {0.22306354811403908, -3.3361380057148145e-18}},
    {"sin", sin, {0.785, -3.400136671131923e-17}, {0.706825181105366, -4.1101908842307745e-17}},
    {"cos", cos, {0.785, -7.71893085741378e-18}, {0.7073882691671998, -2.161937930109581e-17}},
    {"expm1", expm1, {-0.349, -1.4574972232878346e-17}, {-0.29460686973004563, 2.44815279323388e-17}},
    {"expm1", expm1, {0.349, 1.0477406009993633e-17}, {0.4176491903419861, 1.8071861765317286e-17}},
    {"exp", exp, {-700.3, 1.8335670146950992e-14}, {7.30422803364585e-305, -4.417e-321}},
    {"exp", exp, {-0.2, -8.838774771281846e-19}, {0.8187307530779818, 2.7870032095795084e-17}},
    {"exp", exp, {1e-05, -1.299408914986796e-22}, {1.00001000005, 9.701871264365949e-17}},
    {"exp", exp, {0.5, 5.1918488806243535e-18}, {1.6487212707001282, -3.8755773110612314e-17}},
    {"exp", exp, {3.7, 4.647933290245153e-17}, {40.4473043600674, 6.62009591111409e-16}},
    {"exp", exp, {400.25, -1.7375808201196366e-14}, {6.7044997941217e+173, 5.4500188624745853e+157}},
    {"expm1", expm1, {-3.2, 1.556617262112828e-16}, {-0.9592377960216338, 5.155489804040189e-17}},
    {"expm1", expm1, {-0.3, -1.011598051615039e-17}, {-0.2591817793182821, -9.299633192378457e-18}},
    {"expm1", expm1, {1e-08, -2.404536426689953e-25}, {1.000000005e-08, 7.374550728887548e-25}},
    {"expm1", expm1, {0.3, -7.963700867351872e-18}, {0.3498588075760031, 5.7992839714961965e-18}},
    {"expm1", expm1, {2.5, 1.2381216939455942e-16}, {11.182493960703475, -6.467581175595328e-17}},
    {"log", log, {1e-300, -2.97127e-318}, {-690.7755278982137, -2.3673067447978667e-14}},
    {"log", log, {0.3, 1.0085775752797784e-17}, {-1.203972804325936, -9.90701365816676e-17}},
    {"log", log, {0.9, -2.1265101850008406e-18}, {-0.10536051565782628, 2.4473600819390616e-18}},
    {"log", log, {1.0001, 1.3897088216018835e-17}, {9.999500033331121e-05, 6.097433105647622e-21}},
    {"log", log, {1.5, -5.2365648214119116e-17}, {0.40546510810816433, 1.7719581062549106e-17}},
    {"log", log, {7e+200, 9.432700700492264e+183}, {462.46292874786445, -2.6759563074430352e-15}},
    {"log1p", log1p, {-0.9, -3.3097602301753774e-17}, {-2.3025850929940463, 1.0814420424571836e-16}},
    {"log1p", log1p, {-0.2, -4.632536431119764e-19}, {-0.22314355131420976, -5.365584264379629e-18}},
    {"log1p", log1p, {1e-09, 2.4105902893960665e-26}, {9.999999995e-10, 9.90448769080923e-26}},
    {"log1p", log1p, {0.2, 3.4254893995252133e-18}, {0.18232155679395465, -9.439010006119442e-18}},
    {"log1p", log1p, {55.5, -2.417691564789047e-15}, {4.034240638152395, -2.031506114089079e-16}},
    {"sin", sin, {-2.2, -5.676524668628539e-17}, {-0.8084964038195901, 4.6250987395398554e-17}},
    {"sin", sin, {1e-07, 9.102676905368797e-25}, {9.999999999999982e-08, 6.297168434900071e-24}},
    {"sin", sin, {0.7, -1.3900144869028043e-17}, {0.644217687237691, -7.757360412464792e-18}},
    {"sin", sin, {3.1, -1.4527015295133756e-16}, {0.04158066243329064, -1.28309140358276e-18}},
    {"sin", sin, {100.5, 3.670612545552746e-15}, {-0.030959966783267675, -9.898354430071316e-19}},
    {"sin", sin, {10000000000.0, -2.7229130285055638e-08}, {-0.4875060488617985, 1.995771767807083e-17}},
    {"cos", cos, {-2.2, -4.810278504966293e-17}, {-0.5885011172553459, 3.806947842959898e-17}},
    {"cos", cos, {1e-07, 3.785100235797295e-24}, {0.999999999999995, -3.9963891867913275e-18}},
    {"cos", cos, {0.7, 1.497708342624389e-17}, {0.7648421872844885, -4.9786306386643174e-17}},
    {"cos", cos, {1.5, 6.311431391272999e-17}, {0.07073720166770285, -3.761548404419293e-18}},
    {"cos", cos, {100.5, -1.0547740578884204e-15}, {0.9995206253283514, 2.824140704905861e-17}},
    {"cos", cos, {10000000000.0, 3.006682612735128e-07}, {0.8731197692544055, -2.7713686111005433e-17}},
    {"tan", tan, {-0.6, 3.3200808472010644e-18}, {-0.6841368083416923, 4.665206264107483e-17}},
    {"tan", tan, {1.2, 5.2228628026993765e-17}, {2.572151622126319, -2.08722615639109e-16}},
    {"tan", tan, {9.9, 3.74778202206988e-16}, {0.5145529084769171, -9.294777937286922e-18}},
    {"atan", atan, {-1e+100, 4.022239444203663e+83}, {-1.5707963267948966, -6.123233995736766e-17}},
    {"atan", atan, {-0.4, 1.4549607111087238e-17}, {-0.3805063771123649, 9.001984805349673e-18}},
    {"atan", atan, {1e-09, -2.827868527013072e-26}, {1e-09, -2.861201860346405e-26}},
    {"atan", atan, {1.1, 5.1161890003339594e-17}, {0.8329812666744317, 3.810030293479528e-17}},
    {"atan", atan, {50.5, -3.221249002853076e-16}, {1.5509969342285037, 4.321610673355783e-17}},
    {"sinh", sinh, {-0.1, -1.2654706369477474e-18}, {-0.10016675001984403, -4.633199393452869e-18}},
    {"sinh", sinh, {1e-09, -1.9881476622468105e-26}, {1e-09, -1.9714809955801438e-26}},
    {"sinh", sinh, {0.34, 2.4606461886869303e-19}, {0.34658863390049205, 1.7882227596249588e-17}},
    {"sinh", sinh, {5.5, -6.272338412191351e-17}, {122.34392274639096, -4.627765850708963e-15}},
    {"sinh", sinh, {710.1, -1.0578384360900374e-14}, {1.23447302334758e+308, 5.261531661879412e+291}},
    {"cosh", cosh, {-0.1, -8.5006109556781265e-19}, {1.0050041680558035, 9.563975409680493e-17}},
    {"cosh", cosh, {3.3, 2.7780869285175634e-17}, {13.574761044029561, 7.239071785288518e-16}},
    {"cosh", cosh, {709.0, 2.863499992433353e-14}, {4.109203730777604e+307, -1.8532801804722065e+291}},
    {"tanh", tanh, {-1e-07, -1.8183668234635906e-24}, {-9.999999999999966e-08, 6.427214886573123e-25}},
    {"tanh", tanh, {0.2, 8.572055089750905e-18}, {0.19737532022490403, -1.3182669929823375e-17}},
    {"tanh", tanh, {0.6, 2.136694219936875e-17}, {0.5370495669980353, -1.4026403061886327e-17}},
    {"tanh", tanh, {5.5, 2.698284642500143e-16}, {0.9999665971563038, 4.934892122925912e-17}},
    {"tanh", tanh, {39.0, 6.674329233629527e-16}, {1.0, -2.6672296310045193e-34}},
};

void functions() {
  for (const Known& known : kKnown) is_near(known.f(known.x), quad(known.y), 2, known.name);
  const D pi(3.141592653589793, 1.2246467991473532e-16);
  expect(std::fabs(sin(pi).high + 2.9947698097183397e-33) < 1e-48, "the sine of pi, to its 32 digits");
  is_near(pow(D(1) / 10, D(-3)), Quad(1000), 8, "a whole power");
  is_near(pow(D(2), D(100.5)) / sqrt(D(2)), quad(D(0x1p100)), 500, "a large power");
  expect(pow(D(-2), D(65)).high == -0x1p65 && std::isnan(pow(D(-2), D(0.5)).high), "powers of negative numbers");
}

void edges() {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto is = [](D x, double high) { return x.high == high && x.low == 0; };
  expect(is(D(infinity) + 1, infinity) && is(D(1) / 0, infinity) && is(D(1) / infinity, 0), "infinities");
  expect(is(D(infinity) * 2, infinity) && is(D(1e200) * 1e200, infinity) && is(D(1e308) + D(1e308), infinity),
         "overflow");
  expect(std::isnan((D(infinity) - infinity).high) && std::isnan((D(0) / 0).high) && std::isnan((D(infinity) * 0).high),
         "nan");
  expect(is(sqrt(D(0)), 0) && is(sqrt(D(infinity)), infinity) && std::isnan(sqrt(D(-1)).high), "roots");
  expect(is(exp(D(800)), infinity) && is(exp(D(-800)), 0) && is(log(D(0)), -infinity) && std::isnan(log(D(-1)).high),
         "exponentials");
  expect(is(tanh(D(infinity)), 1) && is(tanh(D(-50)), -1) && is(expm1(D(-infinity)), -1), "limits");
  expect(sinh(D(710)).high < infinity && atan(D(infinity)).high == 1.5707963267948966 && atan(D(-1e200)).low < 0,
         "large");
  expect(std::isnan(sin(D(1e15)).high) && std::isnan(cos(D(infinity)).high) && std::isnan(exp(D(NAN)).high),
         "left out");
  const std::int64_t large = std::numeric_limits<std::int64_t>::max(), small = std::numeric_limits<std::int64_t>::min();
  expect(quad(D(large)) == static_cast<Quad>(large) && quad(D(small)) == static_cast<Quad>(small), "whole numbers");
  expect(quad(D(-123456789012345678LL)) == static_cast<Quad>(-123456789012345678LL), "whole numbers below 0");
  expect(quad(D(~std::uint64_t(0))) == static_cast<Quad>(~std::uint64_t(0)) && D(true) == D(1), "unsigned ones");
  expect(static_cast<double>(D(1) / 3) == 1.0 / 3 && max(D(1), D(2)) == D(2) && min(D(1), D(2)) == D(1), "choices");
}

/// The derivative of tanh(x)^2 / (1 + e^x), by duals and by the difference quotient, which has 20 digits here.
void derivatives() {
  const auto f = [](auto x) {
    const auto y = tanh(x);
    return y * y / (decltype(x)(1) + exp(x));
  };
  const D x = D(7) / 10, h = D(1e-10);
  const D slope = f(Dual<D>(x, D(1))).tangent, quotient = (f(x + h) - f(x - h)) / (2 * h);
  expect(std::fabs(double(slope / quotient - 1)) < 1e-18, "derivative of duals");
  expect(ops::Tanh::partial<0>(x, ops::Tanh::primal(x)) == D(1) - tanh(x) * tanh(x), "partial of tanh");
}

}  // namespace

int main() {
  arithmetic();
  functions();
  edges();
  derivatives();
  return failures;
}
