#pragma once
// A step in two parts: the mean of the gradients of its batch, and the optimizer's rule, which may ask for more.
#include <algorithm>

#include "../sum/loss.hpp"
#include "norm.hpp"
#include "query.hpp"
#include "step.hpp"

BURLAB_BEGIN
namespace burlab::run {

class SeparateStep final : public Step {
 public:
  /// plan, cells: outlive it.
  SeparateStep(Ledger& ledger, const Plan& plan, StateBuffers& cells)
      : plan_(plan),
        cells_(cells),
        loss_(ledger, plan.loss, plan.stream, static_cast<int>(plan.threads), Kind::gradients),
        oracle_(ledger, plan.queries, static_cast<int>(plan.threads)),
        workspace_(ledger, Kind::scratch, plan.update.workspace),
        in_(ledger, Kind::scratch, 5 + plan.hypers + cells.count()),
        out_(ledger, Kind::scratch, cells.count() + plan.schedules),
        used_(ledger, Kind::scratch, plan.schedules) {}

  bool ready() const override {
    return in_.ready() && out_.ready() && used_.ready() && loss_.ready() && oracle_.ready() && workspace_.data();
  }

  int threads() const override {
    const std::int64_t asked = plan_.queries != nullptr ? std::min<std::int64_t>(plan_.threads, 16) : 1;
    return std::max(static_cast<int>(asked), loss_.threads());
  }

  Outcome operator()(std::int64_t step, const void* const* leaves, const double* hyper, Team& team,
                     const std::atomic<bool>& cancel) override {
    // A key costs as much as all else of a small step: only what draws random numbers gets one.
    const bool keyed = plan_.loss.samples.keyed != 0 || oracle_.keyed();
    const Key key = keyed ? fold_in(plan_.stream.key, static_cast<std::uint64_t>(step)) : Key{};
    if (const auto outcome = loss_(leaves, step, key, team, Deadline(&cancel)); !outcome.ok()) return outcome;
    result_ = loss_.result();
    oracle_.begin(step, key, team, cancel);
    return update(step, hyper);
  }

  void describe(double* row) const override {
    widen(plan_.wide, result_, 1, row + value_column);
    row[gradient_norm] = norms_.gradient.root();
    row[step_norm] = norms_.step.root();
    widen(plan_.wide, result_ + plan_.measured, plan_.metrics, row + first_extra);
  }

  const Buffer<double>& used() const override { return used_; }

 private:
  /// The optimizer's rule, from the current cells to the next.
  Outcome update(std::int64_t step, const double* hyper) {
    step_ = step;
    norms_ = {};
    const std::int64_t whole = plan_.dimension, length = plan_.chunk != 0 ? plan_.chunk : whole;
    std::int64_t done = 0;
    do {
      // The last chunk begins early: what it does again, it does alike.
      if (const auto outcome = update_from(std::min(done, whole - length), hyper); !outcome.ok()) return outcome;
      const std::int64_t count = std::min(length, whole - done);
      if (plan_.wide) add_norms<double>(done, count);
      else add_norms<float>(done, count);
      done += length;
    } while (done < whole);
    return {};
  }

  /// The rule, for a chunk of entries that begins at `first`.
  Outcome update_from(std::int64_t first, const double* hyper) {
    auto in = in_.begin();
    *in++ = result_ + plan_.gradient + at(0, first);
    *in++ = cells_.current(0) + at(0, first);
    *in++ = &step_;
    for (std::int64_t k = 0; k < plan_.hypers; ++k) *in++ = hyper + k;
    for (std::int64_t k = 1; k < cells_.count(); ++k) *in++ = cells_.current(k) + at(k, first);
    *in++ = result_;
    *in++ = oracle_.key();
    *in++ = oracle_.address();
    auto out = out_.begin();
    for (std::int64_t k = 0; k < cells_.count(); ++k) *out++ = cells_.next(k) + at(k, first);
    for (double& number : used_) *out++ = &number;
    return oracle_.outcome(plan_.update.function(plan_.update.context, in_.data(), out_.data(), workspace_.data()));
  }

  /// Where in a cell, in bytes, the entry number `first` of x has its own; a cell of a single number is everybody's.
  std::int64_t at(std::int64_t cell, std::int64_t first) const {
    return first == 0 || cells_.bytes(cell) < plan_.dimension ? 0 : cells_.bytes(cell) / plan_.dimension * first;
  }

  template <class T> void add_norms(std::int64_t first, std::int64_t count) {
    add(norms_, reinterpret_cast<const T*>(result_ + plan_.gradient) + first,
        reinterpret_cast<const T*>(cells_.next(0)) + first, reinterpret_cast<const T*>(cells_.current(0)) + first,
        count);
  }

  const Plan& plan_;
  StateBuffers& cells_;
  MeanLoss loss_;
  QueryOracle oracle_;
  Memory workspace_;
  const char* result_ = nullptr;  // value, gradient and metrics of the step
  Norms norms_;                   // of the step
  Buffer<const void*> in_;
  Buffer<void*> out_;
  Buffer<double> used_;
  std::int64_t step_ = 0;  // what the update reads as t
};

}  // namespace burlab::run
BURLAB_END
