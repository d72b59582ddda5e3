#pragma once
// Signals of Python during calls that may run forever, because a kernel loops.
#ifdef __APPLE__
#include <pthread.h>
#else
#include <unistd.h>
#endif

#include "../stop_token.hpp"
#include "stable.hpp"

BURLAB_BEGIN
namespace burlab::python {

/// Return true on the first thread of the process, which is Python's main thread.
inline bool first_thread() noexcept {
#ifdef __APPLE__
  return pthread_main_np() != 0;
#else
  return gettid() == getpid();
#endif
}

/// Runs the handlers of pending signals; true if one raised, with its exception set. Only for the main thread: Python
/// runs no handlers on others, and ends a thread that requests its lock during shutdown.
inline bool signalled() noexcept {
  const Hold hold = take_hold();
  const bool raised = check_signals() != 0;
  let_go(hold);
  return raised;
}

/// Calls work() so that loops inside kernels stop if a signal's handler raises, as for Ctrl-C, or if `flag` is set.
/// Other Python threads run meanwhile. Not noexcept: a thread that reacquires Python's lock during the interpreter's
/// shutdown is unwound.
template <class Work> auto interruptible(const std::atomic<bool>* flag, const Work& work) {
  const StopScope scope(StopToken{flag, first_thread() ? &signalled : nullptr});
  Thread* const thread = save_thread();
  const auto result = work();
  restore_thread(thread);
  return result;
}

}  // namespace burlab::python
BURLAB_END
