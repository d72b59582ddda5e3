#pragma once
// The state of a run and what advances it by a step, together with what is written down about the step.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "fused_step.hpp"
#include "separate_step.hpp"

BURLAB_BEGIN
namespace burlab::run {

class Stepper {
 public:
  StateBuffers state;

  Stepper(Ledger& ledger, const Plan& plan)
      : state(ledger, plan.buffers, plan.bytes, plan.start),
        plan_(plan),
        step_(made(ledger)),
        validator_(validator(ledger, plan)),
        team_(std::max(step_->threads(), validator_ ? validator_->threads() : 1)),
        places_(ledger, Kind::scratch, plan.leaves, plan.places),
        leaves_(ledger, Kind::scratch, plan.leaves) {}

  /// Whether there was memory for it.
  bool ready() const {
    return places_.ready() && leaves_.ready() && state.ready() && step_->ready() &&
           (!validator_ || validator_->ready());
  }

  /// Note from now on what takes how long; nullptr: no more.
  void tell(StepLaps* laps) { step_->tell(laps); }

  /// Compute a step, given the hyperparameters. Stopped where `cancel` is set before it is done.
  Outcome compute(std::int64_t step, const double* hyper, const std::atomic<bool>& cancel) {
    for (std::int64_t k = 0; k < leaves_.size(); ++k) leaves_[k] = state.current(0) + places_[k];
    return (*step_)(step, leaves_.data(), hyper, team_, cancel);
  }

  /// After an Ok of a step that is written down: ask the second problem, if it is its turn.
  Outcome validate(std::int64_t step, const std::atomic<bool>& cancel) {
    return validator_ ? (*validator_)(step, leaves_.data(), team_, cancel) : Outcome{};
  }

  /// After both: what to write down. What counts samples is of this step alone.
  void describe(double* row) const {
    step_->describe(row);
    row += first_extra + plan_.metrics;
    if (validator_) *row++ = validator_->value();
    row = std::copy(step_->used().begin(), step_->used().end(), row);
    if (plan_.queries != nullptr) *row = static_cast<double>(step_->samples());
  }

  /// The first two numbers of x, as doubles.
  const double* point() {
    widen(plan_.wide, state.current(0), std::min<std::int64_t>(2, plan_.dimension), point_.data());
    return point_.data();
  }

 private:
  std::unique_ptr<Step> made(Ledger& ledger) {
    if (plan_.fused.kernel.function != nullptr) return std::make_unique<FusedStep>(ledger, plan_, state);
    return std::make_unique<SeparateStep>(ledger, plan_, state);
  }

  static std::unique_ptr<Validator> validator(Ledger& ledger, const Plan& plan) {
    return plan.validation == nullptr ? nullptr : std::make_unique<Validator>(ledger, *plan.validation);
  }

  const Plan plan_;
  std::unique_ptr<Step> step_;
  std::unique_ptr<Validator> validator_;
  Team team_;
  const Buffer<std::int64_t> places_;
  Buffer<const void*> leaves_;
  std::array<double, 2> point_{};
};

}  // namespace burlab::run
BURLAB_END
