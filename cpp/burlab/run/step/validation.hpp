#pragma once
// A number that a run evaluates periodically over all samples, and records: the value of a second problem, or the norm
// of its own full gradient.
#include <atomic>
#include <cstdint>
#include <limits>

#include "../sum/loss.hpp"
#include "norm.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The problem, which is evaluated over all its samples every `every` steps. Mirrored in Python.
struct Validation {
  Loss loss;                    // output: the value, or the gradient
  Stream stream;                // all samples, with the run's seed
  std::int64_t threads, every;  // at most; steps from one evaluation to the next
  std::int64_t dimension;       // of the gradient; 0: it is the value
};

/// Evaluates the problem.
class Validator {
 public:
  /// owner: the owner of the loss, for outcomes.
  Validator(Ledger& ledger, const Validation& validation, std::int32_t owner)
      : plan_(validation),
        owner_(owner),
        loss_(ledger, plan_.loss, plan_.stream, static_cast<int>(plan_.threads), Kind::scratch) {}

  bool ready() const { return loss_.ready(); }
  int threads() const { return loss_.threads(); }

  bool is_due(std::int64_t step) const { return step % plan_.every == 0; }
  /// The value, or the norm of the gradient; NaN at steps that do not compute it.
  double value() const { return value_; }
  /// After a step: the number of samples evaluated.
  std::int64_t samples(std::int64_t step) const { return is_due(step) ? plan_.stream.batch : 0; }

  /// Evaluate at a step. fixed: the leaves of x. Stopped if `cancel` is set before it is done.
  Outcome operator()(std::int64_t step, const void* const* fixed, Team& team, const std::atomic<bool>& cancel) {
    value_ = std::numeric_limits<double>::quiet_NaN();
    if (!is_due(step)) return {};
    const Key key = plan_.loss.samples.keyed ? fold_in(plan_.stream.key, static_cast<std::uint64_t>(step)) : Key{};
    const Outcome outcome = loss_(fixed, step, key, team, Deadline(&cancel));
    if (!outcome.ok()) return outcome.of_owner(owner_);
    const char* const result = loss_.result();
    const bool wide = plan_.loss.samples.result.parts[0].dtype == Dtype::float64;
    value_ = wide ? number(reinterpret_cast<const double*>(result)) : number(reinterpret_cast<const float*>(result));
    return {};
  }

 private:
  template <class T> double number(const T* result) const {
    if (plan_.dimension == 0) return static_cast<double>(*result);
    Norms norms;
    add(norms, result, result, result, plan_.dimension);
    return norm_of<T>(norms.gradient.total(), result, nullptr, plan_.dimension);
  }

  const Validation plan_;
  const std::int32_t owner_;
  MeanLoss loss_;
  double value_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace burlab::run
BURLAB_END
