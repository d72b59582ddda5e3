#pragma once
// What tells a loop inside of a kernel to give up. A kernel's arguments are arrays and nothing else, so this belongs to
// the thread that calls it: whoever owns the thread says so once, and kernels that never loop pay nothing.
#include <atomic>
#include <cstdint>
#include <ctime>

#include "abi.hpp"

BURLAB_BEGIN
namespace burlab {

/// flag: raised by another thread. poll: asked now and then; true means give up, which `rung` remembers. Either may be
/// nullptr.
struct Halt {
  const std::atomic<bool>* flag = nullptr;
  bool (*poll)() noexcept = nullptr;
  bool rung = false;
  std::int64_t asked = 0;  // when the poll was asked last, for those who have no loop of their own to remember it
};

BURLAB_NOINLINE Halt& own_halt_of_thread() {
  thread_local Halt halt;
  return halt;
}

/// The Halt of this thread, which is its HaltScope's. Through a variable, since of a variable there is one in a
/// process, while code that was compiled in another session brings copies of functions, and of what is static in them.
inline Halt& (*halt_of_thread)() = &own_halt_of_thread;

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

/// Whether this thread is to give up its work, asked now.
inline bool halted() {
  Halt& halt = halt_of_thread();
  if (halt.flag != nullptr && halt.flag->load(std::memory_order_relaxed)) return true;
  return halt.rung = halt.rung || (halt.poll != nullptr && halt.poll());
}

/// A moment, in nanoseconds. Of the system itself: std::chrono costs the just-in-time compiler 10 ms.
inline std::int64_t nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// Whether this thread is to give up its work: the flag is asked now, the poll if that was not done for 10 ms.
BURLAB_NOINLINE bool gives_up() noexcept {
  Halt& halt = halt_of_thread();
  if (halt.rung || (halt.flag != nullptr && halt.flag->load(std::memory_order_relaxed))) return true;
  if (halt.poll == nullptr) return false;
  const std::int64_t now = nanoseconds();
  if (now - halt.asked < 10'000'000) return false;
  halt.asked = now;
  return halt.rung = halt.poll();
}

/// Asks on behalf of one call that computes arrays, once in a million elements: others pay a subtraction, and never
/// give up. What a kernel says that it does is never more than four times what
/// `burlab/compiler/planning/interruptible.py` expects.
class Patience {
 public:
  /// More is done, or about to be: whether to give up.
  BURLAB_INLINE bool ends(std::int64_t elements) { return BURLAB_UNLIKELY((left_ -= elements) < 0) && asks(); }
  /// Whether it gave up.
  bool ended() const { return ended_; }

 private:
  BURLAB_NOINLINE bool asks() {
    left_ = kLot;
    return ended_ = ended_ || gives_up();
  }

  static constexpr std::int64_t kLot = 1 << 20;
  std::int64_t left_ = kLot;
  bool ended_ = false;
};

/// Asks on behalf of one loop: the flag at every turn, the poll about every 10 ms.
class Halting {
 public:
  BURLAB_INLINE bool rings() {
    if (halt_.flag != nullptr && halt_.flag->load(std::memory_order_relaxed)) return true;
    return halt_.poll != nullptr && --patience_ <= 0 && look();
  }

 private:
  bool look() {
    const std::int64_t now = nanoseconds();  // 20 ns: look about once in a millisecond
    if (now - last_ < 1'000'000 && period_ < 1 << 20) period_ *= 2;
    else if (now - last_ > 1'000'000 && period_ > 1) period_ /= 2;
    patience_ = period_;
    last_ = now;
    if (asked_ == 0) asked_ = now;
    if (now - asked_ < 10'000'000) return false;
    asked_ = now;
    return halt_of_thread().rung = halt_.poll();
  }

  const Halt halt_ = halt_of_thread();
  int period_ = 64, patience_ = 64;
  std::int64_t last_ = 0, asked_ = 0;
};

}  // namespace burlab
BURLAB_END
