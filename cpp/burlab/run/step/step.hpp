#pragma once
// The interface of a step: the next point, and the numbers that describe the step. Until `complete`, a step does not
// overwrite its inputs, so it can be cancelled or repeated.
#include <atomic>
#include <cstdint>

#include "../abi/plan.hpp"
#include "../sum/team.hpp"
#include "laps.hpp"
#include "state_buffers.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Computes steps: `SeparateStep` by a kernel for gradients and one for updates, `FusedStep` by one for both.
class Step {
 public:
  virtual ~Step() = default;

  /// Return true if all memory was available.
  virtual bool ready() const = 0;
  /// The number of threads that it can use.
  virtual int threads() const = 0;
  /// Compute the next buffers from the current ones; of a step in place, what it reads and may fail. leaves: addresses
  /// of x's leaves. Stopped if `cancel` is set before it is done.
  virtual Outcome operator()(std::int64_t step, const void* const* leaves, const double* hyper, Team& team,
                             const std::atomic<bool>& cancel) = 0;
  /// Compute only the value of such a step, with as little of the rest as possible.
  virtual Outcome measure(std::int64_t step, const void* const* leaves, const double* hyper, Team& team,
                          const std::atomic<bool>& cancel, double& value) = 0;
  /// After an Ok: value, norms of gradient and step, metrics. Before `complete`, a step in place knows only what the
  /// update does not compute.
  virtual void describe(double* row) = 0;
  /// After an Ok, for a step in place: do the update. moves: false to write no state, only what describes the step.
  virtual void complete(bool) {}
  /// After an Ok: values of schedules, and metrics that the rule logs.
  virtual const Buffer<double>& noted() const = 0;
  /// After an Ok: the number of samples evaluated, once for the gradient and once for each query about them.
  virtual Counts counts() const = 0;

  /// Record times from now on; nullptr: stop.
  void time_with(StepLaps* laps) { laps_ = laps; }

 protected:
  /// Attribute the time since the last clock read to a part.
  BURLAB_INLINE void ended(Lap lap) {
    if (BURLAB_UNLIKELY(laps_ != nullptr)) laps_->own.end(lap);
  }
  StepLaps* laps_ = nullptr;
};

/// Numbers of x's type as doubles.
inline void widen(Dtype dtype, const void* numbers, std::int64_t count, double* out) {
  for (std::int64_t k = 0; k < count; ++k)
    out[k] = dtype == Dtype::float64 ? static_cast<const double*>(numbers)[k]
                                     : static_cast<double>(static_cast<const float*>(numbers)[k]);
}

}  // namespace burlab::run
BURLAB_END
