#pragma once
// Signals belong to the threads of the calling program: a Ctrl-C that wakes one of our threads would leave the caller
// asleep.
#include <signal.h>

#include <initializer_list>

#include "numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab {

/// Block all signals of this thread except those of its own faults.
inline void block_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace burlab
BURLAB_END
