#pragma once
// Breakpoints on rows that are recorded, while their steps are played again.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "../abi/plan.hpp"
#include "breakpoints.hpp"
#include "record.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Belongs to the loop's thread.
class ReplayedBreakpoints {
 public:
  explicit ReplayedBreakpoints(Ledger& ledger) : points_(ledger) {}

  bool set(const Buffer<Breakpoint>& given) { return points_.set(given, kNone); }

  /// Rows were cut or written: the next replay begins anew.
  void forget() { heard_ = -1; }

  /// Where a replay begins at `step`, count what holds at the rows before it, unless rows were merged. row: room for
  /// one. blind: there is no gradient.
  void begin(const Record& record, std::int64_t step, double* row, bool blind) {
    if (heard_ == step || heard_ == step + 1) return;  // it goes on
    const Extent extent = record.extent();
    const std::int64_t first = extent.span == 2 ? std::max<std::int64_t>(0, step - kRowsBefore) : step;
    points_.restart(kNone);
    for (std::int64_t at = first; at < step; ++at) {
      for (std::int64_t k = 0; k < record.columns(); ++k) record.copy(extent.generation, k, at, 1, row + k);
      test(at, row, blind);
    }
    heard_ = -1;
  }

  /// The breakpoint that a row hits; 0: none. A run never stops where its replay begins, as it rested there.
  std::int64_t hit(std::int64_t step, const double* row, bool blind) {
    if (step < heard_) return 0;
    const bool begins = heard_ < 0;
    heard_ = step + 1;
    const std::int64_t found = test(step, row, blind);
    return begins ? 0 : found;
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::int64_t kRowsBefore = 1000;

  std::int64_t test(std::int64_t step, const double* row, bool blind) {
    return points_.hit(step, row[value_column], blind ? 0 : row[gradient_norm], row);
  }

  Breakpoints points_;
  std::int64_t heard_ = -1;  // the step after the last row that was tested; -1: none
};

}  // namespace burlab::run
BURLAB_END
