#pragma once
// When a run comes to rest by itself.
#include <cmath>
#include <cstdint>

#include "../../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Why a run came to rest by itself. Mirrored by `burlab/run/record/stop.py`, like the criteria.
enum Reason : std::int64_t {
  no_reason,
  enough_steps,
  enough_seconds,
  small_gradient,
  small_value,
  not_finite,
  predicate_holds,
  breakpoint_hit,
  stalled
};

/// Mirrored in Python.
struct Criteria {
  std::int64_t steps;       // at most, in all
  double nanoseconds;       // of running, at most
  double gradient, value;   // a row whose norm or value is at most this; NaN, with which nothing compares, for none
  std::int64_t non_finite;  // 1: a row whose norm or value is inf or nan
  std::int64_t column;      // of the norm that `gradient` is about
  std::int64_t stalls;      // 1: a step that changes nothing, though there is a gradient, would be done again and again

  /// What a row of the record gives rise to. norm: of the batch's gradient; watched: in the column above.
  Reason of(double row_value, double norm, double watched) const {
    if (non_finite != 0 && !(std::isfinite(row_value) && std::isfinite(norm))) return not_finite;
    if (row_value <= value) return small_value;
    return watched <= gradient ? small_gradient : no_reason;
  }
};

/// What a breakpoint looks at. Mirrored by `burlab/run/record/breakpoints.py`, like the struct below.
enum Watched : std::int64_t { watched_rise, watched_norm, watched_non_finite, watched_every };

/// Where a run comes to rest, again and again: at rows where this begins to hold. Mirrored in Python.
struct Breakpoint {
  std::int64_t number;  // its name, above 0
  std::int64_t watched;
  double limit;         // of the norm; of a rise: how much of the value before it must exceed
  std::int64_t count;   // of steps: how many rises in a row, or from one stop to the next
  std::int64_t column;  // of the norm
};

}  // namespace burlab::run
BURLAB_END
