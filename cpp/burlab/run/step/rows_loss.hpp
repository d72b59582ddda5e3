#pragma once
// The gradient of every sample of a step and their mean, for an update that queries both: each gradient is computed
// once.
#include <algorithm>
#include <cstdint>

#include "../abi/plan.hpp"
#include "../memory/buffer.hpp"
#include "../sum/evaluate.hpp"
#include "query.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A row of value, gradient and metrics for each sample, and the mean of the rows, which are added in double in their
/// order. All memory is allocated at the start.
class RowsLoss {
 public:
  /// plan: must outlive it.
  RowsLoss(Ledger& ledger, const Plan& plan)
      : plan_(plan),
        width_(1 + plan.dimension + plan.metrics),
        bytes_(bytes_of(plan.dtype)),
        memory_(ledger, Kind::scratch, on() ? Evaluator::bytes(plan.each) : 0),
        table_(ledger, Kind::gradients, on() ? plan.stream.batch * width_ * bytes_ : 0),
        result_(ledger, Kind::gradients, on() ? plan.loss.samples.result.bytes : 0),
        sums_(ledger, Kind::scratch, on() ? width_ : 0),
        evaluate_(plan.each, plan.stream, memory_.data()) {}

  /// Return true if the update queries the gradients of samples at the point of its step.
  bool on() const { return plan_.each.kernel.function != nullptr; }
  bool ready() const {
    return memory_.data() != nullptr && table_.data() != nullptr && result_.data() != nullptr && sums_.ready();
  }

  /// After an Ok: value, gradient and metrics, in the places of the plan's loss.
  char* result() const { return result_.data(); }

  /// fixed: the leaves of x. Stopped if the deadline comes first.
  Outcome operator()(const void* const* fixed, std::int64_t step, Key key, Deadline deadline) {
    evaluate_.begin(fixed, nullptr, step, key);
    count_ = plan_.stream.size();
    for (std::int64_t row = 0; row < count_; ++row) {
      if (deadline.passed()) return {Stopped};
      if (const auto outcome = evaluate_(row, table_.data(), row); !outcome.ok()) return outcome;
    }
    if (bytes_ == sizeof(double)) average<double>();
    else average<float>();
    return {};
  }

  /// The computed rows at the point x.
  KnownRows known(const char* x) const {
    const std::int64_t bytes = plan_.dimension * bytes_, numbers = plan_.stream.batch * plan_.dimension;
    return {x, bytes, table_.data() + bytes_, width_ * bytes_, count_, numbers, numbers * bytes_};
  }

 private:
  template <class T> void average() {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    const T* row = reinterpret_cast<const T*>(table_.data());
    for (std::int64_t i = 0; i < count_; ++i, row += width_)
      for (std::int64_t k = 0; k < width_; ++k) sums_[k] += static_cast<double>(row[k]);
    const auto put = [this](std::int64_t offset, std::int64_t from, std::int64_t numbers) {
      T* const to = reinterpret_cast<T*>(result_.data() + offset);
      for (std::int64_t k = 0; k < numbers; ++k) to[k] = static_cast<T>(sums_[from + k] / static_cast<double>(count_));
    };
    put(0, 0, 1);
    put(plan_.gradient, 1, plan_.dimension);
    put(plan_.measured, 1 + plan_.dimension, plan_.metrics);
  }

  const Plan& plan_;
  const std::int64_t width_, bytes_;
  Memory memory_, table_, result_;
  Buffer<double> sums_;
  Evaluator evaluate_;
  std::int64_t count_ = 0;  // samples of the step
};

}  // namespace burlab::run
BURLAB_END
