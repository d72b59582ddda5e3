#pragma once
// How a loop inside of a kernel is told to stop. A kernel's arguments are arrays and nothing else, so this belongs to
// the thread that calls it: whoever owns the thread says so once, and kernels that never loop pay nothing.
#include <atomic>
#include <cstdint>
#include <ctime>

#include "abi.hpp"
#include "thread_own.hpp"

BURLAB_BEGIN
namespace burlab {

/// flag: raised by another thread. poll: called now and then; true means stop, and `stopped` remembers it. Either may
/// be nullptr.
struct StopToken {
  const std::atomic<bool>* flag = nullptr;
  bool (*poll)() noexcept = nullptr;
  bool stopped = false;
  std::int64_t polled = 0;  // when the poll was called last, for those who have no loop of their own to remember it

  bool raised() const { return flag != nullptr && flag->load(std::memory_order_relaxed); }
};

BURLAB_NOINLINE StopToken& own_stop_token() { return thread_own<StopToken>(); }

/// The token of this thread, which is its StopScope's. Through a variable, since of a variable there is one in a
/// process, while code that was compiled in another session brings copies of functions, and of what is static in them.
inline StopToken& (*stop_token_of_thread)() = &own_stop_token;

/// Sets the token of this thread for as long as the scope lasts.
class StopScope {
 public:
  explicit StopScope(StopToken token) : before_(stop_token_of_thread()) { stop_token_of_thread() = token; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  ~StopScope() { stop_token_of_thread() = before_; }

 private:
  const StopToken before_;
};

/// Whether this thread is to stop its work; the poll is called now.
inline bool should_stop() {
  StopToken& token = stop_token_of_thread();
  if (token.raised()) return true;
  return token.stopped = token.stopped || (token.poll != nullptr && token.poll());
}

/// A moment, in nanoseconds. Of the system itself: std::chrono costs the just-in-time compiler 10 ms.
inline std::int64_t nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// Whether this thread is to stop its work; the poll is called if that was not done for 10 ms.
BURLAB_NOINLINE bool check_stop() noexcept {
  StopToken& token = stop_token_of_thread();
  if (token.stopped || token.raised()) return true;
  if (token.poll == nullptr) return false;
  const std::int64_t now = nanoseconds();
  if (now - token.polled < 10'000'000) return false;
  token.polled = now;
  return token.stopped = token.poll();
}

/// Checks on behalf of one call that computes arrays, once in a million elements: other calls pay a subtraction, and
/// never stop. What a kernel says that it does is never more than four times what
/// `burlab/compiler/planning/check_interrupts.py` expects.
class StopCheck {
 public:
  /// More is done, or about to be: whether to stop.
  BURLAB_INLINE bool after(std::int64_t elements) { return BURLAB_UNLIKELY((left_ -= elements) < 0) && check(); }
  bool stopped() const { return stopped_; }

 private:
  BURLAB_NOINLINE bool check() {
    left_ = kLot;
    return stopped_ = stopped_ || check_stop();
  }

  static constexpr std::int64_t kLot = 1 << 20;
  std::int64_t left_ = kLot;
  bool stopped_ = false;
};

/// When a loop reads the clock, which takes 20 ns: about once in a millisecond, however long its passes take.
class ClockPace {
 public:
  /// passes: before the first reading.
  explicit ClockPace(int passes) : period_(passes), left_(passes) {}

  /// Whether to read it in this pass.
  BURLAB_INLINE bool due() { return --left_ <= 0; }

  /// The time.
  std::int64_t read() {
    const std::int64_t now = nanoseconds();
    if (now - last_ < 1'000'000 && period_ < 1 << 20) period_ *= 2;
    else if (now - last_ > 1'000'000 && period_ > 1) period_ /= 2;
    left_ = period_;
    return last_ = now;
  }

 private:
  int period_, left_;
  std::int64_t last_ = 0;
};

/// Checks on behalf of one loop: the flag in every pass, the poll about every 10 ms.
class StopPoll {
 public:
  BURLAB_INLINE bool requested() { return token_.raised() || (token_.poll != nullptr && pace_.due() && poll()); }

 private:
  bool poll() {
    const std::int64_t now = pace_.read();
    if (polled_ == 0) polled_ = now;
    if (now - polled_ < 10'000'000) return false;
    polled_ = now;
    return stop_token_of_thread().stopped = token_.poll();
  }

  const StopToken token_ = stop_token_of_thread();
  ClockPace pace_{64};
  std::int64_t polled_ = 0;
};

}  // namespace burlab
BURLAB_END
