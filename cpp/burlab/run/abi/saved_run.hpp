#pragma once
// What Python calls to save and restore a run.
#include <cstdint>
#include <cstring>

#include "fork.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A copy of a run, with its whole record, at rest; nullptr if there is no memory. The other functions here read this
/// copy, so that the run itself waits only while it is copied.
inline std::int64_t loop_clone(Loop* loop, const Plan* plan, Loop** clone, std::int64_t milliseconds) noexcept {
  return loop->control.between(milliseconds, [=](Pending& pending) {
    *clone = loop_copy(loop, plan);
    if (*clone == nullptr) return false;
    (*clone)->control.inspect([&](Pending& others) {
      others.reason = pending.reason;
      others.value = pending.value;
      others.norm = pending.norm;
    });
    return false;
  });
}

/// The position of a run at rest.
inline void loop_standing(Loop* loop, Standing* out) noexcept {
  *out = loop->line.standing();
  loop->control.inspect([=](const Pending& pending) {
    out->reason = pending.reason == breakpoint_hit ? no_reason : pending.reason;  // breakpoints are not saved
    out->value = pending.value;
    out->norm = pending.norm;
  });
}

inline std::int64_t loop_frame_bytes(const Loop* loop) noexcept { return loop->line.frames.frame_bytes(); }
inline std::int64_t loop_frames(const Loop* loop) noexcept { return loop->line.frames.count(); }

/// Copy keyframe k of a run at rest and return its step; k = -1: a frame of its current step.
inline std::int64_t loop_frame(const Loop* loop, std::int64_t k, char* out) noexcept {
  if (k < 0) return loop->stepper.state.save(out), loop->control.cursor.step.load();
  const Frame& frame = loop->line.frames.frame(k);
  std::memcpy(out, frame.data, static_cast<std::size_t>(loop_frame_bytes(loop)));
  return frame.step;
}

/// Restore a saved run into a new one. Returns 1, or 2 if there is no memory.
inline std::int64_t loop_restore(Loop* loop, const Saved* saved, std::int64_t milliseconds) noexcept {
  bool done = false;
  const bool held = loop->control.between(milliseconds, [&](Pending& pending) {
    try {
      done = loop->line.resume(*saved);
    } catch (...) {
    }
    pending.reason = static_cast<Reason>(saved->standing.reason);
    pending.value = saved->standing.value;
    pending.norm = saved->standing.norm;
    return true;
  });
  return held ? (done ? 1 : 2) : 0;
}

}  // namespace burlab::run
BURLAB_END
