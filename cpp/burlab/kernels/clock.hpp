#pragma once
// Nanoseconds of each step of a plan. A timed function calls `end_step` after each of its steps; `run_timed` calls such
// a function and adds up how long the whole call takes.
#include <ctime>

#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

inline Int nanoseconds() noexcept {
  timespec now;  // POSIX: <chrono> would cost the start of every replay more than all else here
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Int{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Times in nanoseconds, summed over calls. `steps` has one more number than there are steps: the first is the time
/// before them.
struct StepClock {
  Int last;   // when the last step ended
  Int total;  // of the whole calls
  Int calls;
  Int steps[1];
};

/// End step k.
BURLAB_NOINLINE void end_step(StepClock* clock, Int k) noexcept {
  const Int now = nanoseconds();
  clock->steps[k] += now - clock->last;
  clock->last = now;
}

/// The least time between the ends of two empty steps: the overhead in each step's time.
inline Int clock_read_cost() noexcept {
  Int least = 1'000'000;
  BURLAB_ONE_BY_ONE
  for (int repeat = 0; repeat < 1000; ++repeat) {
    StepClock clock{nanoseconds(), 0, 0, {0}};
    end_step(&clock, 0);
    clock.steps[0] = 0;
    end_step(&clock, 0);
    if (clock.steps[0] < least) least = clock.steps[0];
  }
  return least;
}

/// A timed function and its context. Mirrored in Python.
struct Timed {
  Int (*function)(const void* context, const void* const* in, void* const* out, void* workspace) noexcept;
  const void* context;
  StepClock* clock;
};

/// The binary interface of an executable, around a timed function.
inline Int run_timed(const void* context, const void* const* in, void* const* out, void* workspace) noexcept {
  const auto& timed = *static_cast<const Timed*>(context);
  const Int start = timed.clock->last = nanoseconds();
  const Int outcome = timed.function(timed.context, in, out, workspace);
  timed.clock->total += nanoseconds() - start;
  ++timed.clock->calls;
  return outcome;
}

}  // namespace burlab::kernels
BURLAB_END
