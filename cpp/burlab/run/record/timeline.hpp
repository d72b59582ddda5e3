#pragma once
// The position of a run in its own history, and moves to other steps. A run is a function of its start and of its
// changes, so any step is reached by replay from an earlier snapshot, with the same bits.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "../abi/plan.hpp"
#include "../abi/saved.hpp"
#include "../loop/control.hpp"
#include "../step/state_buffers.hpp"
#include "feed.hpp"
#include "keyframes.hpp"
#include "path.hpp"
#include "record.hpp"
#include "stopwatch.hpp"
#include "timeline_breakpoints.hpp"
#include "traces.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// What to do after a step, before the next one.
enum class Due { nothing, sample, end };

/// The record of a run, and the snapshots to go back. The loop's thread calls it, or others while the loop is held.
///
/// A row is written at every step without one: at the front of the record, and where `Record::cut` dropped earlier rows
/// too. Criteria are tested only at the front, breakpoints also at recorded steps that are played again.
class Timeline {
 public:
  Record record;
  std::optional<Path> path;  // of x, in one or two dimensions
  std::optional<Feed> feed;  // for a reader of every row
  Keyframes frames;
  Traces traces;  // what steps cost
  TimelineBreakpoints breakpoints;

  Timeline(Ledger& ledger, const Plan& plan, Cursor& cursor, StateBuffers& state)
      : record(ledger, Kind::history, columns_of(plan), plan.history_bytes),
        frames(ledger, state.frame_bytes(), plan.keyframe_bytes),
        traces(ledger),
        breakpoints(ledger, plan.gradient < 0),
        criteria_(plan.criteria),
        blind_(plan.gradient < 0),
        cursor_(cursor),
        state_(state),
        start_(ledger, Kind::scratch, plan.hypers, plan.hyper),
        events_(ledger, Kind::events),
        spent_(ledger, Kind::scratch, plan.totals, plan.spent),
        totals_(ledger, Kind::scratch, plan.totals, plan.spent) {
    if (plan.feed_rows > 0) feed.emplace(ledger, record.columns(), plan.feed_rows);
    if (plan.dimension <= 2) path.emplace(ledger, plan.dimension, kPathPoints);
    if (2 * frames.frame_bytes() > plan.keyframe_bytes) next_frame_ = kNever;  // the budget allows no second one
    plan_act();
    if (plan.start != nullptr && state.ready()) started_ = snapshot();
  }

  bool ready() const {
    return start_.ready() && spent_.ready() && totals_.ready() && record.ready() && traces.ready() &&
           (!path || path->ready()) && (!feed || feed->ready()) && started_;
  }
  const Buffer<Event>& events() const { return events_; }

  /// Copy another run, but rest. False if there is no memory.
  bool inherit(const Timeline& other) {
    if (!events_.assign(other.events_.begin(), other.events_.size())) return false;
    rewound_ = true;
    cursor_.step = other.cursor_.step.load();
    cursor_.done = other.cursor_.done.load();
    proved_ = other.proved_;
    stamped_ = other.stamped_;
    watch_.set(other.watch_.total());
    state_.load(other.state_);
    if (feed) feed->inherit(*other.feed);
    frames.cut(-1);
    std::copy(other.totals_.begin(), other.totals_.end(), totals_.begin());
    started_ = other.frames.copy_to(frames, other.cursor_.done) &&
               other.record.copy_to(record, other.record.length()) == other.record.length() &&
               (!path || other.path->copy_to(*path)) &&
               other.traces.trail().copy_to(traces.trail(), other.traces.trail().extent().rows);
    return started_;
  }

  /// For a file: its position at rest, without the reason.
  Standing standing() const { return {cursor_.step, cursor_.done, no_reason, watch_.total(), kNone, kNone}; }

  /// Restore a saved run. False if there is no memory.
  bool resume(const Saved& saved) {
    const Standing& standing = saved.standing;
    if (!events_.assign(saved.event, saved.events)) return false;
    cursor_.step = standing.step;
    cursor_.done = standing.done;
    proved_ = stamped_ = saved.record.extent.rows;
    if (feed) feed->skip_to(saved.record.extent.rows);
    watch_.set(standing.elapsed);
    plan_frame(standing.elapsed);
    state_.load(saved.buffers);
    for (std::int64_t k = 0; frames.stores() && k < saved.frames; ++k) {
      char* const frame = frames.add(saved.frame_steps[k]);
      if (frame == nullptr) return false;
      std::memcpy(frame, saved.frame + k * frames.frame_bytes(), static_cast<std::size_t>(frames.frame_bytes()));
    }
    if (!record.restore(saved.record, saved.stamps)) return false;
    recount();
    return (!path || path->restore(saved.path)) && traces.trail().restore(saved.traces);
  }

  /// Create a feed of future rows if there is none. False if there is no memory.
  bool open_feed(Ledger& ledger, std::int64_t rows) {
    if (feed) return true;
    feed.emplace(ledger, record.columns(), rows);
    if (feed->ready()) feed->skip_to(record.length());
    else feed.reset();
    return feed.has_value();
  }

  /// Drop what comes after `step`; keep `rows` rows: `step`, or one more for the row of a step that is not done.
  void truncate(std::int64_t step, std::int64_t rows) {
    while (events_.size() > 0 && events_[events_.size() - 1].step > step) events_.cut(events_.size() - 1);
    applied_ = std::min(applied_, events_.size());
    frames.cut(step);
    const std::int64_t kept = record.cut(rows);
    recount();
    if (path) path->cut(kept);
    traces.cut(kept);
    if (feed) feed->begin(rows);
    stamped_ = kept;
    breakpoints.restart(last_value());
    rewind_watch();
    cursor_.done = mend_step_ = step;
    proved_ = mend_rows_ = rows;
    forced_ = kept <= step && step < rows ? step : -1;
    mending_ = cursor_.step != step || kept < rows;
    if (mending_) restore(std::min(step, kept));
  }

  // For the loop:

  /// Apply the pending orders, and return the step to reach before the next poll; the cursor itself to rest.
  std::int64_t decide(Pending& pending) {
    if (!take(pending)) {
      pending.outcome = {OutOfMemory};
      pending.command = Command::pause;
    }
    const bool mends = mending_ && pending.outcome.ok();
    const std::int64_t goal = mends ? std::max(mend_step_, cursor_.step + 1) : follow(pending);
    apply(pending);
    const std::int64_t step = cursor_.step, length = record.length();
    replays_ = !mends && pending.command == Command::aim && step < length && breakpoints.any();
    if (step >= length && goal > step) watch_.resume();
    else watch_.pause();
    const std::int64_t room = feed && step >= length ? feed->limit() : kEndless;
    return std::min({goal, next_change(), room, step < length ? length : kEndless});
  }

  void rest(Pending& pending) {
    watch_.pause();
    pending.elapsed = watch_.total();
    if (stamped_ < record.length()) stamp(watch_.total());
  }

  /// Return true while dropped rows are written again; until then the run has no valid position.
  bool mending() const { return mending_; }

  bool fresh(std::int64_t step) const { return step == record.length(); }

  /// Write the row of a new step, whose last columns are totals from the first step on. False if no memory is left.
  bool write(double* row, const double* point) {
    double* const totals = row + record.columns() - totals_.size();
    for (std::int64_t k = 0; k < totals_.size(); ++k) totals[k] += totals_[k];
    time_ = watch_.stamp();
    if (feed) feed->push(record.length(), row);
    if (!record.append(row)) return false;
    for (std::int64_t k = 0; k < totals_.size(); ++k) totals_[k] = totals[k];
    return (!path || path->offer(point)) && (time_ != time_ || stamp(time_));
  }

  /// Return true if the cost of the next steps is to be sampled: they are new, and a sample is due.
  bool samples() const { return sampling_ && fresh(cursor_.step); }
  /// Record the cost of the last `count` steps. False if no memory is left.
  bool sample(const Laps& laps, std::int64_t count, std::int64_t began) {
    sampling_ = false;
    const bool done = traces.add(cursor_.step - 1, watch_.now(), laps, count, began);
    plan_act();
    return done;
  }

  /// The verdict on the row of a new step.
  Reason verdict(std::int64_t step, const double* row) {
    if (step < proved_) return no_reason;
    proved_ = step + 1;
    const double norm = blind_ ? 0 : row[gradient_norm];  // which is NaN where there is no gradient
    const Reason reason = criteria_.of(row[value_column], norm, row[criteria_.column]);
    if (BURLAB_LIKELY(!breakpoints.any())) return reason != no_reason || !stands_still(row) ? reason : stalled;
    if (breakpoints.is_hit(step, row) && reason == no_reason) return breakpoint_hit;
    return reason != no_reason || !stands_still(row) ? reason : stalled;
  }
  /// Return true if recorded steps are played again, as by `aim`, and breakpoints hold there.
  bool replays() const { return replays_; }
  /// Return true if the next step would repeat this one: it changes nothing and depends on nothing else.
  BURLAB_INLINE bool stands_still(const double* row) const {
    return criteria_.stalls != 0 && row[step_norm] == 0 && row[gradient_norm] > 0 && state_.stays();
  }
  /// The column of the norm that caused a verdict.
  std::int64_t watched(Reason reason) const {
    if (reason == small_gradient) return criteria_.column;
    return reason == breakpoint_hit ? breakpoints.column() : static_cast<std::int64_t>(gradient_norm);
  }

  /// Return true, once, if only the row of this step was requested.
  bool forced(std::int64_t step) {
    const bool so = step == forced_;
    if (so) forced_ = -1;
    return so;
  }

  /// Count step `step` as done and return what is due: usually nothing.
  BURLAB_INLINE Due pass(std::int64_t step) {
    cursor_.step.store(step + 1, std::memory_order_release);
    if (cursor_.done.load(std::memory_order_relaxed) <= step) cursor_.done.store(step + 1, std::memory_order_release);
    return time_ >= due_at_ ? act_when_due() : Due::nothing;
  }

 private:
  friend class Arrival;  // for steps that were done in lanes: see `run/lanes`
  static constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max(), kPathPoints = 1 << 16;
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  static constexpr double kMinGap = 1e6, kGaps = 50;  // nanoseconds; times the cost of a snapshot

  /// Changes take effect from the next step on, and each is an event.
  bool take(Pending& pending) {
    if (pending.cut >= 0) {
      pending.discard();
      truncate(pending.cut, pending.cut + 1);
      pending.cut = -1;
      cut_ = true;
    }
    if (mending_) mending_ = cursor_.step < mend_step_ || record.length() < mend_rows_;
    if (mending_) return true;
    if (cut_) {
      cut_ = false;
      pending.command = Command::pause;
      pending.reason = pending.cut_by == 0 ? predicate_holds : breakpoint_hit;
      pending.breakpoint = pending.cut_by;
    }
    if (pending.arms && !breakpoints.set(pending.breakpoints, last_value())) return false;
    pending.arms = false;
    if (pending.changes()) {
      const std::int64_t step = cursor_.step;
      // The row that stopped the run is computed again, unless others are merged with it and there is no way back.
      if (record.length() > step && (frames.stores() || record.extent().span == 2)) truncate(step, step);
      if (mending_) return true;
      for (std::int64_t k = 0; k < pending.hyper.size(); ++k)
        if (pending.differs(k) && !events_.push({step, k, pending.next[k]})) return false;
    }
    pending.discard();
    return true;
  }

  /// The step that a command leads to; a completed command becomes pause.
  std::int64_t follow(Pending& pending) {
    const std::int64_t length = record.length();
    if (pending.command == Command::seek) {
      pending.target = std::min(pending.target, length);
      approach(pending.target);
    } else if (pending.command == Command::aim && pending.target >= criteria_.steps &&
               cursor_.step >= criteria_.steps) {
      pending.reason = enough_steps;
    } else if (pending.command == Command::aim && pending.target > cursor_.step && cursor_.step >= length &&
               watch_.total() >= criteria_.nanoseconds) {
      pending.reason = enough_seconds;
    }
    const std::int64_t goal =
        pending.command == Command::aim ? std::min(pending.target, criteria_.steps) : pending.target;
    if (pending.reason != no_reason || (pending.command == Command::seek ? cursor_.step == goal : cursor_.step >= goal))
      pending.command = Command::pause;
    return pending.command == Command::pause ? cursor_.step.load() : goal;
  }

  /// Go to the best snapshot for a step. Without snapshots a run is never in its past.
  void approach(std::int64_t step) {
    if (frames.stores() && (step < cursor_.step || frames.nearest(step)->step > cursor_.step)) restore(step);
  }
  void restore(std::int64_t step) {
    const Frame* const frame = frames.nearest(step);  // there is one of step 0
    state_.load(frame->data);
    cursor_.step = frame->step;
    rewound_ = true;
  }

  /// Apply the changes up to the cursor.
  void apply(Pending& pending) {
    if (rewound_) std::copy(start_.begin(), start_.end(), pending.hyper.begin());
    if (rewound_) applied_ = 0;
    rewound_ = false;
    for (; applied_ < events_.size() && events_[applied_].step <= cursor_.step; ++applied_)
      pending.hyper[events_[applied_].hyper] = events_[applied_].value;
  }
  std::int64_t next_change() const { return applied_ < events_.size() ? events_[applied_].step : kEndless; }

  /// The value of the last row; NaN if there is none or it was merged with others.
  double last_value() const {
    const Extent extent = record.extent();
    double value = kNone;
    if (extent.span == 2 && extent.rows > 0) record.copy(extent.generation, value_column, extent.rows - 1, 1, &value);
    return value;
  }

  /// Read the totals of the last row. They never decrease, so they are the maximum of its pair, in the last slot.
  void recount() {
    const Extent extent = record.extent();
    const std::int64_t first = record.columns() - totals_.size();
    for (std::int64_t k = 0; k < totals_.size(); ++k) {
      totals_[k] = spent_[k];
      if (extent.slots > 0) record.copy(extent.generation, first + k, extent.slots - 1, 1, &totals_[k]);
    }
  }

  /// Store the end time of the last row.
  bool stamp(double time) {
    stamped_ = record.length();
    return record.stamp(time);
  }

  /// Take the keyframe if it is due, and return what else is due.
  Due act_when_due() {
    const bool up = time_ >= criteria_.nanoseconds;
    const bool sample = !sampling_ && time_ >= traces.due_at();
    sampling_ = sampling_ || sample;
    if (time_ >= next_frame_) {
      const auto begin = Stopwatch::Clock::now();
      snapshot();
      const double cost = Stopwatch::nanoseconds(Stopwatch::Clock::now() - begin);
      cost_ = cost_ > 0 ? std::min(cost, 2 * cost_) : cost;  // bounded, because other work may have slowed this one
      plan_frame(time_);
    }
    plan_act();
    return up ? Due::end : sample ? Due::sample : Due::nothing;
  }
  void plan_frame(double time) {
    const double gap = std::max(kMinGap, kGaps * cost_) * static_cast<double>(std::int64_t{1} << frames.thinned());
    if (next_frame_ != kNever) next_frame_ = time + gap;
    plan_act();
  }
  void plan_act() {
    due_at_ = std::min({next_frame_, criteria_.nanoseconds, sampling_ ? kNever : traces.due_at()});
    time_ = kNone;
  }
  bool snapshot() {
    if (!frames.stores()) return true;
    char* const frame = frames.add(cursor_.step);
    if (frame != nullptr) state_.save(frame);
    return frame != nullptr;
  }

  /// Set the running time to that of the last row.
  void rewind_watch() {
    const Extent stamps = record.stamps().extent();
    double time = 0;
    if (stamps.slots > 0) record.stamps().copy(stamps.generation, 1, stamps.slots - 1, 1, &time);
    watch_.pause();
    watch_.set(time);
    traces.restart();
    plan_frame(time);
  }

  const Criteria criteria_;
  const bool blind_;  // there is no gradient
  Cursor& cursor_;
  StateBuffers& state_;
  const Buffer<double> start_;  // hyperparameters
  Buffer<Event> events_;
  bool replays_ = false;                        // whether breakpoints are tested on rows that are recorded
  const Buffer<double> spent_;                  // totals at the start
  Buffer<double> totals_;                       // up to the last row
  std::int64_t applied_ = 0;                    // events that are in force
  bool rewound_ = false, started_ = true;       // rewound: changes in force must be found again
  std::int64_t proved_ = 0;                     // rows for which criteria were tested
  bool mending_ = false, cut_ = false;          // cut: on its way to the row where a predicate holds
  std::int64_t mend_step_ = 0, mend_rows_ = 0;  // see mending
  std::int64_t stamped_ = 0;                    // rows before the last time stamp
  std::int64_t forced_ = -1;                    // a step of which only the row is to be written
  bool sampling_ = true;                        // whether a sample of the cost of steps is due
  Stopwatch watch_;
  double time_ = kNone;                                  // at the last step, if the clock was read
  double cost_ = 0, next_frame_ = kMinGap, due_at_ = 0;  // nanoseconds
};

}  // namespace burlab::run
BURLAB_END
