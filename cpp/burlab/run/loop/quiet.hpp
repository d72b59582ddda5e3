#pragma once
// Signals are for the threads of the program that we work for: a Ctrl-C that wakes one of ours would leave the caller
// asleep.
#include <signal.h>

#include <initializer_list>

#include "../../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Have this thread receive no signal but those of its own faults.
inline void block_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace burlab::run
BURLAB_END
