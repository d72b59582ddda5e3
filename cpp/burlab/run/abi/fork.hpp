#pragma once
// What Python calls to copy a run. Separate from `abi/loop.hpp`: the copy takes a quarter of the loop's compile time,
// and most runs are never copied.
#include <cstdint>
#include <memory>

#include "loop.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A copy of a run, or nullptr if there is no memory. The original must be held.
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

/// A new run at the same step, without the later part of the record; nullptr if there is no memory.
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

/// Change a hyperparameter at the run's cursor. If the cursor is in the past, `old` becomes a copy of the whole run,
/// and this run drops what comes after its cursor; else `old` does not change. Returns 1 on success, 2 if there is no
/// memory.
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
