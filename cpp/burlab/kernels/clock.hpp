#pragma once
// Nanoseconds of each step of a plan. A timed function tells the clock when a step is done, `lap`, and what calls it
// through `run_timed` learns how long the whole call took.
#include <ctime>

#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

inline Int nanoseconds() noexcept {
  timespec now;  // POSIX: <chrono> would cost the start of every replay more than all else here
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Int{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// What the clock writes, all in nanoseconds. Times add up over calls; `laps` has one more number than there are steps:
/// the first is what comes before all of them.
struct Ticks {
  Int last;   // when the last lap ended
  Int total;  // of the whole calls
  Int calls;
  Int laps[1];
};

/// Lap k is over.
BURLAB_NOINLINE void lap(Ticks* ticks, Int k) noexcept {
  const Int now = nanoseconds();
  ticks->laps[k] += now - ticks->last;
  ticks->last = now;
}

/// The least time from one lap to the next with nothing between them: what each lap is too long by.
inline Int lap_cost() noexcept {
  Int least = 1'000'000;
  BURLAB_ONE_BY_ONE
  for (int turn = 0; turn < 1000; ++turn) {
    Ticks ticks{nanoseconds(), 0, 0, {0}};
    lap(&ticks, 0);
    ticks.laps[0] = 0;
    lap(&ticks, 0);
    if (ticks.laps[0] < least) least = ticks.laps[0];
  }
  return least;
}

/// A timed function and its context.
struct Timed {
  Int (*function)(const void* context, const void* const* in, void* const* out, void* workspace) noexcept;
  const void* context;
  Ticks* ticks;
};

/// The binary interface of an executable, around a timed function.
inline Int run_timed(const void* context, const void* const* in, void* const* out, void* workspace) noexcept {
  const auto& timed = *static_cast<const Timed*>(context);
  const Int start = timed.ticks->last = nanoseconds();
  const Int outcome = timed.function(timed.context, in, out, workspace);
  timed.ticks->total += nanoseconds() - start;
  ++timed.ticks->calls;
  return outcome;
}

}  // namespace burlab::kernels
BURLAB_END
