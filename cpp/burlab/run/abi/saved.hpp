#pragma once
// A run as plain memory: Python writes it to a file, and restores it into a run of the same plan.
#include <cstdint>

#include "../record/trail.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A change: from step `step` on, a hyperparameter has a value. Mirrored in Python.
struct Event {
  std::int64_t step, hyper;
  double value;
};

/// The position of a run, without its tables. Mirrored in Python.
struct Standing {
  std::int64_t step, done;      // the cursor
  std::int64_t reason;          // why it stopped, see Reason
  double elapsed, value, norm;  // nanoseconds of running; the value or norm that stopped the run, if measured
};

/// All data of a run, without its plan. Mirrored in Python.
struct Saved {
  Standing standing;
  SavedTable record, stamps, path, traces;
  std::int64_t events, frames;      // how many there are
  const Event* event;               // in the order of their steps
  const std::int64_t* frame_steps;  // rising, from 0
  const char* frame;                // one after another
  const char* buffers;              // a frame of the cursor's step
};

}  // namespace burlab::run
BURLAB_END
