// The sum over samples and the step loop on hand-written kernels: same bits however the work is cut, threads that join.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "burlab/run/abi/loop.hpp"
#include "burlab/run/abi/record.hpp"
#include "burlab/run/abi/sum.hpp"
#include "expect.hpp"

using namespace burlab;
using namespace burlab::run;

namespace {

// 0.5 (a . x - b)^2 for x in R^3, and its gradient.
std::int64_t least_squares(const void*, const void* const* in, void* const* out, void*) noexcept {
  const auto* x = static_cast<const float*>(in[0]);
  const auto* a = static_cast<const float*>(in[1]);
  const float r = a[0] * x[0] + a[1] * x[1] + a[2] * x[2] - *static_cast<const float*>(in[2]);
  *static_cast<float*>(out[0]) = 0.5f * r * r;
  for (int i = 0; i < 3; ++i) static_cast<float*>(out[1])[i] = r * a[i];
  return Ok;
}

// The same for a tile of samples, added up; the context says how many of them count.
constexpr std::int64_t counts[4] = {1, 2, 3, 4};
std::int64_t tile_of_four(const void* context, const void* const* in, void* const* out, void*) noexcept {
  for (std::int64_t i = 0; i < *static_cast<const std::int64_t*>(context); ++i) {
    float value, gradient[3];
    const void* const one[3] = {in[0], static_cast<const float*>(in[1]) + 3 * i, static_cast<const float*>(in[2]) + i};
    void* const results[2] = {&value, gradient};
    least_squares(nullptr, one, results, nullptr);
    *static_cast<float*>(out[0]) += value;
    for (int k = 0; k < 3; ++k) static_cast<float*>(out[1])[k] += gradient[k];
  }
  return Ok;
}

std::int64_t ridge(const void*, const void* const* in, void* const* out, void*) noexcept {
  const auto* x = static_cast<const float*>(in[0]);
  *static_cast<float*>(out[0]) = 0.05f * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  for (int i = 0; i < 3; ++i) static_cast<float*>(out[1])[i] = 0.1f * x[i];
  return Ok;
}

// v <- mu v + g; x <- x - lr v, with in = g, x, t, lr, mu, v.
std::int64_t momentum(const void*, const void* const* in, void* const* out, void*) noexcept {
  for (int i = 0; i < 3; ++i) {
    const float v = static_cast<float>(*static_cast<const double*>(in[4])) * static_cast<const float*>(in[5])[i] +
                    static_cast<const float*>(in[0])[i];
    static_cast<float*>(out[1])[i] = v;
    static_cast<float*>(out[0])[i] =
        static_cast<const float*>(in[1])[i] - static_cast<float>(*static_cast<const double*>(in[3])) * v;
  }
  return Ok;
}

std::int64_t broken(const void*, const void* const*, void* const*, void*) noexcept { return IndexOutOfRange | 7 << 8; }

struct Problem {
  static constexpr std::int64_t n = 1000;
  std::vector<float> a, b;
  const char* data[2];
  std::int64_t strides[2] = {12, 4}, offsets[2] = {0, 64}, kept[2] = {4, 12};
  const void* contexts[4] = {counts, counts + 1, counts + 2, counts + 3};
  Span parts[2] = {{0, 1, Dtype::float32}, {64, 3, Dtype::float32}};

  Problem() {
    for (std::uint64_t i = 0; i < n; ++i) {
      const PhiloxBlock words = philox({i, 0, 0, 99}, {1, 2});
      for (std::size_t k = 0; k < 3; ++k) a.push_back(unit_float(words[k]) - 0.5f);
      b.push_back(a[3 * i] - 2 * a[3 * i + 1] + 0.1f * unit_float(words[3]));
    }
    data[0] = reinterpret_cast<const char*>(a.data());
    data[1] = reinterpret_cast<const char*>(b.data());
  }
  Block block() const { return {2, 2, offsets, parts, 128}; }
  /// tile: 0 for one sample at a time, or up to 4.
  Summand summand(std::int64_t tile) const {
    return {{tile > 0 ? tile_of_four : least_squares, nullptr, 0},
            tile,
            contexts,
            1,
            0,
            2,
            0,
            0,
            1,
            nullptr,
            data,
            strides,
            strides,
            kept,
            block(),
            block(),
            {},
            {},
            {},
            0,
            0,
            nullptr};
  }
  Summand regularizer() const {
    return {{ridge, nullptr, 0},
            0,
            nullptr,
            1,
            0,
            0,
            0,
            0,
            1,
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            kept,
            block(),
            block(),
            {},
            {},
            {},
            0,
            0,
            nullptr};
  }
};

void test_sum() {
  const Problem problem;
  const float x[3] = {0.3f, -0.2f, 0.1f};
  const void* fixed[1] = {x};
  for (const std::int64_t batch : {1, 7, 16, 33, 1000}) {
    const Stream stream{Sampling::reshuffle, Problem::n, batch, nullptr, 0, {5, 0}, 0, nullptr};
    alignas(64) char first[128], other[128];
    SumCall call{problem.summand(batch > 1), stream, {}, fixed, first, 1, 1'000'000'000, 0, nullptr, {}};
    expect(sum(&call) == Ok, "a sum in one slice");
    for (const std::int64_t threads : {2, 3, 4, 16, 99})
      for (const std::int64_t slice : {0, 2000, 1'000'000'000}) {
        call.result = other, call.threads = threads, call.slice = slice;
        if (batch > 1) call.summand = problem.summand(1 + (threads + slice) % 4);
        int calls = 1;
        for (; sum(&call) == Stopped; ++calls) call.slice += 500;
        expect(std::memcmp(first, other, 4) == 0 && std::memcmp(first + 64, other + 64, 12) == 0, "same bits");
        expect(slice > 0 || calls > 1, "a slice of no time stops");
      }
    call.slice = 0;
    expect(sum(&call) == Stopped && call.job != nullptr, "stopped");
    abandon(&call);
    expect(call.job == nullptr, "dropped");
    Draw draw;
    double gradient = 0, row_mean = 0;
    for (std::int64_t p = 0; p < batch; ++p) {
      const auto i = static_cast<std::size_t>(draw(stream, 0, p));
      const float* a = &problem.a[3 * i];
      gradient += (a[0] * x[0] + a[1] * x[1] + a[2] * x[2] - problem.b[i]) * a[1] / static_cast<double>(batch);
    }
    expect(std::abs(gradient - reinterpret_cast<float*>(first + 64)[1]) < 1e-6, "the mean gradient");
    std::vector<char> table(static_cast<std::size_t>(16 * batch + 64));
    auto summand = problem.summand(0);
    const std::int64_t places[2] = {0, 4 * batch};
    summand.sums.offsets = places;
    SumCall each{summand, stream, {}, fixed, table.data(), 1, 0, 0, nullptr, {}};
    while (rows(&each) == Stopped) each.slice += 500;
    for (std::size_t p = 0; p < static_cast<std::size_t>(batch); ++p)
      row_mean += reinterpret_cast<float*>(table.data())[static_cast<std::size_t>(batch) + 3 * p + 1] /
                  static_cast<double>(batch);
    expect(std::abs(gradient - row_mean) < 1e-6, "the mean of the rows");
  }
}

struct Trained {
  float x[3];
  std::vector<double> values;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNone = std::numeric_limits<double>::quiet_NaN();
constexpr Criteria endless{std::numeric_limits<std::int64_t>::max(), kInfinity, kNone, kNone, 0, gradient_norm, 0};

struct Setting {
  const Problem problem;
  const float x0[3] = {}, v0[3] = {};
  const char* start[2] = {reinterpret_cast<const char*>(x0), reinterpret_cast<const char*>(v0)};
  const std::int64_t places[1] = {0}, bytes[2] = {12, 12};
  const double hyper[2] = {0.1, 0.9};

  Plan plan(std::int64_t threads) const {
    const Stream stream{Sampling::reshuffle, Problem::n, 48, nullptr, 0, {3, 0}, 0, nullptr};
    Plan plan{};
    plan.loss = {problem.summand(stream.batch > 1 ? 4 : 0), problem.regularizer()};
    plan.stream = stream;
    plan.dtype = Dtype::float32;
    plan.threads = threads;
    plan.dimension = 3;
    plan.leaves = 1;
    plan.places = places;
    plan.gradient = 64;
    plan.update = {momentum, nullptr, 0};
    plan.hypers = plan.buffers = 2;
    plan.hyper = hyper;
    plan.start = start;
    plan.bytes = bytes;
    plan.history_bytes = plan.keyframe_bytes = 1 << 20;
    plan.criteria = endless;
    return plan;
  }
};

Trained train(const Setting& setting, std::int64_t threads, bool disturbed) {
  const Plan plan = setting.plan(threads);
  Loop* loop = nullptr;
  loop_open(&plan, &loop);
  if (loop == nullptr) return expect(false, "a run opens"), Trained{};
  Trained trained{};
  View view{};
  for (const std::int64_t target : {100, 300}) {
    loop_aim(loop, target);
    for (int i = 0; disturbed && i < 40; ++i) {
      while (!loop_read(loop, 0, reinterpret_cast<char*>(trained.x), 1)) continue;
      loop_pause(loop);
      while (!loop_rests(loop, 1)) continue;
      loop_view(loop, &view);
      expect(view.outcome.ok(), "a pause is not a failure");
      loop_aim(loop, target);
    }
    while (!loop_rests(loop, 50)) continue;
    loop_view(loop, &view);
    expect(view.step == target && view.outcome.ok(), "the target is reached");
    loop_set(loop, 0, 0.01);
  }
  while (!loop_read(loop, 0, reinterpret_cast<char*>(trained.x), 50)) continue;
  const Extent extent = loop_record(loop)->extent();
  trained.values.resize(static_cast<std::size_t>(extent.slots));
  expect(extent.rows == 300 && record_copy(loop_record(loop), extent.generation, value_column, 0, extent.slots,
                                           trained.values.data()) == 1,
         "a row per step");
  Event event{};
  expect(loop_events(loop, 0, 1, &event) == 1 && event.step == 100 && event.hyper == 0 && event.value == 0.01,
         "one event, at step 100");
  loop_close(&loop);
  return trained;
}

void test_loop() {
  const Setting setting;
  const Trained first = train(setting, 1, false);
  expect(first.values.size() == 300 && first.values[0] > 2 * first.values[299], "the loss falls");
  for (const std::int64_t threads : {1, 2, 4})
    for (const bool disturbed : {false, true}) {
      const Trained other = train(setting, threads, disturbed);
      expect(std::memcmp(first.x, other.x, 12) == 0 && first.values == other.values, "same bits");
    }
}

void test_end() {
  const Setting setting;
  for (int i = 0; i < 20; ++i) {
    const Plan plan = setting.plan(2);
    Loop* loop = nullptr;
    loop_open(&plan, &loop);
    loop_aim(loop, 1'000'000'000);
    if (i % 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    loop_close(&loop);  // in the middle of the work
  }
  Plan plan = setting.plan(1);
  plan.update.function = broken;
  Loop* loop = nullptr;
  loop_open(&plan, &loop);
  loop_aim(loop, 5);
  while (!loop_rests(loop, 50)) continue;
  View view{};
  loop_view(loop, &view);
  expect(view.step == 0 && view.outcome.status == IndexOutOfRange && view.outcome.node == 7,
         "a failed step is not counted, and is reported");
  loop_close(&loop);
}

}  // namespace

int main() {
  test_sum();
  test_loop();
  test_end();
  return failures;
}
