// A run goes back and forth in its record, branches and is cut, while others steer and read it: always the same bits.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

#include "burlab/run/abi/fork.hpp"
#include "burlab/run/abi/record.hpp"
#include "expect.hpp"

using namespace burlab;
using namespace burlab::run;

namespace {

// 0.5 x^2 and its derivative.
std::int64_t square(const void*, const void* const* in, void* const* out, void*) noexcept {
  const double x = *static_cast<const double*>(in[0]);
  *static_cast<double*>(out[0]) = 0.5 * x * x;
  *static_cast<double*>(out[1]) = x;
  return Ok;
}

double moved(double x, double rate, std::int64_t step) {
  return x - rate * x + 1e-3 * std::sin(static_cast<double>(step));
}

// in = g, x, t, rate, value, key, oracle
std::int64_t descend(const void*, const void* const* in, void* const* out, void*) noexcept {
  *static_cast<double*>(out[0]) = moved(*static_cast<const double*>(in[1]), *static_cast<const double*>(in[3]),
                                        *static_cast<const std::int64_t*>(in[2]));
  return Ok;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kRate = 0.01;

struct Setting {
  std::int64_t offsets[2] = {0, 64}, sizes[2] = {8, 8}, places[1] = {0}, bytes[1] = {8};
  Span parts[2] = {{0, 1, Dtype::float64}, {64, 1, Dtype::float64}};
  double x0 = 1.0, rate = kRate;
  const char* start[1] = {reinterpret_cast<const char*>(&x0)};
  std::int64_t history_bytes = 1 << 24, feed = 0;

  Plan plan(bool fresh) const {
    const Block block{2, 2, offsets, parts, 128};
    const Summand samples{{square, nullptr, 0},
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
                          sizes,
                          block,
                          block,
                          {},
                          {},
                          {},
                          0,
                          0,
                          nullptr};
    const Criteria criteria{std::numeric_limits<std::int64_t>::max(), kInfinity, kNone, kNone, 0, gradient_norm, 0};
    Plan plan{};
    plan.loss.samples = samples;
    plan.stream = {Sampling::sequential, 1, 1, nullptr, 0, {0, 0}, 0, nullptr};
    plan.dtype = Dtype::float64;
    plan.threads = plan.dimension = plan.leaves = plan.hypers = plan.buffers = 1;
    plan.places = places;
    plan.gradient = 64;
    plan.update = {descend, nullptr, 0};
    plan.hyper = &rate;
    plan.start = fresh ? start : nullptr;
    plan.bytes = bytes;
    plan.history_bytes = history_bytes;
    plan.keyframe_bytes = 1 << 16;
    plan.feed_rows = feed;
    plan.criteria = criteria;
    return plan;
  }
};

std::vector<Event> events(Loop* loop) {
  while (!loop_settles(loop, 50)) continue;
  std::vector<Event> found(1 << 16);
  found.resize(static_cast<std::size_t>(loop_events(loop, 0, 1 << 16, found.data())));
  return found;
}

// x after `steps` steps with these changes.
double straight(const std::vector<Event>& changes, std::int64_t steps) {
  double x = 1.0, rate = kRate;
  auto change = changes.begin();
  for (std::int64_t step = 0; step < steps; ++step) {
    for (; change != changes.end() && change->step <= step; ++change) rate = change->value;
    x = moved(x, rate, step);
  }
  return x;
}

View at_rest(Loop* loop) {
  View view{};
  while (!loop_rests(loop, 50)) continue;
  loop_view(loop, &view);
  return view;
}

void check(Loop* loop, const char* what) {
  const View view = at_rest(loop);
  double x = 0;
  while (!loop_read(loop, 0, reinterpret_cast<char*>(&x), 50)) continue;
  expect(x == straight(events(loop), view.step), what);
  const Extent extent = loop_record(loop)->extent();
  expect(extent.rows == view.length && view.step <= view.length, "the record reaches at least to the cursor");
  if (extent.span != 2 || view.step == view.length) return;
  double value = 0;
  expect(record_copy(loop_record(loop), extent.generation, value_column, view.step, 1, &value) == 1, "a row");
  expect(value == 0.5 * x * x, "the row of the cursor speaks of x");
}

// Random pending, with or without readers that never rest.
void wander(const Setting& setting, bool watched) {
  const Plan first = setting.plan(true), plan = setting.plan(false);
  Loop* loop = nullptr;
  loop_open(&first, &loop);
  std::atomic<bool> over{false};
  std::thread reader([&] {
    View view{};
    std::vector<double> column(1 << 16);
    while (watched && !over) {
      loop_view(loop, &view);
      const Extent extent = loop_record(loop)->extent(), trail = loop_path(loop)->extent();
      record_copy(loop_record(loop), extent.generation, 0, 0, std::min<std::int64_t>(extent.slots, 1 << 16),
                  column.data());
      path_copy(loop_path(loop), trail.generation, 0, 0, std::min<std::int64_t>(trail.slots, 1 << 16), column.data());
      double x = 0;
      loop_read(loop, 0, reinterpret_cast<char*>(&x), 1);
      loop_hyper(loop, 0);
      ledger_bytes(loop_ledger(loop), 0);
      const Extent samples = loop_traces(loop)->extent();
      for (std::int64_t k = 0; k < static_cast<std::int64_t>(kTraceColumns); ++k)
        trail_copy(loop_traces(loop), samples.generation, k, 0, std::min<std::int64_t>(samples.slots, 1 << 16),
                   column.data());
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  std::uint64_t luck = 12345;
  const auto draw = [&](std::uint64_t below) {
    return static_cast<std::int64_t>((luck = luck * 6364136223846793005u + 1442695040888963407u) >> 33) %
           static_cast<std::int64_t>(below);
  };
  const int orders = std::getenv("BURLAB_EXPLORE") != nullptr ? 1000 : 150;
  for (int k = 0; k < orders; ++k) {
    View view{};
    loop_view(loop, &view);
    const double rate = kRate * static_cast<double>(1 + draw(50)) / 50;
    switch (draw(7)) {
      case 0:
        loop_aim(loop, view.step + draw(3000));
        break;
      case 1:
        loop_seek(loop, draw(static_cast<std::uint64_t>(view.length + 1)));
        break;
      case 2:
        loop_pause(loop);
        break;
      case 3: {
        Loop* old = nullptr;
        std::int64_t done = loop_set(loop, 0, rate);
        while (done == 0) done = loop_branch(loop, &plan, 0, rate, &old, 50);
        if (old != nullptr) check(old, "an old line is kept");
        loop_close(&old);
        break;
      }
      case 4: {
        Loop* fork = nullptr;
        while (!loop_fork(loop, &plan, &fork, 50)) continue;
        loop_aim(fork, at_rest(fork).step + 10);
        check(fork, "a fork goes on");
        loop_close(&fork);
        break;
      }
      case 5: {
        const Breakpoint points[] = {{1, watched_every, 0, 1 + draw(2000), 0},
                                     {2, watched_norm, 0.9, 1, gradient_norm}};
        expect(loop_arm(loop, points, draw(3)) == 1, "breakpoints");
        break;
      }
      default:
        at_rest(loop);
        check(loop, "x is a function of the changes");
    }
  }
  loop_pause(loop);
  check(loop, "x at the end");
  over = true;
  reader.join();
  loop_close(&loop);
}

// Someone must see every row, and calls the run back.
void feed(const Setting& setting) {
  const Plan plan = setting.plan(true);
  Loop* loop = nullptr;
  loop_open(&plan, &loop);
  loop_aim(loop, 1'000'000);
  std::int64_t seen = 0;
  const std::int64_t wanted = 12'345;
  for (bool hit = false; !hit;) {
    loop_fed(loop, 50);
    FeedView view{};
    loop_feed(loop, &view);
    expect(view.taken == seen && view.head - view.taken <= setting.feed, "rows in order, and not too many");
    std::vector<double> values(static_cast<std::size_t>(view.head - view.taken));
    loop_feed_copy(loop, value_column, view.taken, view.head - view.taken, values.data());
    hit = wanted < view.head;
    seen = hit ? wanted + 1 : view.head;
    loop_feed_take(loop, view.generation, seen, hit, 0);
  }
  const View view = at_rest(loop);
  expect(view.step == wanted && view.length == wanted + 1 && view.reason == predicate_holds, "called back");
  check(loop, "x where it was called back to");
  loop_close(&loop);
}

// A run rests at each breakpoint and goes on from there, and its samples are those of rows that it has.
void breakpoints(const Setting& setting) {
  const Plan plan = setting.plan(true);
  Loop* loop = nullptr;
  loop_open(&plan, &loop);
  const Breakpoint points[] = {{7, watched_every, 0, 1000, 0}, {9, watched_rise, 0.0, 1, 0}};
  expect(loop_arm(loop, points, 1) == 1, "one breakpoint");
  for (std::int64_t k = 1; k <= 20; ++k) {
    loop_aim(loop, 1'000'000);
    const View view = at_rest(loop);
    expect(view.step == 1000 * k && view.length == view.step + 1, "rests at each");
    expect(view.reason == breakpoint_hit && view.breakpoint == 7, "says which one it was");
    check(loop, "x at a breakpoint");
  }
  std::int64_t opened = 0;
  while (opened == 0) opened = loop_feed_open(loop, 1024, 50);
  expect(opened == 1 && loop_feed_open(loop, 1024, 50) == 1, "a feed, once");
  loop_arm(loop, points + 1, 1);
  loop_aim(loop, 20'500);
  while (!loop_rests(loop, 50)) {
    FeedView view{};
    loop_feed(loop, &view);
    loop_feed_take(loop, view.generation, view.head, 0, 0);
  }
  FeedView fed{};
  loop_feed(loop, &fed);
  expect(fed.taken >= 20'001 && fed.head == at_rest(loop).length, "only new rows are fed");
  expect(at_rest(loop).step < 20'500 && at_rest(loop).breakpoint == 9, "where the value rises");
  const Extent samples = loop_traces(loop)->extent();
  std::vector<double> steps(static_cast<std::size_t>(samples.slots));
  trail_copy(loop_traces(loop), samples.generation, trace_step, 0, samples.slots, steps.data());
  expect(samples.slots > 0 && steps.front() >= 0 && steps.back() < 20'500, "samples");
  loop_close(&loop);
}

}  // namespace

int main() {
  Setting setting;
  breakpoints(setting);
  wander(setting, false);
  wander(setting, true);
  setting.history_bytes = 8000;  // rows are merged, so a cut writes some of them again
  wander(setting, true);
  setting.feed = 1024;
  feed(setting);
  setting.history_bytes = 1 << 24;
  feed(setting);
  return failures;
}
