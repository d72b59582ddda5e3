#pragma once
// What one step computes: the mean of the gradients of its batch, the next point, and the numbers that describe it. It
// writes next to what it reads, so a step that is left, or done twice, changes nothing.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "cells.hpp"
#include "norm.hpp"
#include "plan.hpp"
#include "sum.hpp"

BURLAB_BEGIN
namespace burlab::run {

class Stepper {
 public:
  Cells cells;

  Stepper(Ledger& ledger, const Plan& plan)
      : cells(ledger, plan.cells, plan.bytes, plan.start),
        plan_(plan),
        sum_(ledger, plan_.samples, plan_.stream, static_cast<int>(plan_.threads)),
        asker_(ledger, plan.questions, static_cast<int>(plan.threads)),
        validator_(validator(ledger, plan)),
        team_(helpers()),
        once_memory_(ledger, Kind::scratch, Evaluator::bytes(plan_.once)),
        term_(ledger, Kind::gradients, plan_.once.kernel.function == nullptr ? 64 : plan_.samples.result.bytes),
        workspace_(ledger, Kind::scratch, plan_.update.workspace),
        once_(plan_.once, plan_.stream, once_memory_.data()),
        places_(ledger, Kind::scratch, plan.leaves, plan.places),
        fixed_(ledger, Kind::scratch, plan.leaves),
        in_(ledger, Kind::scratch, 5 + plan.hypers + cells.count()),
        out_(ledger, Kind::scratch, cells.count() + plan.schedules),
        used_(ledger, Kind::scratch, plan.schedules) {}

  /// Whether there was memory for it.
  bool ready() const {
    return places_.ready() && fixed_.ready() && in_.ready() && out_.ready() && used_.ready() && cells.ready() &&
           sum_.ready() && asker_.ready() && (!validator_ || validator_->ready()) && once_memory_.data() &&
           term_.data() && workspace_.data();
  }

  /// Compute a step, given the hyperparameters. Stopped where `hurry` rises before it is done.
  Outcome compute(std::int64_t step, const double* hyper, const std::atomic<bool>& hurry) {
    // A key costs as much as all else of a small step: only what draws random numbers gets one.
    const bool keyed = plan_.samples.keyed != 0 || asker_.keyed();
    const Key key = keyed ? fold_in(plan_.stream.key, static_cast<std::uint64_t>(step)) : Key{};
    const auto outcome = differentiate(step, key, hurry);
    if (!outcome.ok()) return outcome;
    asker_.begin(step, key, team_, hurry);
    return update(step, hyper);
  }

  /// After an Ok of a step that is written down: ask the second problem, if it is its turn.
  Outcome validate(std::int64_t step, const std::atomic<bool>& hurry) {
    return validator_ ? (*validator_)(step, fixed_.data(), team_, hurry) : Outcome{Ok, 0};
  }

  /// After both: what to write down.
  void describe(double* row) const {
    if (plan_.wide) measure<double>(row);
    else measure<float>(row);
    row += first_extra + plan_.metrics;
    if (validator_) *row++ = validator_->value();
    std::copy(used_.begin(), used_.end(), row);
  }

  /// The first two numbers of x, as doubles.
  const double* point() {
    for (std::size_t k = 0; k < std::min<std::size_t>(2, static_cast<std::size_t>(plan_.dimension)); ++k)
      point_[k] = plan_.wide ? reinterpret_cast<const double*>(cells.current(0))[k]
                             : static_cast<double>(reinterpret_cast<const float*>(cells.current(0))[k]);
    return point_.data();
  }

 private:
  /// Value and gradient of this step's batch, regularizer included.
  Outcome differentiate(std::int64_t step, Key key, const std::atomic<bool>& hurry) {
    for (std::int64_t k = 0; k < fixed_.size(); ++k) fixed_[k] = cells.current(0) + places_[k];
    sum_.begin(fixed_.data(), step, key);
    if (const auto outcome = sum_.resume(team_, Alarm(&hurry)); !outcome.ok()) return outcome;
    result_ = sum_.mean();
    if (plan_.once.kernel.function == nullptr) return {Ok, 0};
    once_.begin(fixed_.data(), step, Key{});
    if (const auto outcome = once_(0, term_.data()); !outcome.ok()) return outcome;
    add(plan_.samples.result, result_, term_.data());
    return {Ok, 0};
  }

  /// The optimizer's rule, from the current cells to the next.
  Outcome update(std::int64_t step, const double* hyper) {
    step_ = step;
    norms_ = {};
    const std::int64_t whole = plan_.dimension, length = plan_.stretch != 0 ? plan_.stretch : whole;
    std::int64_t done = 0;
    do {
      // The last stretch begins early: what it does again, it does alike.
      if (const auto outcome = update_from(std::min(done, whole - length), hyper); !outcome.ok()) return outcome;
      const std::int64_t count = std::min(length, whole - done);
      if (plan_.wide) add_norms<double>(done, count);
      else add_norms<float>(done, count);
      done += length;
    } while (done < whole);
    return {Ok, 0};
  }

  /// The rule, for a stretch of entries that begins at `first`.
  Outcome update_from(std::int64_t first, const double* hyper) {
    auto in = in_.begin();
    *in++ = result_ + plan_.gradient + at(0, first);
    *in++ = cells.current(0) + at(0, first);
    *in++ = &step_;
    for (std::int64_t k = 0; k < plan_.hypers; ++k) *in++ = hyper + k;
    for (std::int64_t k = 1; k < cells.count(); ++k) *in++ = cells.current(k) + at(k, first);
    *in++ = result_;
    *in++ = asker_.key();
    *in++ = asker_.address();
    auto out = out_.begin();
    for (std::int64_t k = 0; k < cells.count(); ++k) *out++ = cells.next(k) + at(k, first);
    for (double& number : used_) *out++ = &number;
    return asker_.outcome(plan_.update.function(plan_.update.context, in_.data(), out_.data(), workspace_.data()));
  }

  /// Where in a cell, in bytes, the entry number `first` of x has its own; a cell of a single number is everybody's.
  std::int64_t at(std::int64_t cell, std::int64_t first) const {
    return first == 0 || cells.bytes(cell) < plan_.dimension ? 0 : cells.bytes(cell) / plan_.dimension * first;
  }

  template <class T> void add_norms(std::int64_t first, std::int64_t count) {
    add(norms_, reinterpret_cast<const T*>(result_ + plan_.gradient) + first,
        reinterpret_cast<const T*>(cells.next(0)) + first, reinterpret_cast<const T*>(cells.current(0)) + first, count);
  }

  template <class T> void measure(double* row) const {
    row[value_column] = static_cast<double>(*reinterpret_cast<const T*>(result_));
    row[gradient_norm] = norms_.gradient.root();
    row[step_norm] = norms_.step.root();
    const auto* const metrics = reinterpret_cast<const T*>(result_ + plan_.measured);
    for (std::int64_t k = 0; k < plan_.metrics; ++k) row[first_extra + k] = static_cast<double>(metrics[k]);
  }

  static std::unique_ptr<Validator> validator(Ledger& ledger, const Plan& plan) {
    return plan.validation == nullptr ? nullptr : std::make_unique<Validator>(ledger, *plan.validation);
  }

  /// How many threads the widest sum can use.
  int helpers() const {
    const std::int64_t asked = plan_.questions != nullptr ? std::min<std::int64_t>(plan_.threads, 16) : 1;
    return std::max({static_cast<int>(asked), sum_.threads(), validator_ ? validator_->threads() : 1});
  }

  const Plan plan_;
  Sum sum_;
  Asker asker_;
  std::unique_ptr<Validator> validator_;
  Team team_;
  Memory once_memory_, term_, workspace_;
  char* result_ = nullptr;  // value and gradient of the step
  Norms norms_;             // of the step
  Evaluator once_;
  const Buffer<std::int64_t> places_;
  Buffer<const void*> fixed_, in_;
  Buffer<void*> out_;
  Buffer<double> used_;  // what the schedules gave
  std::array<double, 2> point_{};
  std::int64_t step_ = 0;  // what the update reads as t
};

}  // namespace burlab::run
BURLAB_END
