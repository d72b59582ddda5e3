#pragma once
// What Python calls to make a run from another one. Apart from `abi/loop.hpp`, because copying a run takes as long to
// compile as a quarter of the loop, and most runs are never copied.
#include <cstdint>
#include <memory>

#include "loop.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A run like another one, nullptr where there is no memory. The other one must be held.
inline Loop* loop_copy(const Loop* loop, const Plan* plan) noexcept {
  Loop* opened = nullptr;
  loop_open(plan, &opened);
  std::unique_ptr<Loop> copy(opened);
  bool done = false;
  while (copy && !copy->control.between(1000, [&](Pending&) {
    try {
      done = copy->line.inherit(loop->line);
    } catch (...) {
    }
    return true;
  }))
    continue;
  return done ? copy.release() : nullptr;
}

/// Another run that is where this one is and knows nothing of what came after; nullptr where there is no memory.
inline std::int64_t loop_fork(Loop* loop, const Plan* plan, Loop** fork, std::int64_t milliseconds) noexcept {
  return loop->control.between(milliseconds, [=](Pending&) {
    *fork = loop_copy(loop, plan);
    const std::int64_t step = loop->control.cursor.step;
    const bool past = loop->control.cursor.past();
    if (*fork != nullptr)
      while (!(*fork)->control.between(1000, [=](Pending&) {
        (*fork)->line.truncate(step, past ? step : loop->line.record.length());
        return true;
      }))
        continue;
    return false;
  });
}

/// Change a hyperparameter where the run is, in its past or not. If so, `old` becomes a run that keeps all of this one,
/// which forgets what comes after its cursor; else `old` stays as it is. 1 if that is done, 2 where there is no memory.
inline std::int64_t loop_branch(Loop* loop, const Plan* plan, std::int64_t hyper, double value, Loop** old,
                                std::int64_t milliseconds) noexcept {
  std::int64_t answer = 1;
  const bool held = loop->control.between(milliseconds, [&](Pending& pending) {
    const std::int64_t step = loop->control.cursor.step;
    pending.set(hyper, value);
    if (loop->control.cursor.past() && pending.changes()) {
      *old = loop_copy(loop, plan);
      if (*old == nullptr) return answer = 2, pending.discard(), false;
      loop->line.truncate(step, step);
    }
    return true;
  });
  return held ? answer : 0;
}

}  // namespace burlab::run
BURLAB_END
