#pragma once
// The output point of an optimizer that differs from the buffer of x: an average, for example, or entries that lag.
#include <cstdint>

#include "../abi/outcome.hpp"
#include "../abi/plan.hpp"
#include "lagging.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Computes the point from x and the state. All memory is allocated at the start.
class Output {
 public:
  /// plan, state: must outlive it.
  Output(Ledger& ledger, const Plan& plan, const StateBuffers& state)
      : plan_(plan),
        state_(state),
        point_(ledger, Kind::scratch, plan.bytes[0]),
        workspace_(ledger, Kind::scratch, lags() ? 16 * (plan.lazy.every + 1) : plan.output.workspace),
        in_(ledger, Kind::scratch, 1 + plan.hypers + state.own()) {}

  /// Return true if a plan has such a point.
  static bool is_needed(const Plan& plan) { return plan.output.function != nullptr || plan.lazy.last != 0; }

  bool ready() const { return point_.data() != nullptr && workspace_.data() != nullptr && in_.ready(); }
  const char* point() const { return point_.data(); }

  /// Compute the point at a step, with its hyperparameters.
  Outcome operator()(std::int64_t step, const double* hyper) {
    if (lags()) return settle(step), Outcome{};
    auto in = in_.begin();
    *in++ = state_.current(0);
    *in++ = &step;
    for (std::int64_t k = 0; k < plan_.hypers; ++k) *in++ = hyper + k;
    for (std::int64_t k = 1; k < state_.own(); ++k) *in++ = state_.current(k);
    void* out[] = {point_.data()};
    const Kernel& kernel = plan_.output;
    return Outcome::of(kernel.function(kernel.context, in_.data(), out, workspace_.data()), -1, Part::output);
  }

 private:
  bool lags() const { return plan_.lazy.last != 0; }

  /// All entries at a step; those of x still lag.
  void settle(std::int64_t step) {
    const Lagging at(plan_.lazy, state_);
    Drift drift(reinterpret_cast<double*>(workspace_.data()), plan_.lazy.every);
    drift.set(at.rates(), plan_.lazy.weight);
    auto* const out = reinterpret_cast<double*>(point_.data());
    for (std::int64_t j = 0; j < plan_.dimension; ++j) out[j] = at.entry(drift, j, step);
  }

  const Plan& plan_;
  const StateBuffers& state_;
  Memory point_, workspace_;
  Buffer<const void*> in_;
};

}  // namespace burlab::run
BURLAB_END
