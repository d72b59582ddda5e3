#pragma once
// The breakpoints of a timeline: at new rows, and at recorded rows whose steps are played again.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "../abi/plan.hpp"
#include "breakpoints.hpp"
#include "record.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Belongs to the loop's thread. A replay has counters of its own, so that the front goes on as if it had not been.
class TimelineBreakpoints {
 public:
  /// blind: there is no gradient.
  TimelineBreakpoints(Ledger& ledger, bool blind) : blind_(blind), new_rows_(ledger), replay_(ledger) {}

  bool any() const { return new_rows_.any(); }
  /// The number of the breakpoint that was hit last, and the column of the norm that it tests.
  std::int64_t number() const { return number_; }
  std::int64_t column() const { return new_rows_.column(number_); }

  /// Replace the breakpoints. last: the value of the last row, NaN if unknown. False if there is no memory.
  bool set(const Buffer<Breakpoint>& given, double last) {
    return new_rows_.set(given, last) && replay_.set(given, kNone);
  }

  /// The run has gone back to a row with this value, and later rows are dropped.
  void restart(double last) {
    new_rows_.restart(last);
    replayed_ = -1;
  }

  /// Return true if a new row hits a breakpoint.
  bool is_hit(std::int64_t step, const double* row) {
    replayed_ = -1;
    number_ = test(new_rows_, step, row);
    return number_ != 0;
  }

  /// Where a replay begins at `step`, count what holds at the rows before it, unless rows were merged. row: room for
  /// one.
  void begin_replay(const Record& record, std::int64_t step, double* row) {
    if (replayed_ == step || replayed_ == step + 1) return;  // it goes on
    const Extent extent = record.extent();
    const std::int64_t first = extent.span == 2 ? std::max<std::int64_t>(0, step - kRowsBefore) : step;
    replay_.restart(kNone);
    for (std::int64_t at = first; at < step; ++at) {
      for (std::int64_t k = 0; k < record.columns(); ++k) record.copy(extent.generation, k, at, 1, row + k);
      test(replay_, at, row);
    }
    replayed_ = -1;
  }

  /// Return true if a recorded row hits a breakpoint. A run never stops where its replay begins, as it rested there.
  bool is_hit_again(std::int64_t step, const double* row) {
    if (step < replayed_) return false;
    const bool begins = replayed_ < 0;
    replayed_ = step + 1;
    const std::int64_t found = test(replay_, step, row);
    if (begins || found == 0) return false;
    number_ = found;
    return true;
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::int64_t kRowsBefore = 1000;

  std::int64_t test(Breakpoints& points, std::int64_t step, const double* row) const {
    return points.hit(step, row[value_column], blind_ ? 0 : row[gradient_norm], row);
  }

  const bool blind_;
  Breakpoints new_rows_, replay_;
  std::int64_t number_ = 0;
  std::int64_t replayed_ = -1;  // the step after the last recorded row that was tested; -1: none
};

}  // namespace burlab::run
BURLAB_END
