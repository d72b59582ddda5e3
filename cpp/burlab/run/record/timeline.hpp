#pragma once
// Where a run is in its own history, and how it moves there. A run is a function of its start and of the changes that
// were told to it, so any of its points is reached by doing steps again from a snapshot before it, with the same bits.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "../abi/plan.hpp"
#include "../abi/saved.hpp"
#include "../loop/control.hpp"
#include "../step/cells.hpp"
#include "feed.hpp"
#include "keyframes.hpp"
#include "path.hpp"
#include "record.hpp"
#include "stopwatch.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// What a run wrote down, and what takes it back. The loop's thread calls it, or others while the loop is held.
///
/// A row is written at every step that has none: at the front of the record, and where rows were dropped that cannot be
/// dropped alone (see Record::cut). Criteria are asked at the front only.
class Timeline {
 public:
  Record record;
  std::optional<Path> path;  // of x, in one or two dimensions
  std::optional<Feed> feed;  // of those who must see every row
  Keyframes frames;

  Timeline(Ledger& ledger, const Plan& plan, Cursor& cursor, StateBuffers& cells)
      : record(ledger, Kind::history, columns_of(plan), plan.history_bytes),
        frames(ledger, cells.frame_bytes(), plan.keyframe_bytes),
        criteria_(plan.criteria),
        cursor_(cursor),
        cells_(cells),
        start_(ledger, Kind::scratch, plan.hypers, plan.hyper),
        events_(ledger, Kind::events) {
    if (plan.feed_rows > 0) feed.emplace(ledger, record.columns(), plan.feed_rows);
    if (plan.dimension <= 2) path.emplace(ledger, plan.dimension, kPathPoints);
    if (2 * frames.frame_bytes() > plan.keyframe_bytes) next_frame_ = kNever;  // no room for another one
    look_at_ = std::min(next_frame_, criteria_.nanoseconds);
    if (plan.start != nullptr && cells.ready()) started_ = snapshot();
  }

  bool ready() const {
    return start_.ready() && record.ready() && (!path || path->ready()) && (!feed || feed->ready()) && started_;
  }
  const Buffer<Event>& events() const { return events_; }

  /// Be what another run is, except that this one rests. False where there is no memory.
  bool inherit(const Timeline& other) {
    if (!events_.assign(other.events_.begin(), other.events_.size())) return false;
    rewound_ = true;
    cursor_.step = other.cursor_.step.load();
    cursor_.done = other.cursor_.done.load();
    proved_ = other.proved_;
    stamped_ = other.stamped_;
    watch_.set(other.watch_.total());
    cells_.load(other.cells_);
    if (feed) feed->inherit(*other.feed);
    frames.cut(-1);
    started_ = other.frames.copy_to(frames, other.cursor_.done) &&
               other.record.copy_to(record, other.record.length()) == other.record.length() &&
               (!path || other.path->copy_to(*path));
    return started_;
  }

  /// For a file: where it stands while it rests, besides why.
  Standing standing() const { return {cursor_.step, cursor_.done, no_reason, watch_.total(), kNone, kNone}; }

  /// Be what was saved. False where there is no memory.
  bool resume(const Saved& saved) {
    const Standing& standing = saved.standing;
    if (!events_.assign(saved.event, saved.events)) return false;
    cursor_.step = standing.step;
    cursor_.done = standing.done;
    proved_ = stamped_ = saved.record.extent.rows;
    if (feed) feed->skip_to(saved.record.extent.rows);
    watch_.set(standing.elapsed);
    plan_frame(standing.elapsed);
    cells_.load(saved.cells);
    for (std::int64_t k = 0; k < saved.frames; ++k) {
      char* const frame = frames.add(saved.frame_steps[k]);
      if (frame == nullptr) return false;
      std::memcpy(frame, saved.frame + k * frames.frame_bytes(), static_cast<std::size_t>(frames.frame_bytes()));
    }
    return record.restore(saved.record, saved.stamps) && (!path || path->restore(saved.path));
  }

  /// Forget what came after `step`; keep `rows` rows, as many or one more: that of a step which is not done.
  void truncate(std::int64_t step, std::int64_t rows) {
    while (events_.size() > 0 && events_[events_.size() - 1].step > step) events_.cut(events_.size() - 1);
    applied_ = std::min(applied_, events_.size());
    frames.cut(step);
    const std::int64_t kept = record.cut(rows);
    if (path) path->cut(kept);
    if (feed) feed->begin(rows);
    stamped_ = kept;
    rewind_watch();
    cursor_.done = mend_step_ = step;
    proved_ = mend_rows_ = rows;
    forced_ = kept <= step && step < rows ? step : -1;
    mending_ = cursor_.step != step || kept < rows;
    if (mending_) restore(std::min(step, kept));
  }

  // For the loop:

  /// Take over what was told, and say how far to step before asking again; the cursor itself where it is to rest.
  std::int64_t decide(Pending& pending) {
    if (!take(pending)) {
      pending.outcome = {OutOfMemory};
      pending.command = Command::rest;
    }
    const bool mends = mending_ && pending.outcome.ok();
    const std::int64_t goal = mends ? std::max(mend_step_, cursor_.step + 1) : follow(pending);
    apply(pending);
    const std::int64_t step = cursor_.step, length = record.length();
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

  /// Whether rows are being written again: until that is done, the run is nowhere.
  bool mending() const { return mending_; }

  bool fresh(std::int64_t step) const { return step == record.length(); }

  /// Write the row of a fresh step. False where there is no memory left.
  bool write(const double* row, const double* point) {
    time_ = watch_.stamp();
    if (feed) feed->push(record.length(), row);
    return record.append(row) && (!path || path->offer(point)) && (time_ != time_ || stamp(time_));
  }

  /// What the row of a fresh step gives rise to.
  Reason verdict(std::int64_t step, const double* row) {
    if (step < proved_) return no_reason;
    proved_ = step + 1;
    return criteria_.of(row[value_column], row[gradient_norm]);
  }

  /// Whether only the row of this step was wanted.
  bool forced(std::int64_t step) {
    const bool so = step == forced_;
    if (so) forced_ = -1;
    return so;
  }

  /// Step `step` is done. True: the time is up.
  bool pass(std::int64_t step) {
    cursor_.step.store(step + 1, std::memory_order_release);
    if (cursor_.done.load(std::memory_order_relaxed) <= step) cursor_.done.store(step + 1, std::memory_order_release);
    return time_ >= look_at_ && look();
  }

 private:
  static constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max(), kPathPoints = 1 << 16;
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  static constexpr double kLeastGap = 1e6, kGaps = 50;  // nanoseconds; times the cost of a snapshot

  /// Changes count from the next step on, and each is an event.
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
      pending.command = Command::rest;
      pending.reason = predicate_holds;
    }
    if (pending.changes()) {
      const std::int64_t step = cursor_.step;
      if (record.length() > step) truncate(step, step);  // the row that a criterion stopped at is done anew
      if (mending_) return true;
      for (std::int64_t k = 0; k < pending.hyper.size(); ++k)
        if (pending.differs(k) && !events_.push({step, k, pending.next[k]})) return false;
    }
    pending.discard();
    return true;
  }

  /// How far a command leads; where it is done, it becomes rest.
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
      pending.command = Command::rest;
    return pending.command == Command::rest ? cursor_.step.load() : goal;
  }

  /// Go to the best snapshot for a step.
  void approach(std::int64_t step) {
    if (step < cursor_.step || frames.nearest(step)->step > cursor_.step) restore(step);
  }
  void restore(std::int64_t step) {
    const Frame* const frame = frames.nearest(step);  // there is one of step 0
    cells_.load(frame->data);
    cursor_.step = frame->step;
    rewound_ = true;
  }

  /// Put in force what has changed up to the cursor.
  void apply(Pending& pending) {
    if (rewound_) std::copy(start_.begin(), start_.end(), pending.hyper.begin());
    if (rewound_) applied_ = 0;
    rewound_ = false;
    for (; applied_ < events_.size() && events_[applied_].step <= cursor_.step; ++applied_)
      pending.hyper[events_[applied_].hyper] = events_[applied_].value;
  }
  std::int64_t next_change() const { return applied_ < events_.size() ? events_[applied_].step : kEndless; }

  /// Note when the last row was done.
  bool stamp(double time) {
    stamped_ = record.length();
    return record.stamp(time);
  }

  /// At a reading of the clock.
  bool look() {
    const bool up = time_ >= criteria_.nanoseconds;
    if (time_ >= next_frame_) {
      const auto begin = Stopwatch::Clock::now();
      snapshot();
      const double cost = Stopwatch::nanoseconds(Stopwatch::Clock::now() - begin);
      cost_ = cost_ > 0 ? std::min(cost, 2 * cost_) : cost;  // whatever else the machine may have done meanwhile
      plan_frame(time_);
    }
    time_ = kNone;
    return up;
  }
  void plan_frame(double time) {
    const double gap = std::max(kLeastGap, kGaps * cost_) * static_cast<double>(std::int64_t{1} << frames.thinned());
    if (next_frame_ != kNever) next_frame_ = time + gap;
    look_at_ = std::min(next_frame_, criteria_.nanoseconds);
    time_ = kNone;
  }
  bool snapshot() {
    char* const frame = frames.add(cursor_.step);
    if (frame != nullptr) cells_.save(frame);
    return frame != nullptr;
  }

  /// The time of a run is that of the rows that it has.
  void rewind_watch() {
    const Extent stamps = record.stamps().extent();
    double time = 0;
    if (stamps.slots > 0) record.stamps().copy(stamps.generation, 1, stamps.slots - 1, 1, &time);
    watch_.pause();
    watch_.set(time);
    plan_frame(time);
  }

  const Criteria criteria_;
  Cursor& cursor_;
  StateBuffers& cells_;
  const Buffer<double> start_;  // hyperparameters
  Buffer<Event> events_;
  std::int64_t applied_ = 0;                    // events that are in force
  bool rewound_ = false, started_ = true;       // rewound: what is in force must be found anew
  std::int64_t proved_ = 0;                     // rows that criteria were asked about
  bool mending_ = false, cut_ = false;          // cut: on its way to where a predicate holds
  std::int64_t mend_step_ = 0, mend_rows_ = 0;  // see mending
  std::int64_t stamped_ = 0;                    // rows before the last time stamp
  std::int64_t forced_ = -1;                    // a step whose row is to be written and no more
  Stopwatch watch_;
  double time_ = kNone;                                     // at the last step, where the clock was read
  double cost_ = 0, next_frame_ = kLeastGap, look_at_ = 0;  // nanoseconds
};

}  // namespace burlab::run
BURLAB_END
