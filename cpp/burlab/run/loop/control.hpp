#pragma once
// How Python steers a loop that runs on a thread of its own. The loop looks at one atomic per step; everything else is
// exchanged under a mutex, which the loop takes only when that atomic calls for it or it has come as far as it was
// told.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "../abi/criteria.hpp"
#include "../abi/outcome.hpp"
#include "../memory/buffer.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Where a run is: the loop writes, anyone reads.
struct Cursor {
  std::atomic<std::int64_t> step{0};  // steps done at the current point
  std::atomic<std::int64_t> done{0};  // the most there were: before them, the run is in its past

  bool past() const { return step < done; }
};

/// What a loop is told to do.
enum class Order {
  rest,
  aim,  // do steps until the target
  seek  // go to the target, where the run has been
};

/// What the loop and Python tell each other. Guarded by the mutex of the control.
struct Orders {
  Order order = Order::rest;
  std::int64_t target = 0;
  std::int64_t cut = -1;      // before all else: go back to this step and forget what came after its row, if not -1
  Outcome outcome;            // how the last step ended
  Reason reason = no_reason;  // why the loop rests by itself, and what was measured there
  double value = 0, norm = 0;
  double elapsed = 0;           // nanoseconds of running, up to the last rest
  Buffer<double> hyper, told;   // in force; and changes that the loop has not taken over yet:
  Buffer<std::int64_t> change;  // 1 where there is one

  Orders(Ledger& ledger, const double* start, std::int64_t hypers)
      : hyper(ledger, Kind::scratch, hypers, start),
        told(ledger, Kind::scratch, hypers, start),
        change(ledger, Kind::scratch, hypers) {}
  bool ready() const { return hyper.ready() && told.ready() && change.ready(); }

  void tell(std::int64_t index, double value) {
    told[index] = value;
    change[index] = 1;
  }
  void forget() { std::fill(change.begin(), change.end(), 0); }

  /// Whether a change is waiting that makes a difference; by bits, so that NaN equals itself.
  bool changes() const {
    for (std::int64_t k = 0; k < hyper.size(); ++k)
      if (differs(k)) return true;
    return false;
  }
  bool differs(std::int64_t k) const { return change[k] != 0 && std::memcmp(&told[k], &hyper[k], sizeof(double)) != 0; }
};

/// What the loop is doing, as Python sees it.
struct View {
  std::int64_t step, length;   // steps done at the current point; rows of the record
  std::int64_t rests, reason;  // whether the loop has nothing left to do; why by itself, see Reason
  Outcome outcome;             // how the last step ended
  double elapsed;              // nanoseconds of running, up to the last rest
  double value, norm;          // what it rests for, where that was measured
};

class Control {
 public:
  Cursor cursor;

  Control(Ledger& ledger, const double* hyper, std::int64_t hypers) : orders_(ledger, hyper, hypers) {}

  bool ready() const { return orders_.ready(); }

  /// Give an order; a failure is forgotten. A step in flight is left, and done anew when the loop goes on, unless it is
  /// to aim at something.
  void order(Order order, std::int64_t target) {
    tell([&](Orders& orders) {
      orders.order = order;
      orders.target = target;
      if (order != Order::rest) orders.outcome = {};
      if (order != Order::rest) orders.reason = no_reason;
      hurry_ = order != Order::aim;
    });
  }

  /// Give a hyperparameter a value from the next step on. False, and nothing is done: the run is in its past.
  bool set(std::int64_t index, double value) {
    bool present = false;
    tell([&](Orders& orders) {
      present = !cursor.past();
      if (present) orders.tell(index, value);
    });
    return present;
  }

  void quit() {
    tell([&](Orders&) { quit_ = hurry_ = true; });
  }

  /// Call `act(orders)` between two steps, when what was told is taken over and nobody changes what the loop owns; it
  /// answers whether it left something for the loop to do. One call that leaves nothing behind: its caller may be
  /// interrupted between two of them. False: not so after `milliseconds`.
  template <class Act> bool between(std::int64_t milliseconds, Act act) {
    std::unique_lock lock(mutex_);
    const bool wait = !parked();
    if (wait) {
      ++holds_;
      call();
      changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] { return parked(); });
      --holds_;
    }
    const bool held = parked();
    if ((held && act(orders_)) || wait) call();
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

  /// Wait, at most `milliseconds`, until the loop has nothing left to do or a condition holds.
  template <class Condition> bool rests_or(std::int64_t milliseconds, Condition condition) {
    return wait(milliseconds, [&] { return resting() || condition(); });
  }

  /// Look at the orders, at any time.
  template <class Act> void look(Act act) {
    const std::lock_guard lock(mutex_);
    act(orders_);
  }
  /// Change them.
  template <class Act> void tell(Act act) {
    const std::lock_guard lock(mutex_);
    act(orders_);
    call();
  }

  View view(std::int64_t length) {
    const std::lock_guard lock(mutex_);
    const Orders& now = orders_;
    return {cursor.step, length, settled(), now.reason, now.outcome, now.elapsed, now.value, now.norm};
  }

  // The loop's side:

  const std::atomic<bool>& hurry() const { return hurry_; }

  /// Whether `heed` must be called before the next step.
  bool calls() const {
    return attention_.load(std::memory_order_acquire) || cursor.step.load(std::memory_order_relaxed) >= reached_;
  }
  void attend() { attention_ = true; }

  void fail(Outcome outcome) {
    const std::lock_guard lock(mutex_);
    orders_.outcome = outcome;
    orders_.order = Order::rest;
    attention_ = true;
  }

  /// Rest of its own accord, for what a row says.
  void rest(Reason reason, double value, double norm) {
    const std::lock_guard lock(mutex_);
    attention_ = true;
    if (orders_.order == Order::seek) return;  // it is on its way elsewhere
    orders_.order = Order::rest;
    orders_.reason = reason;
    orders_.value = value;
    orders_.norm = norm;
  }

  /// Take over what was told, and rest while there is nothing to do. False: the thread must end.
  /// line.decide(orders) says how far to step, the cursor itself for resting; line.mending() whether it must not be
  /// held.
  template <class Line> bool heed(Line& line) {
    std::unique_lock lock(mutex_);
    for (;;) {
      attention_ = false;
      if (quit_) return false;
      reached_ = line.decide(orders_);
      idle_ = reached_ <= cursor.step || (holds_ > 0 && !line.mending());
      changed_.notify_all();
      if (!idle_) {
        hurry_ = false;
        return true;
      }
      line.rest(orders_);
      changed_.wait(lock, [&] { return attention_.load(); });
    }
  }

  /// The last that the thread does.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

 private:
  void call() {
    attention_ = true;
    changed_.notify_all();
  }
  template <class Condition> bool wait(std::int64_t milliseconds, Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), condition);
  }
  bool parked() const { return ended_ || (idle_ && !attention_); }
  /// Whether no step is done or wanted; what was told may still wait to be taken over.
  bool settled() const { return ended_ || (idle_ && orders_.order == Order::rest); }
  bool resting() const { return ended_ || (settled() && !attention_); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> attention_{false}, hurry_{false};
  std::int64_t reached_ = 0, holds_ = 0;  // reached_: how far to step without asking
  bool idle_ = true, quit_ = false, ended_ = false;
  Orders orders_;
};

}  // namespace burlab::run
BURLAB_END
