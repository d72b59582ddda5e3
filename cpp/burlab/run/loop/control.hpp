#pragma once
// How Python controls a loop that runs on its own thread. The loop reads one atomic per step; everything else is
// exchanged under a mutex, which the loop takes only if that atomic requires it or if it has reached the
// target step.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>

#include "../abi/criteria.hpp"
#include "../abi/outcome.hpp"
#include "../memory/buffer.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The position of a run: the loop writes, any thread reads.
struct Cursor {
  std::atomic<std::int64_t> step{0};  // steps done at the current point
  std::atomic<std::int64_t> done{0};  // steps done at the furthest point; below it, the run is in its past

  bool past() const { return step < done; }
};

/// Orders to a loop.
enum class Command {
  pause,
  aim,  // do steps until the target
  seek  // go to the target, a step of the record
};

/// Orders of Python to the loop, and what the loop reports. Guarded by the mutex of the control.
struct Pending {
  Command command = Command::pause;
  std::int64_t target = 0;
  std::int64_t cut = -1;      // if not -1: first return to this step and drop the rows after its own
  Outcome outcome;            // how the last step ended
  Reason reason = no_reason;  // why the loop stopped by itself, and what was measured there
  double value = 0, norm = 0;
  std::int64_t breakpoint = 0, cut_by = 0;  // the breakpoint that was hit; the one that requested `cut`, if any
  Buffer<Breakpoint> breakpoints;           // the requested ones
  bool arms = false;                        // whether the loop has not received them yet
  double elapsed = 0;                       // nanoseconds of running, up to the last pause
  bool measures = false;                    // whether the value of the current step is requested
  std::int64_t measured_at = -1;            // the step whose value is known; -1: none
  double measured = 0;
  Buffer<double> hyper, next;    // in force; and changes that the loop has not received yet:
  Buffer<std::int64_t> changed;  // 1 where there is one

  Pending(Ledger& ledger, const double* start, std::int64_t hypers)
      : breakpoints(ledger, Kind::scratch),
        hyper(ledger, Kind::scratch, hypers, start),
        next(ledger, Kind::scratch, hypers, start),
        changed(ledger, Kind::scratch, hypers) {}
  bool ready() const { return hyper.ready() && next.ready() && changed.ready(); }

  void set(std::int64_t index, double value) {
    next[index] = value;
    changed[index] = 1;
  }
  void discard() { std::fill(changed.begin(), changed.end(), 0); }

  /// Return true if a pending change differs from the value in force; by bits, so that NaN equals itself.
  bool changes() const {
    for (std::int64_t k = 0; k < hyper.size(); ++k)
      if (differs(k)) return true;
    return false;
  }
  bool differs(std::int64_t k) const {
    return changed[k] != 0 && std::memcmp(&next[k], &hyper[k], sizeof(double)) != 0;
  }
};

/// What the loop is doing, as Python sees it. Mirrored in Python.
struct View {
  std::int64_t step, length;   // steps done at the current point; rows of the record
  std::int64_t rests, reason;  // whether the loop has nothing left to do; why it stopped by itself, see Reason
  Outcome outcome;             // how the last step ended
  double elapsed;              // nanoseconds of running, up to the last pause
  double value, norm;          // what stopped it, if measured
  std::int64_t breakpoint;     // that stopped it, if any
};

class Control {
 public:
  Cursor cursor;

  Control(Ledger& ledger, const double* hyper, std::int64_t hypers) : pending_(ledger, hyper, hypers) {}

  bool ready() const { return pending_.ready(); }

  /// Give a command and clear any failure. A step in progress is cancelled, and repeated when the loop continues,
  /// unless the command is to aim at a target.
  void command(Command command, std::int64_t target) {
    post([&](Pending& pending) {
      pending.command = command;
      pending.target = target;
      if (command != Command::pause) pending.outcome = {};
      if (command != Command::pause) pending.reason = no_reason;
      cancel_ = command != Command::aim;
    });
  }

  /// Set a hyperparameter from the next step on. False, without a change, if the run is in its past.
  bool set(std::int64_t index, double value) {
    bool present = false;
    post([&](Pending& pending) {
      present = !cursor.past();
      if (present) pending.set(index, value);
    });
    return present;
  }

  void quit() {
    post([&](Pending&) { quit_ = cancel_ = true; });
  }

  /// Call `act(pending)` between two steps, when the loop has received all orders and changes nothing. It returns
  /// true if it leaves work for the loop. The caller may be interrupted between two calls, so each call is complete.
  /// False after a timeout of `milliseconds`.
  template <class Act> bool between(std::int64_t milliseconds, Act act) {
    std::unique_lock lock(mutex_);
    const bool wait = !parked();
    if (wait) {
      ++holds_;
      call();
      changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] { return parked(); });
      --holds_;
    }
    const bool held = parked(), acted = held && act(pending_);
    if (acted) pending_.measured_at = -1;
    if (acted || wait) call();
    return held;
  }

  /// The value in the row of the current step, evaluated once while the loop rests, and cancelled by any order. 1:
  /// done; 0: timeout; 2: the loop is not at rest.
  /// act(): evaluates it after the end of the thread.
  template <class Measure> std::int64_t measure(std::int64_t milliseconds, double& value, Measure act) {
    std::unique_lock lock(mutex_);
    if (ended_) return measure_now(value, act);  // the thread has ended
    const auto known = [this] { return pending_.measured_at == cursor.step; };
    if (!known() && settled() && !pending_.measures && !measuring_) {
      pending_.measures = true;
      call();
    }
    changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] { return known() || ended_ || !settled(); });
    if (!known()) return settled() && !ended_ ? 0 : 2;
    value = pending_.measured;
    return 1;
  }

  /// Wait, at most `milliseconds`, until the loop has nothing left to do. False: timeout.
  bool rests(std::int64_t milliseconds) {
    return wait(milliseconds, [&] { return resting(); });
  }
  /// Wait, at most `milliseconds`, until the thread has ended.
  bool ended(std::int64_t milliseconds) {
    return wait(milliseconds, [&] { return ended_; });
  }

  /// Wait, at most `milliseconds`, until the loop has nothing left to do or a condition holds.
  template <class Condition> bool rests_or(std::int64_t milliseconds, Condition condition) {
    return wait(milliseconds, [&] { return resting() || condition(); });
  }

  /// Read the pending orders, at any time.
  template <class Act> void inspect(Act act) {
    const std::lock_guard lock(mutex_);
    act(pending_);
  }
  /// Change them.
  template <class Act> void post(Act act) {
    const std::lock_guard lock(mutex_);
    act(pending_);
    pending_.measures = false;
    pending_.measured_at = -1;
    if (measuring_) cancel_ = true;
    call();
  }

  View view(std::int64_t length) {
    const std::lock_guard lock(mutex_);
    const Pending& now = pending_;
    return {cursor.step, length, settled(), now.reason, now.outcome, now.elapsed, now.value, now.norm, now.breakpoint};
  }

  // The loop's side:

  const std::atomic<bool>& cancel() const { return cancel_; }

  /// Return true if `poll` must be called before the next step.
  bool calls() const {
    return attention_.load(std::memory_order_acquire) || cursor.step.load(std::memory_order_relaxed) >= reached_;
  }
  void attend() { attention_ = true; }

  void fail(Outcome outcome) {
    const std::lock_guard lock(mutex_);
    pending_.outcome = outcome;
    pending_.command = Command::pause;
    attention_ = true;
  }

  /// Stop because of a row.
  void rest(Reason reason, double value, double norm, std::int64_t breakpoint = 0) {
    const std::lock_guard lock(mutex_);
    attention_ = true;
    if (pending_.command == Command::seek) return;  // it goes to another step
    pending_.command = Command::pause;
    pending_.reason = reason;
    pending_.value = value;
    pending_.norm = norm;
    pending_.breakpoint = breakpoint;
  }

  /// Receive the orders, and wait while there is nothing to do. False: the thread must end.
  /// line.decide(pending) returns the step to reach, or the cursor to rest; line.mending() returns true if the loop
  /// must not be held. measure() returns the value of the current step unless cancelled; the mutex is free meanwhile.
  template <class Line, class Measure> bool poll(Line& line, Measure measure) {
    std::unique_lock lock(mutex_);
    for (;;) {
      attention_ = false;
      if (quit_) return false;
      reached_ = line.decide(pending_);
      idle_ = reached_ <= cursor.step || (holds_ > 0 && !line.mending());
      changed_.notify_all();
      if (!idle_) {
        cancel_ = false;
        return true;
      }
      line.rest(pending_);
      if (pending_.measures && settled()) {
        pending_.measures = false;
        cancel_ = false;
        measuring_ = true;
        lock.unlock();
        const std::optional<double> value = measure();
        lock.lock();
        measuring_ = false;
        if (value && !cancel_) {
          pending_.measured = *value;
          pending_.measured_at = cursor.step;
        }
        continue;
      }
      changed_.wait(lock, [&] { return attention_.load(); });
    }
  }

  /// The thread's last call.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

 private:
  template <class Measure> std::int64_t measure_now(double& value, Measure act) {
    cancel_ = false;
    if (pending_.measured_at != cursor.step) pending_.measured = act().value_or(0);
    pending_.measured_at = cursor.step;
    value = pending_.measured;
    return 1;
  }
  void call() {
    attention_ = true;
    changed_.notify_all();
  }
  template <class Condition> bool wait(std::int64_t milliseconds, Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), condition);
  }
  bool parked() const { return ended_ || (idle_ && !attention_ && !measuring_); }
  /// Return true if no step is in progress or requested; orders may still be pending.
  bool settled() const { return ended_ || (idle_ && pending_.command == Command::pause); }
  bool resting() const { return ended_ || (settled() && !attention_); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> attention_{false}, cancel_{false};
  std::int64_t reached_ = 0, holds_ = 0;  // reached_: how far to step without a poll
  bool idle_ = true, quit_ = false, ended_ = false, measuring_ = false;
  Pending pending_;
};

}  // namespace burlab::run
BURLAB_END
