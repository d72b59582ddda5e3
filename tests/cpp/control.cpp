// Loops and choices over hand-written kernels, what stops them, and the answers that an update gets in the middle of
// its work.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "burlab/kernels/control/control.hpp"
#include "burlab/run/step/query.hpp"
#include "expect.hpp"

using namespace burlab;

namespace {

using Int = std::int64_t;
template <class T> const T& at(const void* place) { return *static_cast<const T*>(place); }
template <class T> T& to(void* place) { return *static_cast<T*>(place); }

// The state (a, b) of doubles, and a limit that is read from around the loop.
Int below(const void*, const void* const* in, void* const* out, void*) noexcept {
  to<bool>(out[0]) = at<double>(in[0]) < at<double>(in[2]);
  return Ok;
}
Int fibonacci(const void*, const void* const* in, void* const* out, void* workspace) noexcept {
  std::memset(workspace, 1, 64);           // uses all that it was promised
  to<double>(out[0]) = at<double>(in[1]);  // and reads after it has written
  to<double>(out[1]) = at<double>(in[0]) + at<double>(in[1]);
  return Ok;
}
Int outside(const void*, const void* const* in, void* const*, void*) noexcept {
  return at<double>(in[0]) < 3 ? Int{Ok} : IndexOutOfRange | 2 << 8;
}
Int same(const void*, const void* const* in, void* const* out, void*) noexcept {
  for (int k = 0; k < 2; ++k) to<double>(out[k]) = at<double>(in[k]);
  return Ok;
}

using Part = Int (*)(const void*, const void* const*, void* const*, void*) noexcept;

/// A loop over rows of starts, with one limit for all.
struct Loop {
  std::vector<Int> descriptor;
  std::vector<double> a{0, 1, 5, 100}, b{1, 1, 8, 0}, limit{40}, end_a{4}, end_b{4};
  alignas(64) std::array<char, 64 + 64 + 2 * 64 + 64> scratch{};

  Loop(Part condition, Part body) : descriptor{4, 2, 3, 8, 8, 8, 8, 0, 0, 0} {
    end_a.resize(4), end_b.resize(4);
    Int first = 10;
    for (const Part part : {condition, body}) {
      descriptor.insert(descriptor.end(), {reinterpret_cast<Int>(part), 0, first});
      first += 10;
    }
  }
  Int run() {
    void* const out[] = {end_a.data(), end_b.data()};
    const void* const in[] = {a.data(), b.data(), limit.data()};
    return kernels::run_while(descriptor.data(), out, in, scratch.data());
  }
};

void test_loops() {
  Loop loop(below, fibonacci);
  expect(loop.run() == Ok, "the loop ends");
  for (std::size_t row = 0; row < 4; ++row) {
    double a = loop.a[row], b = loop.b[row];
    while (a < 40) {
      const double next = a + b;
      a = b, b = next;
    }
    expect(loop.end_a[row] == a && loop.end_b[row] == b, "a row loops by itself");
  }
  Loop faulty(below, outside);
  faulty.a = {3, 3, 3, 3};
  expect(faulty.run() == (IndexOutOfRange | (20 + 2) << 8), "an outcome counts nodes of the whole");
}

void test_choices() {
  const double x[] = {2, 3}, y[] = {5, 7}, limit = 0;
  const bool choice[] = {true, false};
  double a[2], b[2];
  alignas(64) std::array<char, 64 + 64> scratch{};
  std::vector<Int> descriptor{2, 2, 4, 8, 8, 1, 8, 8, 0};
  for (const Part part : {Part(same), Part(fibonacci)})
    descriptor.insert(descriptor.end(), {reinterpret_cast<Int>(part), 0, 0});
  void* const out[] = {a, b};
  const void* const in[] = {choice, x, y, &limit};
  expect(kernels::run_cond(descriptor.data(), out, in, scratch.data()) == Ok, "a choice ends");
  expect(a[0] == 2 && b[0] == 5 && a[1] == 7 && b[1] == 10, "rows choose for themselves");
}

bool enough() noexcept { return true; }

void test_stopping() {
  Loop endless(below, same);
  std::atomic<bool> flag{false};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    flag = true;
  });
  {
    const StopScope scope(StopToken{&flag});
    expect(endless.run() == Stopped, "a flag stops a loop");
  }
  other.join();
  {
    const StopScope scope(StopToken{nullptr, &enough});
    expect(endless.run() == Stopped, "a poll stops a loop");
    expect(stop_token_of_thread().stopped, "and is remembered");
  }
  expect(stop_token_of_thread().poll == nullptr && stop_token_of_thread().flag == nullptr, "a scope ends");
  for (const StopToken token : {StopToken{&flag}, StopToken{nullptr, &enough}}) {
    const StopScope scope(token);
    run::Team team(3);
    std::array<Int, 3> outcomes{};
    auto work = [&](int i) { outcomes[static_cast<std::size_t>(i)] = Loop(below, same).run(); };
    team.run(3, work);
    expect(outcomes[0] == Stopped && outcomes[1] == Stopped && outcomes[2] == Stopped, "helpers stop too");
  }
}

// (x - a)^2 / 2 for x in R^2 of float, one number a per sample: value and gradient, added up.
Int spring(const void*, const void* const* in, void* const* out, void*) noexcept {
  const auto* x = static_cast<const float*>(in[0]);
  const float a = at<float>(in[1]);
  for (int i = 0; i < 2; ++i) {
    to<float>(out[0]) += (x[i] - a) * (x[i] - a) / 2;
    static_cast<float*>(out[1])[i] += x[i] - a;
  }
  return a < 100 ? Int{Ok} : IndexOutOfRange | 4 << 8;
}

struct Problem {
  std::vector<float> a{1, 2, 3, 4, 5, 6, 7, 8};
  const char* data[1]{reinterpret_cast<const char*>(a.data())};
  std::int64_t strides[1]{4}, offsets[2]{0, 64}, rows[2]{4, 8}, places[1]{0};
  run::Span parts[2]{{0, 1, run::Dtype::float32}, {64, 2, run::Dtype::float32}};
  const void* contexts[1]{nullptr};
  run::Query query{};
  const run::Query* list[1]{&query};
  run::Queries all{};

  explicit Problem(std::int64_t batch) {
    const run::Block block{2, 2, offsets, parts, 128};
    query.loss.samples = {{spring, nullptr, 64},
                          1,
                          contexts,
                          1,
                          0,
                          1,
                          0,
                          0,
                          1,
                          nullptr,
                          data,
                          strides,
                          strides,
                          rows,
                          block,
                          block,
                          {},
                          {},
                          {},
                          0,
                          0,
                          nullptr};
    query.kind = run::query_value_and_grad;
    query.stream = {run::Sampling::sequential, 8, batch, nullptr, 0, {}, 0, nullptr};
    query.points = 1;
    query.value = 0;
    query.vector = 64;
    all.count = 1, all.list = list;
    all.dimension = 2, all.bytes = 4, all.leaves = 1, all.places = places;
  }
};

void test_answers() {
  Problem problem(2);
  run::Ledger ledger;
  {
    run::QueryOracle oracle(ledger, &problem.all, problem.query.stream, 2);
    run::Team team(2);
    const std::atomic<bool> calm{false}, cancel{true};
    const float y[] = {0, 1, 10, 10};  // two points
    float answers[6];
    const auto ask = [&](Int query, Int numbers, Int rows = 2) {
      const Int descriptor[] = {query, rows, numbers, 3, 4, 0};
      return kernels::OracleQuery::run(descriptor, answers, oracle.address(), y, nullptr);
    };
    oracle.begin(1, {}, nullptr, team, calm);  // samples 2 and 3: a is 3 and 4
    expect(oracle.ready() && ask(2, 2) == Ok, "an answer comes");
    expect(answers[0] == (9 + 4 + 16 + 9) / 4.0f && answers[1] == -3.5f && answers[2] == -2.5f, "of this batch");
    expect(answers[3] == 42.5f && answers[4] == 6.5f && answers[5] == 6.5f, "and of a second point");
    expect(ask(0, 2) == Unanswered && ask(2, 3) == Unanswered, "what nobody prepared is not answered");
    expect(oracle.outcome(Unanswered).status == Unanswered, "and says no more");
    oracle.begin(1, {}, nullptr, team, cancel);
    expect(ask(2, 2) == Stopped && oracle.outcome(Stopped | 5 << 8).status == Stopped, "a cancel leaves an answer");
    problem.a[2] = 200;
    oracle.begin(1, {}, nullptr, team, calm);
    expect(ask(2, 2, 1) == Unanswered, "a kernel fails");
    const auto outcome = oracle.outcome(Unanswered | 9 << 8);
    expect(outcome.status == IndexOutOfRange && outcome.node == 4 && outcome.sample == 2, "and is remembered");
    expect(outcome.owner == 0 && outcome.part == run::Part::samples, "with the number of the query");
  }
  expect(ledger.total() == 0, "all memory is given back");
  const kernels::Oracle* nobody = nullptr;
  const Int descriptor[] = {0, 1, 2, 1, 4, 0};
  float none = 0;
  expect(kernels::OracleQuery::run(descriptor, &none, &nobody, &none, nullptr) == Unanswered, "nobody answers");
}

}  // namespace

int main() {
  test_loops();
  test_choices();
  test_stopping();
  test_answers();
  return failures;
}
