#pragma once
// Signals of Python during calls that may take for ever, because a kernel loops.
#ifdef __APPLE__
#include <pthread.h>
#else
#include <unistd.h>
#endif

#include "../stop_token.hpp"
#include "stable.hpp"

BURLAB_BEGIN
namespace burlab::python {

/// Whether this is the thread that the process began with, which is Python's main thread.
inline bool first_thread() noexcept {
#ifdef __APPLE__
  return pthread_main_np() != 0;
#else
  return gettid() == getpid();
#endif
}

/// Runs the handlers of signals that have come; true if one raised, and then its exception is set. For the main thread:
/// Python runs handlers on no other, and ends others where they request its lock while it shuts down.
inline bool signalled() noexcept {
  const Hold hold = take_hold();
  const bool raised = check_signals() != 0;
  let_go(hold);
  return raised;
}

/// Calls work() so that loops inside of kernels give up where a signal's handler raises, as that of Ctrl-C does, or
/// where `flag` rises. Other Python threads run meanwhile. Not noexcept: a thread that takes Python's lock back while
/// the interpreter shuts down is unwound.
template <class Work> auto interruptible(const std::atomic<bool>* flag, const Work& work) {
  const StopScope scope(StopToken{flag, first_thread() ? &signalled : nullptr});
  Thread* const thread = save_thread();
  const auto result = work();
  restore_thread(thread);
  return result;
}

}  // namespace burlab::python
BURLAB_END
