// Intervals without Python: bounds hold in long double, derivatives of duals and of structs too, choices are hulls.
#include "burlab/numbers/interval.hpp"

#include <cmath>
#include <random>

#include "burlab/burlab.hpp"
#include "expect.hpp"

using namespace burlab;

namespace {

using I = Interval<double>;

template <class F> void check(F f, double start, double end, const char* what, double units = 4) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> part(0, 1);
  for (int k = 0; k < 2000; ++k) {
    const double a = start + (end - start) * part(random), width = (end - start) * std::pow(10.0, -9 * part(random));
    const I x(a, std::fmin(end, a + width));
    const I y = f(x);
    for (int j = 0; j < 5; ++j) {
      const double inner = std::fmin(x.high, x.low + (x.high - x.low) * part(random));
      const long double exact = f(static_cast<long double>(inner));
      expect(y.low <= exact && exact <= y.high, what);
    }
    const I point = f(I(a));
    const double unit = std::nextafter(std::fabs(point.high), INFINITY) - std::fabs(point.high);
    expect(point.high - point.low <= 2 * units * unit, what);
  }
}

void functions() {
  using std::atan, std::cos, std::cosh, std::erf, std::exp, std::log, std::pow, std::sin, std::sqrt, std::tanh;
  check([](auto x) { return exp(x); }, -20, 20, "exp");
  check([](auto x) { return log(x); }, 0.5, 90, "log", 8);
  check([](auto x) { return sqrt(x); }, 0, 90, "sqrt");
  check([](auto x) { return sin(x); }, -9, 9, "sin");
  check([](auto x) { return cos(x); }, -9, 9, "cos");
  check([](auto x) { return tanh(x); }, -5, 5, "tanh");
  check([](auto x) { return cosh(x); }, -5, 5, "cosh");
  check([](auto x) { return atan(x); }, -5, 5, "atan");
  check([](auto x) { return erf(x); }, -5, 5, "erf");
  check([](auto x) { return x * x * x - x / (x * x + decltype(x)(2)); }, -3, 3, "a rational function", 1e6);
  check([](auto x) { return pow(x, decltype(x)(2.5)); }, 0.1, 9, "pow");
  check([](auto x) { return pow(x, decltype(x)(-3)); }, 0.1, 9, "a negative power", 9);
}

/// Of points: what is exact in long double is inside of both bounds, which a rounded result would be itself.
void arithmetic() {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> part(-2, 2);
  const auto inside = [](I y, long double exact) { return y.low < exact && exact < y.high; };
  for (int k = 0; k < 1000; ++k) {
    const double a = part(random), b = part(random) * 1e-3;
    const long double x = a, y = b;
    expect(inside(I(a) + I(b), x + y) && inside(I(a) - I(b), x - y), "sums of points");
    expect(inside(I(a) * I(b), x * y) && inside(I(a) / I(b), x / y), "products of points");
  }
}

/// The derivative of tanh(x)^2 / (1 + e^x), by duals of intervals.
void derivatives() {
  const auto f = [](auto x) {
    using std::exp, std::tanh;
    const auto y = tanh(x);
    return y * y / (decltype(x)(1) + exp(x));
  };
  for (double a = -3; a < 3; a += 0.37) {
    const auto bounds = f(Dual<I>(I(a, a + 0.05), I(1)));
    for (double x = a; x < a + 0.05; x += 0.01) {
      const auto at = f(Dual<double>(x, 1));
      expect(bounds.value.contains(at.value) && bounds.tangent.contains(at.tangent), "derivative of duals");
    }
  }
  const I x(0.3, 0.4), partial = ops::Tanh::partial<0>(x, ops::Tanh::primal(x));
  expect(partial.contains(1 / (std::cosh(0.35) * std::cosh(0.35))) && partial.width() < 0.1, "partial of tanh");
  const I kink = ops::Abs::partial<0>(I(-1, 2), I(0, 2));
  expect(kink.low == -1 && kink.high == 1, "the derivative at a kink");
}

void edges() {
  expect((I(1) / I(-1, 2)).low == -INFINITY && (I(1) / I(-1, 2)).high == INFINITY, "a divisor around 0");
  expect((I(1) / I(0, 2)).low > 0.49 && (I(1) / I(0, 2)).high == INFINITY, "a divisor from 0");
  expect((I(1) / I(-2, 0)).high < -0.49 && (I(1) / I(-2, 0)).low == -INFINITY, "a divisor up to 0");
  expect(std::isnan(log(I(-1, 2)).low) && std::isnan(log(I(-1, 2)).high), "a domain that is left");
  expect(square(I(-1, 2)).low == 0 && square(I(-1, 2)).high > 4, "a square");
  expect(tan(I(1, 2)).high == INFINITY && cos(I(-1e300, 1e300)).low == -1, "poles and long ways");
  expect((I(1, 2) < I(3)).sure && !(I(1, 2) < I(1)).possible && (I(1, 2) < I(1.5)).possible, "comparisons");
  const I chosen = select(I(-1, 1) > I(0), I(3), I(5, 6));
  expect(chosen.low == 3 && chosen.high == 6, "an open choice");
  expect(max(I(0, 3), I(1, 2)).low == 1 && fabs(I(-2, 1)).low == 0 && fabs(I(-2, 1)).high == 2, "exact choices");
  const Interval<float> third = Interval<float>(1) / Interval<float>(3);
  expect(
      third.low < third.high && static_cast<double>(third.low) < 1.0 / 3 && 1.0 / 3 < static_cast<double>(third.high),
      "floats");
}

}  // namespace

int main() {
  functions();
  arithmetic();
  derivatives();
  edges();
  return failures;
}
