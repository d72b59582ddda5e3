#pragma once
// The step loop: draw a batch, average its gradients, update, record, repeat. It runs generated kernels on its own
// thread, without allocations, locks or Python in a step.
#include <cstdint>
#include <limits>
#include <optional>
#include <thread>

#include "../../quiet.hpp"
#include "../../stop_token.hpp"
#include "../record/timeline.hpp"
#include "../step/stepper.hpp"
#include "control.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// One run: its state, its record, and the thread that advances it.
class Loop {
 public:
  Ledger ledger;
  Control control;
  Stepper stepper;
  Timeline line;

  explicit Loop(const Plan& plan)
      : control(ledger, plan.hyper, plan.hypers),
        stepper(ledger, plan),
        line(ledger, plan, control.cursor, stepper.state),
        row_(ledger, Kind::scratch, line.record.columns()),
        hyper_(nullptr) {
    control.inspect([this](Pending& pending) { hyper_ = pending.hyper.data(); });
    if (ready()) thread_ = std::thread([this] { live(); });
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() { stop(); }

  /// End the thread; what the run has computed stays readable.
  void stop() {
    control.quit();
    if (thread_.joinable()) thread_.join();
  }

  /// The value in the row of the current step; nothing is recorded or counted. The thread calls it at rest, or any
  /// caller after the thread's end. Empty if it was cancelled, nan if it fails.
  std::optional<double> measure() {
    double value = 0;
    const Outcome outcome = stepper.measure(control.cursor.step, hyper_, control.cancel(), value);
    if (outcome.status == Stopped) return {};
    return outcome.ok() ? value : std::numeric_limits<double>::quiet_NaN();
  }

  /// Return true if all memory was available.
  bool ready() const { return control.ready() && stepper.ready() && line.ready() && row_.ready(); }

 private:
  /// The body of the thread.
  void live() noexcept {
    block_signals();
    const StopScope scope(StopToken{&control.cancel()});
    try {
      while (control.poll(line, [this] { return measure(); })) {
        if (line.samples()) {
          sample();
          continue;
        }
        do advance();
        while (!control.calls());
      }
    } catch (...) {  // only a mutex that the system refuses can throw here
    }
    control.end();
  }

  void advance() {
    const std::int64_t step = control.cursor.step.load(std::memory_order_relaxed);
    const Outcome outcome = stepper.compute(step, hyper_, control.cancel());
    if (outcome.status == Stopped) return;  // the next step, if any, is this one again
    if (!outcome.ok()) return control.fail(outcome);
    const bool in_place = stepper.state.in_place();
    if (line.fresh(step)) {
      if (BURLAB_UNLIKELY(in_place) ? !record_in_place(step) : !record(step)) return;
    } else if (BURLAB_UNLIKELY(line.replays())) {
      if (!replay(step)) return;
    } else if (in_place) {
      stepper.complete(true);
    }
    stepper.state.swap();
    const Due due = line.pass(step);
    if (due == Due::end) control.rest(enough_seconds, row_[value_column], row_[gradient_norm]);
    if (due == Due::sample) control.attend();
  }

  /// Write the row of a computed step. False if the run does not move: it fails, or stops because of the row, and then
  /// rests at its point.
  BURLAB_INLINE bool record(std::int64_t step) {
    if (!validate(step)) return false;
    stepper.describe(row_.data());
    if (!line.write(row_.data(), stepper.point())) return control.fail({OutOfMemory}), false;
    if (line.forced(step)) return control.attend(), false;
    const Reason reason = line.verdict(step, row_.data());
    return BURLAB_LIKELY(reason == no_reason) || rest(reason);
  }

  /// Likewise for a step in place, which must know before its update what the criteria are about.
  BURLAB_NOINLINE bool record_in_place(std::int64_t step) {
    if (!validate(step)) return false;
    if (!line.record.reserve()) return control.fail({OutOfMemory}), false;
    stepper.describe(row_.data());
    const bool forced = line.forced(step);
    const Reason reason = forced ? no_reason : line.verdict(step, row_.data());
    const bool moves = !forced && reason == no_reason;
    stepper.complete(moves);
    stepper.describe(row_.data());
    if (!line.write(row_.data(), stepper.point())) {
      if (moves) line.pass(step);
      return control.fail({OutOfMemory}), false;
    }
    if (forced) return control.attend(), false;
    return moves || rest(reason);
  }

  /// Test breakpoints on a row that is recorded. False if the run rests at its point.
  BURLAB_NOINLINE bool replay(std::int64_t step) {
    if (!validate(step)) return false;
    line.breakpoints.begin_replay(line.record, step, row_.data());
    stepper.describe(row_.data());
    const Reason reason = line.breakpoints.is_hit_again(step, row_.data()) ? breakpoint_hit : no_reason;
    if (stepper.state.in_place()) stepper.complete(reason == no_reason);
    return reason == no_reason || rest(reason);
  }

  BURLAB_INLINE bool validate(std::int64_t step) {
    const Outcome seen = stepper.validate(step, hyper_, control.cancel());
    if (!seen.ok() && seen.status != Stopped) control.fail(seen);
    return seen.ok();
  }

  /// Rest at the point of the last row. False.
  BURLAB_NOINLINE bool rest(Reason reason) {
    control.rest(reason, row_[value_column], row_[line.watched(reason)], line.breakpoints.number());
    return false;
  }

  /// Do some steps and record their cost: one to warm up, then as many as take ten microseconds.
  void sample() {
    const std::int64_t first = nanoseconds();
    const StepLaps none(Laps::cost_of_read());
    StepLaps laps = none;
    double before = 0;
    std::int64_t count = 1;
    stepper.time_with(&laps);
    bool whole = advance_timed(laps);
    if (whole && laps.own.total() < kLongStep && !control.calls()) {
      before = laps.own.total();
      laps = none;
      for (count = 0; whole && count < kBurst && laps.own.total() < kBurstTime && (count == 0 || !control.calls());
           ++count)
        whole = advance_timed(laps);
    }
    stepper.time_with(nullptr);
    if (whole && !line.sample(laps.own, count, first + static_cast<std::int64_t>(before))) control.fail({OutOfMemory});
  }
  /// Return true if the step was done.
  bool advance_timed(StepLaps& laps) {
    const std::int64_t step = control.cursor.step.load(std::memory_order_relaxed);
    laps.own.begin();
    advance();
    laps.own.end(lap_other);
    return control.cursor.step.load(std::memory_order_relaxed) > step;
  }

  static constexpr std::int64_t kBurst = 32;
  static constexpr double kBurstTime = 1e4, kLongStep = 1e6;  // nanoseconds; a long step needs no other to warm up

  Buffer<double> row_;
  const double* hyper_;  // in force; changes only while the loop polls
  std::thread thread_;
};

}  // namespace burlab::run
BURLAB_END
