#pragma once
// What Python calls to own and steer a run. Every call returns at once, or after the milliseconds it was given.
#include <cstdint>
#include <memory>

#include "loop.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A run at rest at step 0, or nullptr where there is no memory or no thread for it.
inline Loop* loop_open(const Plan* plan) noexcept {
  try {
    auto loop = std::make_unique<Loop>(*plan);
    return loop->ready() ? loop.release() : nullptr;
  } catch (...) {
    return nullptr;
  }
}

/// Stop the run and wait for its thread; nothing is freed, as others may still be waiting.
inline void loop_stop(Loop* loop) noexcept { loop->stop(); }

/// Stop the run, wait for its thread and free its memory.
inline void loop_close(Loop* loop) noexcept { const std::unique_ptr<Loop> owner(loop); }

inline void loop_aim(Loop* loop, std::int64_t target) noexcept { loop->control.aim(target); }
inline void loop_halt(Loop* loop) noexcept { loop->control.halt(); }
inline void loop_set(Loop* loop, std::int64_t hyper, double value) noexcept { loop->control.set(hyper, value); }
inline double loop_hyper(Loop* loop, std::int64_t hyper) noexcept { return loop->control.hyper(hyper); }
inline void loop_view(Loop* loop, View* view) noexcept {
  *view = loop->control.view();
  view->length = loop->history.length();
}

/// Have the thread end; `loop_stop` then waits for nothing that takes long.
inline void loop_quit(Loop* loop) noexcept { loop->control.quit(); }

/// Wait until what was told is taken over, the loop has nothing left to do, or its thread ends: 1 if so, 0 after
/// `milliseconds`.
inline std::int64_t loop_settles(Loop* loop, std::int64_t milliseconds) noexcept {
  return loop->control.between(milliseconds, [] {});
}
inline std::int64_t loop_rests(Loop* loop, std::int64_t milliseconds) noexcept {
  return loop->control.rests(milliseconds);
}
inline std::int64_t loop_ended(Loop* loop, std::int64_t milliseconds) noexcept {
  return loop->control.ended(milliseconds);
}

/// Copy x (k = 0) or a leaf of the state between two steps: 1 if done, 0 after `milliseconds`.
inline std::int64_t loop_read(Loop* loop, std::int64_t k, char* out, std::int64_t milliseconds) noexcept {
  return loop->control.between(milliseconds, [=] { loop->read(k, out); });
}
inline std::int64_t loop_bytes(Loop* loop) noexcept { return loop->bytes(); }

/// The table of steps (0) or of events (1), which may be read while the loop runs.
inline Record& record(Loop* loop, std::int64_t which) noexcept { return which == 0 ? loop->history : loop->events; }
inline std::int64_t record_length(Loop* loop, std::int64_t which) noexcept { return record(loop, which).length(); }
inline std::int64_t record_bytes(Loop* loop, std::int64_t which) noexcept { return record(loop, which).bytes(); }
inline void record_copy(Loop* loop, std::int64_t which, std::int64_t column, std::int64_t first, std::int64_t count,
                        double* out) noexcept {
  record(loop, which).copy(column, first, count, out);
}

}  // namespace burlab::run
BURLAB_END
