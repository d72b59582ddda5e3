#pragma once
// What a loop asks of a step: the next point, and the numbers that describe the way there. A step writes next to what
// it reads, so one that is left, or done twice, changes nothing.
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

  /// Whether there was memory for it.
  virtual bool ready() const = 0;
  /// How many threads it can use.
  virtual int threads() const = 0;
  /// From the current buffers to the next. leaves: where those of x are. Stopped where `cancel` is set before it is
  /// done.
  virtual Outcome operator()(std::int64_t step, const void* const* leaves, const double* hyper, Team& team,
                             const std::atomic<bool>& cancel) = 0;
  /// The value that such a step has, with as little of the rest as it takes.
  virtual Outcome measure(std::int64_t step, const void* const* leaves, const double* hyper, Team& team,
                          const std::atomic<bool>& cancel, double& value) = 0;
  /// After an Ok: value, norms of gradient and step, metrics.
  virtual void describe(double* row) const = 0;
  /// After an Ok: the numbers that schedules gave, and the metrics that the rule logs.
  virtual const Buffer<double>& noted() const = 0;
  /// After an Ok: how many samples were evaluated, once for the gradient and once for each answer about them.
  virtual Counts counts() const = 0;

  /// Note from now on what takes how long; nullptr: no more.
  void time_with(StepLaps* laps) { laps_ = laps; }

 protected:
  /// The time since the last clock read was spent on a part.
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
