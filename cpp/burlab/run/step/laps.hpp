#pragma once
// The time of each part of a step: clock reads between the parts, in the few steps that are sampled.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "../../crew.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The parts of a step: drawing and copying samples; kernels of the loss and sums over the batch; the optimizer's rule;
/// the rest, which is norms, validation and the record.
enum Lap : std::size_t { lap_data, lap_gradient, lap_update, lap_other };
inline constexpr std::size_t kLaps = 4;

/// Nanoseconds of one thread, by part. The time between two clock reads belongs to the part that the second one names.
class Laps {
 public:
  explicit Laps(double read_cost = 0) : read_cost_(read_cost) {}

  void begin() { last_ = nanoseconds(); }
  void end(Lap lap) {
    const std::int64_t now = nanoseconds();
    spent_[lap] += static_cast<double>(now - last_);
    net_[lap] += std::max(static_cast<double>(now - last_) - read_cost_, 0.0);
    last_ = now;
  }
  /// Skip the time since the last read: other threads, or calls, have recorded it by part.
  void share(const Laps* others, std::size_t count) {
    const std::int64_t now = nanoseconds();
    double busy = 0;
    for (std::size_t i = 0; i < count; ++i)
      for (const double spent : others[i].spent_) busy += spent;
    const double scale = busy > 0 ? static_cast<double>(now - last_) / busy : 0;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t lap = 0; lap < kLaps; ++lap) {
        spent_[lap] += scale * others[i].spent_[lap];
        net_[lap] += scale * others[i].net_[lap];
      }
    last_ = now;
  }

  /// The time of a part, without the clock reads.
  double net(std::size_t lap) const { return net_[lap]; }
  double total() const { return net_[0] + net_[1] + net_[2] + net_[3]; }
  double read_cost() const { return read_cost_; }

  /// The least time between two clock reads.
  static double cost_of_read() {
    std::int64_t least = 1'000'000;
    for (int k = 0; k < 16; ++k) {
      const std::int64_t first = nanoseconds();
      least = std::min(least, nanoseconds() - first);
    }
    return static_cast<double>(least);
  }

 private:
  double read_cost_;
  std::int64_t last_ = 0;
  std::array<double, kLaps> spent_{}, net_{};
};

/// The laps of the thread that does a step, and of the threads that share a sum.
struct StepLaps {
  explicit StepLaps(double read_cost) : own(read_cost) {}
  Laps own;
  std::array<Laps, Crew::kMaxThreads> threads;

  /// Start a sum on `count` threads.
  void begin(std::size_t count) {
    own.end(lap_gradient);
    std::fill_n(threads.begin(), count, Laps(own.read_cost()));
  }
};

}  // namespace burlab::run
BURLAB_END
