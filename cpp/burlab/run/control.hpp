#pragma once
// How Python steers a loop that runs on a thread of its own. The loop looks at one atomic per step; everything else is
// exchanged under a mutex, which the loop takes only when that atomic calls for it or its target is reached.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "criteria.hpp"
#include "summand.hpp"
#include "telemetry.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// What the loop is doing, as Python sees it.
struct View {
  std::int64_t step, length;    // steps done at the current point; rows of the record
  std::int64_t rests, reason;   // whether the loop has nothing left to do; why by itself, see Reason
  std::int64_t status, sample;  // how the last step ended, see Outcome
  double elapsed;               // nanoseconds of running, up to the last rest
  double value, norm;           // what it rests for, where that was measured
};

class Control {
 public:
  Control(const Criteria& criteria, const double* hyper, std::int64_t hypers)
      : criteria_(criteria), hyper_(hyper, hyper + hypers) {}

  /// Run until `target` steps are done; a failure is forgotten and the step tried again.
  void aim(std::int64_t target) {
    tell([&] {
      target_ = target;
      outcome_ = {Ok, 0};
      reason_ = no_reason;
      hurry_ = false;
    });
  }

  /// Rest as soon as possible: the step in flight is left, and done anew when the loop goes on.
  void halt() {
    tell([&] {
      target_ = 0;
      hurry_ = true;
    });
  }

  /// Give a hyperparameter a value from the next step on.
  void set(std::int64_t index, double value) {
    tell([&] { hyper_[static_cast<std::size_t>(index)] = value; });
  }

  void quit() {
    tell([&] { quit_ = hurry_ = true; });
  }

  /// Call `act` between two steps, when what was told is taken over and nobody changes what the loop owns. One call
  /// that leaves nothing behind: its caller may be interrupted between two. False: not so after `milliseconds`.
  template <class Act> bool between(std::int64_t milliseconds, Act act) {
    std::unique_lock lock(mutex_);
    if (parked()) return act(), true;
    ++holds_;
    attention_ = true;
    changed_.notify_all();
    const bool held = changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] { return parked(); });
    if (held) act();
    --holds_;
    attention_ = true;
    changed_.notify_all();
    return held;
  }

  /// Wait, at most `milliseconds`, until the loop has nothing left to do. False: the time was up.
  bool rests(std::int64_t milliseconds) {
    return wait(milliseconds, [&] { return resting(); });
  }
  /// Wait, at most `milliseconds`, until the thread has done its last.
  bool ended(std::int64_t milliseconds) {
    return wait(milliseconds, [&] { return ended_; });
  }

  View view() {
    const std::lock_guard lock(mutex_);
    return {step_, 0, resting(), reason_, outcome_.status, outcome_.sample, elapsed_, value_, norm_};
  }

  double hyper(std::int64_t index) {
    const std::lock_guard lock(mutex_);
    return hyper_[static_cast<std::size_t>(index)];
  }

  // The loop's side:

  const std::atomic<bool>& hurry() const { return hurry_; }
  std::int64_t step() const { return step_.load(std::memory_order_relaxed); }
  void count_step() { step_.store(step() + 1, std::memory_order_release); }
  void fail(Outcome outcome) {
    const std::lock_guard lock(mutex_);
    outcome_ = outcome;
    attention_ = true;
  }
  /// Rest of its own accord, for what a row says.
  void rest(Reason reason, double value, double norm) {
    const std::lock_guard lock(mutex_);
    reason_ = reason;
    value_ = value;
    norm_ = norm;
    attention_ = true;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  /// Whether `heed` must be called before the next step.
  bool calls() const { return attention_.load(std::memory_order_acquire) || step() >= reached_; }

  /// Take over what was told, and rest while there is nothing to do. False: the thread must end.
  /// `take` receives the hyperparameters, and is false where there was no memory to note a change of them.
  /// The watch stands still while the loop rests.
  template <class Take> bool heed(Take take, Stopwatch& watch) {
    std::unique_lock lock(mutex_);
    for (;;) {
      attention_ = false;
      if (!take(hyper_)) outcome_ = {OutOfMemory, 0};
      reached_ = std::min(target_, criteria_.steps);
      if (quit_) return false;
      if (wanted() && watch.total() >= criteria_.nanoseconds) reason_ = enough_seconds;
      if (reason_ == no_reason && target_ >= criteria_.steps && step_ >= criteria_.steps) reason_ = enough_steps;
      idle_ = holds_ > 0 || !wanted();
      if (!idle_) {
        watch.resume();
        return true;
      }
      watch.pause();
      elapsed_ = watch.total();
      changed_.notify_all();
      changed_.wait(lock, [&] { return attention_.load(); });
    }
  }

 private:
  template <class Change> void tell(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    attention_ = true;
    changed_.notify_all();
  }
  template <class Condition> bool wait(std::int64_t milliseconds, Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), condition);
  }
  bool wanted() const { return outcome_.ok() && reason_ == no_reason && step_ < std::min(target_, criteria_.steps); }
  bool parked() const { return ended_ || (idle_ && !attention_); }
  bool resting() const { return ended_ || (idle_ && !attention_ && !wanted()); }

  const Criteria criteria_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> attention_{false}, hurry_{false};
  std::atomic<std::int64_t> step_{0};
  std::int64_t target_ = 0, reached_ = 0, holds_ = 0;  // reached_: the loop's own copy of the target
  bool idle_ = true, quit_ = false, ended_ = false;
  Reason reason_ = no_reason;
  Outcome outcome_{Ok, 0};
  double elapsed_ = 0, value_ = 0, norm_ = 0;
  std::vector<double> hyper_;
};

}  // namespace burlab::run
BURLAB_END
