#pragma once
// What Python calls to own and control a run. Every call returns at once, or after the given milliseconds. A call that
// has to wait for the loop returns 0 on a timeout; it has then changed nothing and must be repeated.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "../loop/loop.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Create a run at rest at step 0 and store it in `owner`; store nothing if there is no memory or no thread.
inline void loop_open(const Plan* plan, Loop** owner) noexcept {
  try {
    auto loop = std::make_unique<Loop>(*plan);
    if (loop->ready()) *owner = loop.release();
  } catch (...) {
  }
}

/// Request the end of the thread; `loop_ended` waits for it.
inline void loop_quit(Loop* loop) noexcept { loop->control.quit(); }
inline std::int64_t loop_ended(Loop* loop, std::int64_t milliseconds) noexcept {
  return loop->control.ended(milliseconds);
}

/// Stop the run and wait for its thread. Nothing is freed, because other threads may still wait.
inline void loop_stop(Loop* loop) noexcept { loop->stop(); }

/// Stop the run, wait for its thread and free its memory; `owner` is then empty.
inline void loop_close(Loop** owner) noexcept { const std::unique_ptr<Loop> loop(std::exchange(*owner, nullptr)); }

/// Run until `target` steps are done.
inline void loop_aim(Loop* loop, std::int64_t target) noexcept { loop->control.command(Command::aim, target); }
/// Pause as soon as possible.
inline void loop_pause(Loop* loop) noexcept { loop->control.command(Command::pause, 0); }
/// Go to a step of the record.
inline void loop_seek(Loop* loop, std::int64_t step) noexcept { loop->control.command(Command::seek, step); }
/// Change a hyperparameter from the next step on. Returns 1; or 0, without a change, if the run is in its past.
inline std::int64_t loop_set(Loop* loop, std::int64_t hyper, double value) noexcept {
  return loop->control.set(hyper, value);
}
inline double loop_hyper(Loop* loop, std::int64_t hyper) noexcept {
  double value = 0;
  const std::int64_t k = hyper;
  loop->control.inspect(
      [&](const Pending& pending) { value = pending.changed[k] != 0 ? pending.next[k] : pending.hyper[k]; });
  return value;
}

inline void loop_view(Loop* loop, View* view) noexcept { *view = loop->control.view(loop->line.record.length()); }

/// Wait until the loop has nothing left to do, or its thread has ended.
inline std::int64_t loop_rests(Loop* loop, std::int64_t milliseconds) noexcept {
  return loop->control.rests(milliseconds);
}
/// Wait until the loop has received all orders.
inline std::int64_t loop_settles(Loop* loop, std::int64_t milliseconds) noexcept {
  return loop->control.between(milliseconds, [](Pending&) { return false; });
}
/// Copy x (k = 0) or a leaf of the state between two steps.
inline std::int64_t loop_read(Loop* loop, std::int64_t k, char* out, std::int64_t milliseconds) noexcept {
  return loop->control.between(milliseconds, [=](Pending&) {
    loop->stepper.state.copy(k, out);
    return false;
  });
}

/// Write the optimizer's output point, between two steps.
inline std::int64_t loop_give(Loop* loop, char* out, Outcome* outcome, std::int64_t milliseconds) noexcept {
  return loop->control.between(milliseconds, [=](Pending& pending) {
    *outcome = loop->stepper.give(loop->control.cursor.step, pending.hyper.data(), out);
    return false;
  });
}

/// The value in the row of the current step, computed if the row is not written yet. 1: it is in `value`; 2: the loop
/// is not at rest.
inline std::int64_t loop_measure(Loop* loop, double* value, std::int64_t milliseconds) noexcept {
  return loop->control.measure(milliseconds, *value, [loop] { return loop->measure(); });
}

// For a reader of every row:

/// Wait until many rows are available, or the loop has nothing left to do.
inline std::int64_t loop_fed(Loop* loop, std::int64_t milliseconds) noexcept {
  return loop->control.rests_or(milliseconds, [=] { return loop->line.feed->half_full(); });
}
inline void loop_feed(Loop* loop, FeedView* view) noexcept {
  loop->control.inspect([=](const Pending&) { *view = loop->line.feed->view(); });
}
inline void loop_feed_copy(const Loop* loop, std::int64_t column, std::int64_t first, std::int64_t count,
                           double* out) noexcept {
  loop->line.feed->copy(column, first, count, out);
}
/// The rows below `row` have been read. stop: if not 0, the number of a breakpoint; the run then returns to the last of
/// these rows and drops the later ones.
inline void loop_feed_take(Loop* loop, std::int64_t generation, std::int64_t row, std::int64_t stop,
                           std::int64_t breakpoint) noexcept {
  loop->control.post([=](Pending& pending) {
    if (!loop->line.feed->take(generation, row, stop != 0) || stop == 0) return;
    pending.cut = row - 1;
    pending.cut_by = breakpoint;
  });
}
/// Create a feed of this many rows, a power of 2, if there is none. Returns 1, or 2 if there is no memory.
inline std::int64_t loop_feed_open(Loop* loop, std::int64_t rows, std::int64_t milliseconds) noexcept {
  bool done = false;
  const bool held = loop->control.between(
      milliseconds, [&](Pending&) { return done = loop->line.open_feed(loop->ledger, rows), true; });
  return held ? (done ? 1 : 2) : 0;
}

/// Replace all breakpoints, from the next step on. Returns 0 if there is no memory.
inline std::int64_t loop_arm(Loop* loop, const Breakpoint* breakpoints, std::int64_t count) noexcept {
  bool done = false;
  loop->control.post([&](Pending& pending) { done = pending.arms = pending.breakpoints.assign(breakpoints, count); });
  return done;
}

// Readable while the loop runs:

inline const Record* loop_record(const Loop* loop) noexcept { return &loop->line.record; }
inline const Path* loop_path(const Loop* loop) noexcept { return loop->line.path ? &*loop->line.path : nullptr; }
/// What steps cost: a trail with the columns of `TraceColumn`.
inline const Trail* loop_traces(const Loop* loop) noexcept { return &loop->line.traces.trail(); }
inline const Ledger* loop_ledger(const Loop* loop) noexcept { return &loop->ledger; }

/// Copy at most `count` events from `first` on, and return the number of all events.
inline std::int64_t loop_events(Loop* loop, std::int64_t first, std::int64_t count, Event* out) noexcept {
  std::int64_t total = 0;
  loop->control.inspect([&](const Pending&) {
    const auto& events = loop->line.events();
    total = events.size();
    for (std::int64_t k = first; k < std::min(total, first + count); ++k) *out++ = events[k];
  });
  return total;
}

}  // namespace burlab::run
BURLAB_END
