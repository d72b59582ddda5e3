#pragma once
// Signals of Python during calls that may take for ever, because a kernel loops.
#include "../halt.hpp"
#include "stable.hpp"

BURLAB_BEGIN
namespace burlab::python {

/// Runs the handlers of signals that have come; true if one raised, and then its exception is set. Python runs handlers
/// on its main thread only, so elsewhere this is false.
inline bool signalled() noexcept {
  const Hold hold = take_hold();
  const bool raised = check_signals() != 0;
  let_go(hold);
  return raised;
}

/// Calls work() so that loops inside of kernels give up where a signal's handler raises, as that of Ctrl-C does, or
/// where `flag` rises. Other Python threads run meanwhile.
template <class Work> auto hearing(const std::atomic<bool>* flag, const Work& work) noexcept {
  const HaltScope scope(Halt{flag, &signalled});
  Thread* const thread = save_thread();
  const auto result = work();
  restore_thread(thread);
  return result;
}

}  // namespace burlab::python
BURLAB_END
