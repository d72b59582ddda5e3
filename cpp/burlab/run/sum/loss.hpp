#pragma once
// A loss over a batch: the mean over its samples plus the regularizer. Steps, validations and queries use it.
#include <cstdint>

#include "sum.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// All memory is allocated at the start.
class MeanLoss {
 public:
  /// loss: must outlive it. kind: of the memory of the regularizer's value and gradient.
  MeanLoss(Ledger& ledger, const Loss& loss, const Stream& stream, int threads, Kind kind)
      : loss_(loss),
        sum_(ledger, loss.samples, stream, threads),
        memory_(ledger, Kind::scratch, Evaluator::bytes(loss.regularizer)),
        term_(ledger, kind, loss.regularized() ? loss.samples.result.bytes : 64),
        regularizer_(loss.regularizer, stream, memory_.data()) {}

  bool ready() const { return sum_.ready() && memory_.data() != nullptr && term_.data() != nullptr; }
  int threads() const { return sum_.threads(); }

  /// fixed: the inputs that all samples share. key: of a stochastic loss. Stopped if the deadline comes first.
  /// laps: times by part, or nullptr.
  Outcome operator()(const void* const* fixed, std::int64_t step, Key key, Team& team, const Deadline& deadline,
                     StepLaps* laps = nullptr) {
    sum_.begin(fixed, step, key);
    const Outcome outcome = sum_.resume(team, deadline, laps);
    if (!outcome.ok()) return outcome;
    result_ = sum_.mean();
    if (const Outcome finished = sum_.finished(); !finished.ok()) return finished;
    return regularize(fixed, step, result_);
  }

  /// Add the regularizer, if there is one, to a mean over samples.
  Outcome regularize(const void* const* fixed, std::int64_t step, char* mean) {
    if (!loss_.regularized()) return {};
    regularizer_.begin(fixed, nullptr, step, Key{});
    const Outcome outcome = regularizer_(0, term_.data());
    if (!outcome.ok()) return {outcome.status, Part::regularizer, kRunLoss, outcome.node, -1};
    add(loss_.samples.result, mean, term_.data());
    return outcome;
  }

  /// After an Ok: value, gradient and metrics, until the next evaluation.
  char* result() const { return result_; }

 private:
  const Loss& loss_;
  Sum sum_;
  Memory memory_, term_;
  Evaluator regularizer_;
  char* result_ = nullptr;
};

}  // namespace burlab::run
BURLAB_END
