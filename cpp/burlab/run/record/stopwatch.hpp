#pragma once
// The running time of a run, at little cost.
#include <chrono>
#include <cstdint>
#include <limits>

#include "../../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Nanoseconds that a run has been running. A clock read costs 20 to 100 ns, so short steps share one.
class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;

  void resume() {
    if (!running_) last_ = begin_ = Clock::now();
    running_ = true;
  }
  void pause() {
    if (running_) before_ += nanoseconds(Clock::now() - begin_);
    running_ = false;
  }

  /// The time while running, or NaN for a step without its own time stamp.
  double stamp() {
    if (--wait_ > 0) return std::numeric_limits<double>::quiet_NaN();
    const auto now = Clock::now();
    const auto gap = now - last_;  // aim at one read in about ten microseconds
    if (gap < std::chrono::microseconds(5) && period_ < 1024) period_ *= 2;
    if (gap > std::chrono::microseconds(20) && period_ > 1) period_ /= 2;
    wait_ = period_;
    last_ = now;
    return before_ + nanoseconds(now - begin_);
  }

  /// The time while running, now.
  double now() const { return before_ + nanoseconds(Clock::now() - begin_); }

  /// The time while paused.
  double total() const { return before_; }

  /// Set it, while paused.
  void set(double time) { before_ = time; }

  static double nanoseconds(Clock::duration time) {
    return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  }

 private:
  Clock::time_point begin_, last_;
  double before_ = 0;
  int period_ = 1, wait_ = 1;
  bool running_ = false;
};

}  // namespace burlab::run
BURLAB_END
