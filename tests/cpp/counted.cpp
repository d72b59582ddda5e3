// Counted operations without Python: each kind counts where it should, for values and derivatives, in each thread.
#include "burlab/numbers/counted.hpp"

#include <cmath>
#include <cstdint>
#include <thread>

#include "burlab/burlab.hpp"
#include "burlab/numbers/interval.hpp"
#include "expect.hpp"

using namespace burlab;

namespace {

using C = Counted<double>;

void is_tally(const Tally& t, std::int64_t products, std::int64_t sums, std::int64_t functions, std::int64_t logic,
              const char* what) {
  expect(t.multiplications == products && t.additions == sums && t.transcendental == functions && t.logic == logic,
         what);
  expect(t.flops() == products + sums + functions, "flops are all but logic");
}

template <class T> T horner(T x, int degree) {
  T y = 1;
  for (int k = 0; k < degree; ++k) y = y * x + 1;
  return y;
}

void kinds() {
  Tally t;
  const C x(0.5, t);
  expect(horner(x, 10).number == horner(0.5, 10), "the value is that of a double");
  is_tally(t, 10, 10, 0, 0, "Horner's rule");
  t = {};
  const C y = -(2.0 * x - x / 3) + exp(x) * pow(x, C(2.5)) + atan2(x, C(1)) + sqrt(x);
  is_tally(t, 3, 5, 4, 0, "each function is one");
  expect(std::fabs(y.number -
                   (-(1 - 0.5 / 3) + std::exp(0.5) * std::pow(0.5, 2.5) + std::atan2(0.5, 1) + std::sqrt(0.5))) < 1e-15,
         "their value");
  t = {};
  const C larger = select(x > C(0.25), max(x, C(1)), fabs(x));
  expect(larger.number == 1 && larger.tally == &t, "a choice");
  is_tally(t, 0, 0, 0, 3, "comparisons");
  t = {};
  expect((x < 1) && (x <= 1) && !(x > 1) && !(x >= 1) && !(x == 1) && (x != 1), "comparisons of either kind");
  is_tally(t, 0, 0, 0, 6, "one each");
}

void tallies() {
  Tally first, second;
  const C x(2, first), y(3, second), z = x * y * 2 + (C(1) + C(2));
  is_tally(first, 2, 1, 0, 0, "the left number's tally");
  is_tally(second, 0, 0, 0, 0, "and no other; constants count nowhere");
  expect((C(5) - y).tally == &second && z.number == 15, "a constant takes the other's tally");
}

/// Forward mode: the product rule is two products and a sum beside the product.
void derivatives() {
  Tally t;
  const Dual<C> x(C(0.5, t), C(1)), y(C(2, t), C(1));
  const Dual<C> z = x * y;
  expect(z.tangent.number == 2.5, "the product rule");
  is_tally(t, 3, 1, 0, 0, "its operations");
  t = {};
  expect(exp(x).tangent.number == std::exp(0.5), "an exponential");
  is_tally(t, 1, 0, 1, 0, "whose derivative is its value");
}

void other_numbers() {
  Tally t;
  const Counted<Interval<double>> x(Interval<double>(1, 2), t), y = exp(x) * x - 1;
  expect(y.number.contains(std::exp(1.5) * 1.5 - 1) && (x < 3).sure, "intervals that count");
  is_tally(t, 1, 1, 1, 1, "their operations");
  Tally mine, other;
  std::thread thread([&] { horner(Counted<float>(0.5f, other), 1000); });
  horner(C(0.5, mine), 500);
  thread.join();
  expect(mine.flops() == 1000 && other.flops() == 2000, "a tally for each thread");
}

}  // namespace

int main() {
  kinds();
  tallies();
  derivatives();
  other_numbers();
  return failures;
}
