#pragma once
// The state of a run, the step that advances it, and the numbers recorded about the step.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

#include "batches.hpp"
#include "fused_step.hpp"
#include "lazy_step.hpp"
#include "output.hpp"
#include "separate_step.hpp"

BURLAB_BEGIN
namespace burlab::run {

class Stepper {
 public:
  StateBuffers state;

  Stepper(Ledger& ledger, const Plan& plan)
      : state(ledger, plan.buffers, plan.bytes, plan.start, plan.in_place != 0, plan.shift_buffer, plan.shift_buffers,
              plan.loss_buffers),
        batches_(ledger, plan, state),
        plan_(batches_.drawn_from(plan)),
        step_(make_step(ledger)),
        validator_(validator(ledger, plan.validation, kValidation)),
        full_(validator(ledger, plan.full, kFullGradient)),
        output_(Output::is_needed(plan) ? std::make_unique<Output>(ledger, plan_, state) : nullptr),
        team_(std::max({step_->threads(), validator_ ? validator_->threads() : 1, full_ ? full_->threads() : 1})),
        places_(ledger, Kind::scratch, plan.leaves, plan.places),
        leaves_(ledger, Kind::scratch, plan.leaves + plan.numbers) {}

  /// Return true if all memory was available.
  bool ready() const {
    return batches_.ready() && places_.ready() && leaves_.ready() && state.ready() && step_->ready() &&
           (!validator_ || validator_->ready()) && (!full_ || full_->ready()) && (!output_ || output_->ready());
  }

  /// Record times from now on; nullptr: stop.
  void time_with(StepLaps* laps) { step_->time_with(laps); }

  /// Compute a step, given the hyperparameters. Stopped if `cancel` is set before it is done.
  Outcome compute(std::int64_t step, const double* hyper, const std::atomic<bool>& cancel) {
    set_point(state.current(0), step, hyper);
    if (const Outcome outcome = batches_(step, hyper); !outcome.ok()) return outcome;
    return (*step_)(step, leaves_.data(), hyper, team_, cancel);
  }

  /// Compute only the value of the step; this does not affect the next `compute`.
  Outcome measure(std::int64_t step, const double* hyper, const std::atomic<bool>& cancel, double& value) {
    set_point(state.current(0), step, hyper);
    if (const Outcome outcome = batches_(step, hyper); !outcome.ok()) return outcome;
    return step_->measure(step, leaves_.data(), hyper, team_, cancel, value);
  }

  /// After an Ok of a recorded step: evaluate the second problem and the full gradient, if due, at the optimizer's
  /// output point.
  Outcome validate(std::int64_t step, const double* hyper, const std::atomic<bool>& cancel) {
    validated_ = step;
    if (!validator_ && !full_) return {};
    const bool due = (validator_ && validator_->is_due(step)) || (full_ && full_->is_due(step));
    if (output_ && due) {
      if (const Outcome outcome = (*output_)(step, hyper); !outcome.ok()) return outcome;
      set_point(output_->point(), step, hyper);
    }
    for (Validator* const one : {validator_.get(), full_.get()})
      if (one != nullptr)
        if (const Outcome outcome = (*one)(step, leaves_.data(), team_, cancel); !outcome.ok()) return outcome;
    return {};
  }

  /// Between two steps: write the optimizer's output point to `out`.
  Outcome give(std::int64_t step, const double* hyper, char* out) {
    if (!output_) return state.copy(0, out), Outcome{};
    const Outcome outcome = (*output_)(step, hyper);
    if (outcome.ok()) std::memcpy(out, output_->point(), static_cast<std::size_t>(plan_.bytes[0]));
    return outcome;
  }

  /// After a compute, once: a step in place does its update. moves: false to write no state.
  void complete(bool moves) { step_->complete(moves); }

  /// After both: the row to record. Counters are those of this step alone. Before `complete`, a step in place knows
  /// only what its update does not compute.
  void describe(double* row) {
    step_->describe(row);
    row += first_extra + plan_.metrics;
    if (validator_) *row++ = validator_->value();
    if (full_) *row++ = full_->value();
    const Buffer<double>& noted = step_->noted();
    row = std::copy(noted.begin(), noted.end() - plan_.logs_value - plan_.logs_norm, row);
    if (plan_.counters == 0) return;
    Counts counts = step_->counts();
    if (full_) counts[count_gradients] += full_->samples(validated_);
    for (std::size_t k = 0; k < kCounters; ++k)
      if ((plan_.counters >> k & 1) != 0) *row++ = static_cast<double>(counts[k]);
  }

  /// The first two numbers of x, as doubles.
  const double* point() {
    const auto count = std::min<std::int64_t>(2, plan_.dimension);
    if (BURLAB_LIKELY(plan_.narrow == Narrow::none)) {
      widen(plan_.dtype, state.current(0), count, point_.data());
    } else {
      std::array<float, 2> numbers{};
      widen(plan_.narrow, state.current(0), count, numbers.data());
      std::copy(numbers.begin(), numbers.end(), point_.begin());
    }
    return point_.data();
  }

 private:
  /// Point the inputs of losses at the leaves of x, at the numbers of the step, and at the state of the loss.
  void set_point(const char* x, std::int64_t step, const double* hyper) {
    for (std::int64_t k = 0; k < plan_.leaves; ++k) leaves_[k] = x + places_[k];
    if (BURLAB_LIKELY(plan_.numbers == 0)) return;
    t_ = step;
    auto number = leaves_.begin() + plan_.leaves;
    const std::int64_t hypers = plan_.numbers - plan_.loss_buffers - 1, own = state.own();
    for (std::int64_t k = 0; k < hypers; ++k) *number++ = hyper + plan_.first_number + k;
    *number++ = &t_;
    for (std::int64_t k = 0; k < plan_.loss_buffers; ++k) *number++ = state.current(own + k);
  }

  std::unique_ptr<Step> make_step(Ledger& ledger) {
    if (plan_.fused.kernel.function != nullptr) return std::make_unique<FusedStep>(ledger, plan_, state);
    if (plan_.lazy.on != 0) return std::make_unique<LazyStep>(ledger, plan_, state);
    return std::make_unique<SeparateStep>(ledger, plan_, state);
  }

  static std::unique_ptr<Validator> validator(Ledger& ledger, const Validation* plan, std::int32_t owner) {
    return plan == nullptr ? nullptr : std::make_unique<Validator>(ledger, *plan, owner);
  }

  Batches batches_;
  const Plan plan_;
  std::unique_ptr<Step> step_;
  std::unique_ptr<Validator> validator_, full_;  // nullptr: none
  std::int64_t validated_ = 0;                   // the last step at which these were computed
  std::unique_ptr<Output> output_;               // nullptr: it is x
  Team team_;
  const Buffer<std::int64_t> places_;
  Buffer<const void*> leaves_;  // of x, numbers that losses read, and the state of the loss
  std::int64_t t_ = 0;          // the step that they see
  std::array<double, 2> point_{};
};

}  // namespace burlab::run
BURLAB_END
