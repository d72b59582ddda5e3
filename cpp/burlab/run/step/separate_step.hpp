#pragma once
// A step in two parts: the mean of the gradients of its batch, and the optimizer's rule, which may query more.
#include <algorithm>
#include <limits>

#include "../sum/loss.hpp"
#include "norm.hpp"
#include "query.hpp"
#include "row_buffers.hpp"
#include "rows_loss.hpp"
#include "staged_chunks.hpp"
#include "step.hpp"

BURLAB_BEGIN
namespace burlab::run {

class SeparateStep final : public Step {
 public:
  /// plan, state: must outlive it.
  SeparateStep(Ledger& ledger, const Plan& plan, StateBuffers& state)
      : plan_(plan),
        state_(state),
        loss_(ledger, plan.loss, plan.stream, static_cast<int>(plan.threads), Kind::gradients),
        oracle_(ledger, plan.queries, plan.stream, static_cast<int>(plan.threads)),
        workspace_(ledger, Kind::scratch, plan.update.workspace),
        in_(ledger, Kind::scratch, 6 + plan.hypers + state.count()),
        out_(ledger, Kind::scratch, state.count() + plan.noted + plan.row_buffers + state.shifts()),
        rows_(ledger, plan.row_buffer, plan.row_buffers),
        each_(ledger, plan),
        chunk_(ledger, plan, state),
        last_(ledger, plan, state),
        noted_(ledger, Kind::scratch, plan.noted) {}

  bool ready() const override {
    return each_.ready() && in_.ready() && out_.ready() && noted_.ready() && rows_.ready() && loss_.ready() &&
           oracle_.ready() && workspace_.data() && chunk_.ready() && last_.ready();
  }

  int threads() const override {
    const std::int64_t threads =
        plan_.queries != nullptr ? std::min<std::int64_t>(plan_.threads, Team::kMaxThreads) : 1;
    return std::max(static_cast<int>(threads), loss_.threads());
  }

  Outcome operator()(std::int64_t step, const void* const* leaves, const double* hyper, Team& team,
                     const std::atomic<bool>& cancel) override {
    const Key key = key_of(step);
    if (evaluates())
      if (const auto outcome = evaluate(step, leaves, key, team, cancel); !outcome.ok()) return outcome;
    ended(lap_gradient);
    oracle_.begin(step, key, team, cancel);
    if (each_.on()) oracle_.know(each_.known(state_.current(0)));
    step_ = step;
    hyper_ = hyper;
    norms_ = {};
    steps_ = {};
    measured_ = !state_.in_place();
    return state_.in_place() ? Outcome{} : update();
  }

  /// In place, chunk by chunk. What is left after whole chunks is computed first, together with entries before it,
  /// because these are overwritten later.
  void complete(bool moves) override {
    if (!state_.in_place()) return;
    const std::int64_t whole = plan_.dimension, length = plan_.chunk, rest = whole % length;
    if (rest != 0) update_from(whole - length, &last_);
    const bool direct = moves && plan_.in_place == kInPlaceAtOnce;
    for (std::int64_t first = 0; first + length <= whole; first += length) {
      if (direct) chunk_.keep_x(first);
      update_from(first, &chunk_, direct);
      ended(lap_update);
      add_step(chunk_, first, 0);
      if (moves && !direct) chunk_.write(first, 0);
      ended(lap_other);
    }
    if (rest != 0) add_step(last_, whole - rest, length - rest);
    if (moves && rest != 0) last_.write(whole - rest, length - rest);
    if (moves) chunk_.write_numbers();
  }

  Outcome measure(std::int64_t step, const void* const* leaves, const double* hyper, Team& team,
                  const std::atomic<bool>& cancel, double& value) override {
    const bool logged = plan_.logs_value != 0;
    const Outcome outcome =
        logged ? (*this)(step, leaves, hyper, team, cancel) : evaluate(step, leaves, key_of(step), team, cancel);
    if (logged && outcome.ok()) complete(false);
    if (logged) value = noted_[plan_.noted - 1];
    else if (outcome.ok()) widen(plan_.dtype, result_, 1, &value);
    return outcome;
  }

  void describe(double* row) override {
    if (plan_.dtype == Dtype::float64) write_norms<double>(row);
    else write_norms<float>(row);
    if (evaluates()) {
      widen(plan_.dtype, result_, 1, row + value_column);
      widen(plan_.dtype, result_ + plan_.measured, plan_.metrics, row + first_extra);
    }
    if (plan_.logs_value != 0) row[value_column] = noted_[plan_.noted - 1];
  }

  const Buffer<double>& noted() const override { return noted_; }
  Counts counts() const override {
    Counts counts = oracle_.counts();
    if (evaluates()) counts[blind() ? count_values : count_gradients] += plan_.stream.size();
    return counts;
  }

 private:
  /// A key costs as much as the rest of a small step: only kernels that draw random numbers get one.
  Key key_of(std::int64_t step) const {
    const bool keyed = plan_.loss.samples.keyed != 0 || oracle_.keyed();
    return keyed ? fold_in(plan_.stream.key, static_cast<std::uint64_t>(step)) : Key{};
  }

  /// Value, gradient and metrics of the batch.
  Outcome evaluate(std::int64_t step, const void* const* leaves, Key key, Team& team, const std::atomic<bool>& cancel) {
    const Deadline deadline(&cancel);
    Outcome outcome = each_.on() ? each_(leaves, step, key, deadline) : loss_(leaves, step, key, team, deadline, laps_);
    if (outcome.ok() && each_.on()) outcome = loss_.regularize(leaves, step, each_.result());
    if (outcome.ok()) result_ = each_.on() ? each_.result() : loss_.result();
    return outcome;
  }

  /// The optimizer's rule, from the current buffers to the next.
  Outcome update() {
    const std::int64_t whole = plan_.dimension, length = plan_.chunk != 0 ? plan_.chunk : whole;
    std::int64_t done = 0;
    do {
      // The last chunk overlaps the one before: it recomputes some entries with the same bits.
      if (const auto outcome = update_from(std::min(done, whole - length)); !outcome.ok()) return outcome;
      ended(lap_update);
      const std::int64_t count = std::min(length, whole - done);
      if (plan_.dtype == Dtype::float64) add_norms<double>(done, count);
      else add_norms<float>(done, count);
      ended(lap_other);
      done += length;
    } while (done < whole);
    return {};
  }

  /// The update rule for a chunk of entries that begins at `first`. staged: where it writes; nullptr: the next buffers.
  /// direct: it writes over what it reads.
  Outcome update_from(std::int64_t first, const StagedChunk* staged = nullptr, bool direct = false) {
    auto in = in_.begin();
    *in++ = gradient() + at(0, first);
    *in++ = state_.current(0) + at(0, first);
    *in++ = &step_;
    for (std::int64_t k = 0; k < plan_.hypers; ++k) *in++ = hyper_ + k;
    const auto state = in;
    for (std::int64_t k = 1; k < state_.count(); ++k) *in++ = state_.current(k) + at(k, first);
    *in++ = evaluates() ? result_ : state_.current(0);  // a value that is not read
    *in++ = oracle_.key();
    *in++ = oracle_.indices();
    *in++ = oracle_.address();
    auto out = out_.begin();
    const auto give = [&out](std::int64_t, char* place) { *out++ = place; };
    if (staged == nullptr)
      for (std::int64_t k = 0; k < state_.count(); ++k) give(k, state_.next(k) + at(k, first));
    else if (direct) staged->each_direct(first, give);
    else staged->each(give);
    for (double& number : noted_) *out++ = &number;
    for (std::int64_t k = 0; k < state_.shifts(); ++k) *out++ = state_.shift(k);
    for (std::int64_t* rows : rows_.written()) *out++ = rows;
    rows_.copy(state_);
    for (const RowBuffer& rows : rows_.all())
      (rows.buffer == 0 ? in_[1] : state[rows.buffer - 1]) = state_.next(rows.buffer);
    const auto outcome =
        oracle_.outcome(plan_.update.function(plan_.update.context, in_.data(), out_.data(), workspace_.data()));
    if (outcome.ok()) rows_.done();
    return outcome;
  }

  bool blind() const { return plan_.gradient < 0; }
  /// Return true if the loss is computed at x: a rule may log the value itself, and then only metrics need it.
  bool evaluates() const { return plan_.logs_value == 0 || plan_.metrics != 0; }
  /// The gradient; if there is none, any memory of its size, which is not read.
  const char* gradient() const { return blind() ? state_.current(0) : result_ + plan_.gradient; }

  /// The offset in bytes, in a buffer, of the entry for x's entry `first`; all entries share a buffer of one number.
  std::int64_t at(std::int64_t buffer, std::int64_t first) const { return first == 0 ? 0 : chunk_.at(buffer, first); }

  /// Add the step of a staged chunk, from its entry `from` on, to the norm. first: the place of that entry in x.
  void add_step(const StagedChunk& staged, std::int64_t first, std::int64_t from) {
    const char *const after = staged.x() + at(0, from), *const before = state_.current(0) + at(0, first);
    if (plan_.dtype == Dtype::float64) add_step<double>(after, before, plan_.chunk - from);
    else add_step<float>(after, before, plan_.chunk - from);
  }
  template <class T> void add_step(const char* after, const char* before, std::int64_t count) {
    steps_.add(reinterpret_cast<const T*>(after), reinterpret_cast<const T*>(before), count);
  }

  template <class T> void add_norms(std::int64_t first, std::int64_t count) {
    add(norms_, reinterpret_cast<const T*>(gradient()) + first, reinterpret_cast<const T*>(state_.next(0)) + first,
        reinterpret_cast<const T*>(state_.current(0)) + first, count);
  }

  template <class T> void write_norms(double* row) {
    const T* const g = reinterpret_cast<const T*>(gradient());
    if (!measured_ && !blind()) add_squares<false>(norms_.gradient, g, g, plan_.dimension);
    measured_ = true;
    row[gradient_norm] = blind() ? std::numeric_limits<double>::quiet_NaN()
                                 : norm_of<T>(norms_.gradient.total(), g, nullptr, plan_.dimension);
    row[step_norm] = state_.in_place() ? steps_.total() : norm_of_step<T>();
  }
  template <class T> double norm_of_step() const {
    return norm_of(norms_.step.total(), reinterpret_cast<const T*>(state_.next(0)),
                   reinterpret_cast<const T*>(state_.current(0)), plan_.dimension);
  }

  const Plan& plan_;
  StateBuffers& state_;
  MeanLoss loss_;
  QueryOracle oracle_;
  Memory workspace_;
  const char* result_ = nullptr;  // value, gradient and metrics of the step
  Norms norms_;                   // of the step
  PiecewiseNorm steps_;           // of a step in place
  bool measured_ = false;         // whether the gradient's norm is known
  Buffer<const void*> in_;
  Buffer<void*> out_;
  RowBuffers rows_;                 // written by the update
  RowsLoss each_;                   // replaces the loss if the update reads the gradients of its samples
  const StagedChunk chunk_, last_;  // of an update in place: a chunk, and what is left after whole chunks
  Buffer<double> noted_;
  std::int64_t step_ = 0;  // t of the update
  const double* hyper_ = nullptr;
};

}  // namespace burlab::run
BURLAB_END
