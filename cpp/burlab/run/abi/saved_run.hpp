#pragma once
// What Python calls to take a run apart and to put it together again.
#include <cstdint>
#include <cstring>

#include "fork.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Another run that is what this one is, its past and future included, at rest; nullptr where there is no memory. What
/// the other functions here read is such a clone, so that the run itself waits for no more than being copied.
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

/// Where a run at rest stands.
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

/// Copy keyframe k of a run at rest, and answer its step; k = -1: a frame of where it is.
inline std::int64_t loop_frame(const Loop* loop, std::int64_t k, char* out) noexcept {
  if (k < 0) return loop->stepper.state.save(out), loop->control.cursor.step.load();
  const Frame& frame = loop->line.frames.frame(k);
  std::memcpy(out, frame.data, static_cast<std::size_t>(loop_frame_bytes(loop)));
  return frame.step;
}

/// Make a run that has just been opened what was saved. 1 if so, 2 where there is no memory for it.
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
