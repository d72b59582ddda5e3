// Numbers of narrow formats without Python: each operation is the exact one, rounded once by the C++ library.
#include "burlab/numbers/rounded.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

#include "burlab/burlab.hpp"
#include "burlab/ops/rounding.hpp"
#include "expect.hpp"

using namespace burlab;
using namespace burlab::formats;

namespace {

/// x as the nearest multiple of its unit: the mode of the C++ library is to the nearest, of two to the even one.
template <class Format> double nearest(long double x) {
  if (x == 0 || !std::isfinite(x)) return static_cast<double>(x);
  const int unit = std::max(std::ilogb(x), Format::least_exponent) - Format::significand;
  const long double y = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  const bool is_large = std::fabs(y) > static_cast<long double>(Format::largest);
  const double beyond = (Format::flags & math::kInfinities) ? std::copysign(INFINITY, static_cast<double>(x)) : NAN;
  return is_large ? beyond : static_cast<double>(y);
}

template <class Format, class T> void check(const char* what) {
  using N = Rounded<Format, T>;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> part(-1, 1);
  const int reach = std::min(-Format::least_exponent, 40);
  std::uniform_int_distribution<int> exponent(-reach - 3, reach + 2);
  const auto same = [&](N got, long double exact) {
    const double wanted = nearest<Format>(exact), number = static_cast<double>(got.number);
    expect(number == wanted || (std::isnan(number) && std::isnan(wanted)), what);
  };
  for (int k = 0; k < 20000; ++k) {
    const double a = std::ldexp(part(random), exponent(random)), b = std::ldexp(part(random), exponent(random));
    const N x = a, y = b;
    same(x, a);
    const long double p = static_cast<long double>(x.number), q = static_cast<long double>(y.number);
    same(x + y, p + q);
    same(x - y, p - q);
    same(x * y, p * q);
    if (q != 0) same(x / y, p / q);
    same(sqrt(fabs(x)), std::sqrt(std::fabs(p)));
    if (std::is_same_v<T, double>) {  // those of float have errors of their own, which a rounding may double
      same(exp(x), std::exp(p));
      same(tanh(x), std::tanh(p));
    }
    same(ops::Floor::primal(x), std::floor(p));
    expect((x < y) == (p < q) && (x == y) == (p == q) && (x >= y) == (p >= q) && (x != y) == (p != q), what);
  }
}

void sums() {
  using B = Rounded<Bfloat16>;
  B sum = 0;
  for (int k = 0; k < 1000; ++k) sum = sum + 1;
  expect(sum == B(256), "a sum stops where half a unit is 1");
  expect(std::isnan(Rounded<E4M3>(449 + 16).number) && Rounded<E4M3>(460) == Rounded<E4M3>(448), "the largest of E4M3");
  expect(std::isinf((Rounded<Float16>(65504) + 16).number) && std::signbit((-Rounded<Float16>(0)).number), "edges");
  // Just above the middle, which a rounding to float would make of it first.
  expect(Rounded<Float16, float>(1 + 0x1p-11 + 0x1p-40).number == 1 + 0x1p-10f, "a constant is rounded once");
}

/// The least number stays, half of it is 0; the largest stays, and what is half a unit and more beyond it does not.
template <class Format> void has_ends(double least, double largest, const char* what) {
  using N = Rounded<Format>;
  expect(N(least).number == least && N(least / 2).number == 0 && N(1.5 * least).number == 2 * least, what);
  expect(N(largest).number == largest && !(N(1.13 * largest) <= N(largest)), what);
}

void ends() {
  has_ends<Float16>(0x1p-24, 65504, "float16");
  has_ends<Bfloat16>(0x1p-133, 0x1.fep127, "bfloat16");
  has_ends<Tf32>(0x1p-136, 0x1.ffcp127, "tf32");
  has_ends<E5M2>(0x1p-16, 57344, "e5m2");
  has_ends<E4M3>(0x1p-9, 448, "e4m3");
  has_ends<Ieee<11, 20>>(0x1p-1042, 0x1.fffffp1023, "an exponent of a double");
}

/// Each rounding within the derivative is one of the format.
void derivatives() {
  using B = Rounded<Bfloat16>;
  const Dual<B> x(B(0.7), B(1)), y = tanh(x) * tanh(x) / (Dual<B>(1) + exp(x));
  const auto f = [](double t) { return std::tanh(t) * std::tanh(t) / (1 + std::exp(t)); };
  expect(std::fabs((f(0.7001) - f(0.6999)) / 2e-4 - y.tangent.number) < 0.02, "derivative of duals");
  expect(B(y.tangent.number) == y.tangent && y.value.number != f(0.7), "a derivative of the format");
  expect(ops::Abs::primal(B(-2)) == B(2) && ops::Maximum::primal(B(1), B(2)) == B(2), "choices");
}

}  // namespace

int main() {
  check<Float16, double>("float16");
  check<Float16, float>("float16 in float");
  check<Bfloat16, float>("bfloat16 in float");
  check<Tf32, double>("tf32");
  check<E5M2, double>("e5m2");
  check<E4M3, double>("e4m3");
  check<Ieee<8, 23>, double>("float32");
  check<Ieee<3, 2>, float>("six bits");
  sums();
  ends();
  derivatives();
  return failures;
}
