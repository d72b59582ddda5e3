#pragma once
// The step loop: draw a batch, average its gradients, update, write down, again. On a thread of its own, over generated
// kernels; it allocates nothing per step, takes no lock and knows no Python.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "cells.hpp"
#include "control.hpp"
#include "criteria.hpp"
#include "norm.hpp"
#include "sum.hpp"
#include "telemetry.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// All that a run consists of. Mirrored by `burlab/run/engine.py`, which keeps what the kernels and the summands point
/// to; the other pointers are read once.
struct Plan {
  Summand samples;                 // outputs: value, then the gradient as one stretch
  Summand once;                    // the regularizer, with the same outputs; no function if there is none
  Stream stream;                   // the batches
  std::int64_t threads, wide;      // wide: x is float64, else float32
  std::int64_t dimension, leaves;  // of x; its leaves lie in it one after another
  const std::int64_t* places;      // where each leaf begins, bytes
  std::int64_t gradient;           // where the gradient begins in a result, bytes
  Kernel update;                   // in: g, x, t, hyperparameters, state. out: x, state, scheduled hyperparameters
  std::int64_t hypers, cells;      // cells: x and the leaves of the state
  const double* hyper;             // start values; NaN: follow the schedule
  std::int64_t schedules;          // hyperparameters whose value the update gives
  const std::int64_t* scheduled;   // which they are
  const char* const* start;        // start values of the cells
  const std::int64_t* bytes;       // of each cell
  Criteria criteria;
};

/// The columns of a run's record before its hyperparameters.
enum Column : std::int64_t {
  step_column,
  value_column,
  gradient_norm,
  step_norm,
  samples_used,
  time_column,
  first_hyper
};

/// One run: its state, its records, and the thread that advances it.
class Loop {
 public:
  Control control;
  Record history, events;  // a row per step; (step, hyperparameter, value) per change

  explicit Loop(const Plan& plan)
      : control(plan.criteria, plan.hyper, plan.hypers),
        history(first_hyper + plan.hypers),
        events(3),
        plan_(plan),
        sum_(plan_.samples, plan_.stream, static_cast<int>(plan_.threads)),
        team_(sum_.threads()),
        once_memory_(Evaluator::bytes(plan_.once)),
        result_(plan_.samples.bytes),
        term_(plan_.samples.bytes),
        workspace_(plan_.update.workspace),
        cells_(plan.cells, plan.bytes, plan.start),
        once_(plan_.once, plan_.stream, once_memory_.data()),
        places_(plan.places, plan.places + plan.leaves),
        hyper_(plan.hyper, plan.hyper + plan.hypers),
        fixed_(places_.size()),
        in_(2 + hyper_.size() + cells_.count()),
        scheduled_(plan.scheduled, plan.scheduled + plan.schedules),
        out_(cells_.count() + scheduled_.size()),
        used_(scheduled_.size()),
        row_(static_cast<std::size_t>(history.columns())) {
    if (!ready()) return;
    thread_ = std::thread([this] { live(); });
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
  bool ready() const {
    return sum_.ready() && once_memory_.data() && result_.data() && term_.data() && workspace_.data() && cells_.ready();
  }
  std::int64_t bytes() const {
    return sum_.bytes() + once_memory_.bytes() + result_.bytes() + term_.bytes() + workspace_.bytes() + cells_.bytes();
  }

  /// Copy x (k = 0) or a leaf of the state, between two steps.
  void read(std::int64_t k, char* out) const { cells_.copy(static_cast<std::size_t>(k), out); }

 private:
  /// The body of the thread.
  void live() noexcept {
    try {
      const auto take = [this](const std::vector<double>& told) { return take_over(told); };
      for (;;) {
        if (control.calls() && !control.heed(take, watch_)) break;
        if (!control.calls()) advance();
      }
    } catch (...) {  // nothing here throws but a mutex that the system refuses
      control.fail({OutOfMemory, 0});
    }
    control.end();
  }

  /// Hyperparameters take effect from the next step, and every change is an event.
  bool take_over(const std::vector<double>& told) {
    for (std::size_t k = 0; k < hyper_.size(); ++k) {
      if (std::memcmp(&told[k], &hyper_[k], sizeof(double)) == 0) continue;  // by bits: NaN equals itself
      hyper_[k] = told[k];
      history.cut(control.step());  // a row that a criterion stopped at is done anew
      const double event[] = {static_cast<double>(control.step()), static_cast<double>(k), told[k]};
      if (!events.append(event)) return false;
    }
    return true;
  }

  void advance() {
    const std::int64_t step = control.step();
    Outcome outcome = differentiate(step);
    if (outcome.ok()) outcome = update(step);
    const bool fresh = step == history.length();  // else it is done anew, and its row is there
    if (outcome.ok() && fresh && !write_down(step)) outcome = {OutOfMemory, 0};
    if (outcome.status == Stopped) return;  // halted: the same step comes again, if any does
    if (!outcome.ok()) return control.fail(outcome);
    if (fresh) {  // the run rests at the very point that the row speaks of
      const Reason reason = plan_.criteria.of(row_[value_column], row_[gradient_norm]);
      if (reason != no_reason) return control.rest(reason, row_[value_column], row_[gradient_norm]);
    }
    cells_.turn();
    control.count_step();
    if (fresh && row_[time_column] >= plan_.criteria.nanoseconds)
      control.rest(enough_seconds, row_[value_column], row_[gradient_norm]);
  }

  /// Value and gradient of this step's batch, regularizer included, into `result_`.
  Outcome differentiate(std::int64_t step) {
    for (std::size_t k = 0; k < fixed_.size(); ++k) fixed_[k] = cells_.current(0) + places_[k];
    // A key costs as much as all else of a small step: only losses that draw random numbers get one.
    const Key key = plan_.samples.keyed ? fold_in(plan_.stream.key, static_cast<std::uint64_t>(step)) : Key{};
    sum_.begin(fixed_.data(), step, key);
    if (const auto outcome = sum_.resume(team_, Alarm(&control.hurry())); !outcome.ok()) return outcome;
    sum_.mean(result_.data());
    if (plan_.once.kernel.function == nullptr) return {Ok, 0};
    once_.begin(fixed_.data(), step, Key{});
    if (const auto outcome = once_(0, term_.data()); !outcome.ok()) return outcome;
    add(plan_.samples, result_.data(), term_.data());
    return {Ok, 0};
  }

  /// The optimizer's rule, from the current cells to the next.
  Outcome update(std::int64_t step) {
    step_ = step;
    auto in = in_.begin();
    *in++ = result_.data() + plan_.gradient;
    *in++ = cells_.current(0);
    *in++ = &step_;
    for (const double& hyper : hyper_) *in++ = &hyper;
    for (std::size_t k = 1; k < cells_.count(); ++k) *in++ = cells_.current(k);
    for (std::size_t k = 0; k < cells_.count(); ++k) out_[k] = cells_.next(k);
    for (std::size_t k = 0; k < used_.size(); ++k) out_[cells_.count() + k] = &used_[k];
    return {plan_.update.function(plan_.update.context, in_.data(), out_.data(), workspace_.data()), -1};
  }

  bool write_down(std::int64_t step) {
    row_[step_column] = static_cast<double>(step);
    row_[samples_used] = static_cast<double>(step + 1) * static_cast<double>(plan_.stream.batch);
    row_[time_column] = watch_.stamp();
    if (plan_.wide) measure<double>();
    else measure<float>();
    std::copy(hyper_.begin(), hyper_.end(), row_.begin() + first_hyper);
    for (std::size_t k = 0; k < used_.size(); ++k)
      row_[static_cast<std::size_t>(first_hyper + scheduled_[k])] = used_[k];
    return history.append(row_.data());
  }

  template <class T> void measure() {
    const auto* const value = reinterpret_cast<const T*>(result_.data());
    const auto* const gradient = reinterpret_cast<const T*>(result_.data() + plan_.gradient);
    const auto* const before = reinterpret_cast<const T*>(cells_.current(0));
    const auto* const after = reinterpret_cast<const T*>(cells_.next(0));
    row_[value_column] = static_cast<double>(*value);
    row_[gradient_norm] = norm(gradient, plan_.dimension);
    row_[step_norm] = distance(after, before, plan_.dimension);
  }

  const Plan plan_;
  Sum sum_;
  Team team_;
  Memory once_memory_, result_, term_, workspace_;
  Cells cells_;
  Evaluator once_;
  const std::vector<std::int64_t> places_;
  std::vector<double> hyper_;
  std::vector<const void*> fixed_, in_;
  const std::vector<std::int64_t> scheduled_;
  std::vector<void*> out_;
  std::vector<double> used_;  // what the scheduled hyperparameters were in the last update
  std::vector<double> row_;
  Stopwatch watch_;
  std::int64_t step_ = 0;  // what the update reads as t
  std::thread thread_;
};

}  // namespace burlab::run
BURLAB_END
