#pragma once
// How a run takes over the steps of its lane: its state is then the same as if it had done them alone.
#include <cstdint>
#include <cstring>

#include "../loop/loop.hpp"
#include "lanes.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// One run that takes over its lane's steps. It is held meanwhile.
class Arrival {
 public:
  /// first: the number of the first of these steps.
  Arrival(Loop& loop, Pending& pending, const Lanes& lanes, std::int64_t lane, std::int64_t first)
      : line_(loop.line),
        state_(loop.stepper.state),
        cursor_(loop.control.cursor),
        pending_(pending),
        lanes_(lanes),
        lane_(lane),
        first_(first) {}

  /// Return true if the run rests where these steps begin and no step of them stops it. A run with inf or nan does its
  /// steps alone: not all bits of a nan come from arithmetic.
  bool fits() const {
    const bool rests = pending_.command == Command::pause && pending_.outcome.ok() && pending_.reason == no_reason;
    const bool ordered = pending_.changes() || pending_.arms || pending_.cut >= 0;
    const bool watched = line_.feed.has_value() || line_.breakpoints.any() || line_.totals_.size() > 0;
    const bool here = cursor_.step == first_ && cursor_.done == first_ && line_.record.length() == first_;
    return rests && !ordered && !watched && here && !line_.mending() && has_its_numbers() && goes_on();
  }

  /// Write the rows and move the run to the last step. nanoseconds: duration of the steps. False if no memory is left:
  /// then the record holds rows of steps that are still to be done.
  bool take(double nanoseconds) const {
    if (!line_.record.append(lanes_.recorded(lane_, 0), lanes_.most, lanes_.done)) return false;
    for (std::int64_t step = 0; line_.path && step < lanes_.done; ++step) {
      const double point[] = {lanes_.recorded(lane_, lanes_.columns)[step],
                              lanes_.recorded(lane_, lanes_.columns + lanes_.points - 1)[step]};
      if (!line_.path->offer(point)) return false;
    }
    std::int64_t k = 0;
    for (std::int64_t buffer = 0; buffer < state_.count(); ++buffer) {
      double* const to = reinterpret_cast<double*>(state_.current(buffer));
      const std::int64_t size = state_.bytes(buffer) / static_cast<std::int64_t>(sizeof(double));
      for (std::int64_t i = 0; i < size; ++i) to[i] = lanes_.number(lanes_.done, k++)[lane_];
    }
    cursor_.step = first_ + lanes_.done;
    cursor_.done = line_.proved_ = first_ + lanes_.done;
    line_.watch_.set(line_.watch_.total() + nanoseconds);
    line_.time_ = line_.watch_.total();
    if (line_.time_ >= line_.due_at_) line_.act_when_due();
    line_.rest(pending_);
    return true;
  }

 private:
  /// Return true if its hyperparameters equal the lane's; by bits, because a scheduled one is nan.
  bool has_its_numbers() const {
    for (std::int64_t k = 0; k < lanes_.hypers; ++k)
      if (std::memcmp(&pending_.hyper[k], lanes_.hyper + k * Lanes::kWidth + lane_, sizeof(double)) != 0) return false;
    return true;
  }

  /// Return true if no row stops the run. Where all is finite, criteria need only the least values.
  bool goes_on() const {
    const Criteria& criteria = line_.criteria_;
    const double* const least = lanes_.least + lane_;
    const double value = least[(1 + value_column) * Lanes::kWidth],
                 watched = least[(1 + criteria.column) * Lanes::kWidth];
    return first_ + lanes_.done <= criteria.steps && *least == 0 && criteria.of(value, 0, watched) == no_reason;
  }

  Timeline& line_;
  StateBuffers& state_;
  Cursor& cursor_;
  Pending& pending_;
  const Lanes& lanes_;
  const std::int64_t lane_, first_;
};

}  // namespace burlab::run
BURLAB_END
