#pragma once
// When a run stops by itself.
#include <cmath>
#include <cstdint>

#include "../../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Why a run stopped by itself. Mirrored by `burlab/run/record/stop.py`, like the criteria.
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
  double gradient, value;   // stop at a row whose norm or value is at most this; NaN: never
  std::int64_t non_finite;  // 1: a row whose norm or value is inf or nan
  std::int64_t column;      // of the norm that is compared with `gradient`
  std::int64_t stalls;      // 1: stop where a step changes nothing although there is a gradient

  /// What a row of the record triggers. norm: of the batch's gradient; watched: in the column above.
  Reason of(double row_value, double norm, double watched) const {
    if (non_finite != 0 && !(std::isfinite(row_value) && std::isfinite(norm))) return not_finite;
    if (row_value <= value) return small_value;
    return watched <= gradient ? small_gradient : no_reason;
  }
};

/// What a breakpoint tests. Mirrored by `burlab/run/record/breakpoints.py`, like the struct below.
enum Watched : std::int64_t { watched_rise, watched_norm, watched_non_finite, watched_every };

/// A run stops at each row where this condition becomes true. Mirrored in Python.
struct Breakpoint {
  std::int64_t number;  // its name, above 0
  std::int64_t watched;
  double limit;         // of the norm; of a rise, relative to the value before it
  std::int64_t count;   // how many rises in a row, or steps from one stop to the next
  std::int64_t column;  // of the norm
};

}  // namespace burlab::run
BURLAB_END
