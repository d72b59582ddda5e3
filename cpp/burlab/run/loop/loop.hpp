#pragma once
// The step loop: draw a batch, average its gradients, update, write down, again. On a thread of its own, over generated
// kernels; it allocates nothing per step, takes no lock and knows no Python.
#include <cstdint>
#include <thread>

#include "../../halt.hpp"
#include "../record/timeline.hpp"
#include "../step/stepper.hpp"
#include "control.hpp"
#include "quiet.hpp"

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
        line(ledger, plan, control.cursor, stepper.cells),
        row_(ledger, Kind::scratch, line.record.columns()),
        hyper_(nullptr) {
    control.look([this](Pending& pending) { hyper_ = pending.hyper.data(); });
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

  /// Whether there was memory for it.
  bool ready() const { return control.ready() && stepper.ready() && line.ready() && row_.ready(); }

 private:
  /// The body of the thread.
  void live() noexcept {
    block_signals();
    const StopScope scope(StopToken{&control.cancel()});
    try {
      while (control.poll(line)) {
        do advance();
        while (!control.calls());
      }
    } catch (...) {  // nothing here throws but a mutex that the system refuses
    }
    control.end();
  }

  void advance() {
    const std::int64_t step = control.cursor.step.load(std::memory_order_relaxed);
    const Outcome outcome = stepper.compute(step, hyper_, control.cancel());
    if (outcome.status == Stopped) return;  // halted: the same step comes again, if any does
    if (!outcome.ok()) return control.fail(outcome);
    if (line.fresh(step)) {
      const Outcome seen = stepper.validate(step, control.cancel());
      if (seen.status == Stopped) return;
      if (!seen.ok()) return control.fail(seen);
      stepper.describe(row_.data());
      if (!line.write(row_.data(), stepper.point())) return control.fail({OutOfMemory});
      if (line.forced(step)) return control.attend();
      // A run that stops for what a row says rests at the very point that the row speaks of.
      const Reason reason = line.verdict(step, row_.data());
      if (reason != no_reason) return control.rest(reason, row_[value_column], row_[gradient_norm]);
    }
    stepper.cells.swap();
    if (line.pass(step)) control.rest(enough_seconds, row_[value_column], row_[gradient_norm]);
  }

  Buffer<double> row_;
  const double* hyper_;  // in force; changes only while the loop polls
  std::thread thread_;
};

}  // namespace burlab::run
BURLAB_END
