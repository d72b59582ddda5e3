#pragma once
// What tells a loop inside of a kernel to give up. A kernel's arguments are arrays and nothing else, so this belongs to
// the thread that calls it: whoever owns the thread says so once, and kernels that never loop pay nothing.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "abi.hpp"

BURLAB_BEGIN
namespace burlab {

/// flag: raised by another thread. poll: asked now and then; true means give up, which `rung` remembers. Either may be
/// nullptr.
struct Halt {
  const std::atomic<bool>* flag = nullptr;
  bool (*poll)() noexcept = nullptr;
  bool rung = false;
};

/// The Halt of this thread, which is its HaltScope's.
BURLAB_NOINLINE Halt& halt_of_thread() {
  thread_local Halt halt;
  return halt;
}

/// Sets the Halt of this thread for as long as the scope lasts.
class HaltScope {
 public:
  explicit HaltScope(Halt halt) : before_(halt_of_thread()) { halt_of_thread() = halt; }
  HaltScope(const HaltScope&) = delete;
  HaltScope& operator=(const HaltScope&) = delete;
  ~HaltScope() { halt_of_thread() = before_; }

 private:
  const Halt before_;
};

/// Asks on behalf of one loop: the flag at every turn, the poll about every 10 ms.
class Halting {
 public:
  BURLAB_INLINE bool rings() {
    if (halt_.flag != nullptr && halt_.flag->load(std::memory_order_relaxed)) return true;
    return halt_.poll != nullptr && --patience_ <= 0 && look();
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool look() {
    const auto now = Clock::now();  // 20 ns: look about once in a millisecond
    period_ = now - last_ < std::chrono::milliseconds(1) ? std::min(2 * period_, 1 << 20) : std::max(period_ / 2, 1);
    patience_ = period_;
    last_ = now;
    if (now - asked_ < std::chrono::milliseconds(10)) return false;
    asked_ = now;
    return halt_of_thread().rung = halt_.poll();
  }

  const Halt halt_ = halt_of_thread();
  int period_ = 64, patience_ = 64;
  Clock::time_point last_{}, asked_{};
};

}  // namespace burlab
BURLAB_END
