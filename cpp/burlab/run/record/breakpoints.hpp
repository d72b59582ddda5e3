#pragma once
// The breakpoints of a run, tested at every new row.
#include <cmath>
#include <cstdint>
#include <limits>

#include "../abi/criteria.hpp"
#include "../memory/buffer.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Belongs to the loop's thread.
class Breakpoints {
 public:
  explicit Breakpoints(Ledger& ledger) : testers_(ledger, Kind::scratch), before_(ledger, Kind::scratch) {}

  bool any() const { return testers_.size() > 0; }

  /// Replace the breakpoints; those that stay continue to count. last: the value of the last row, NaN if unknown. False
  /// if there is no memory.
  bool set(const Buffer<Breakpoint>& given, double last) {
    if (!any()) last_ = last;
    if (!before_.assign(testers_.begin(), testers_.size())) return false;
    testers_.cut(0);
    for (const Breakpoint& point : given) {
      BreakpointTester next{point, 0};
      for (const BreakpointTester& old : before_)
        if (old.point.number == point.number) next.held = old.held;
      if (!testers_.push(next)) return false;
    }
    return true;
  }

  /// The run has gone back to a row with this value.
  void restart(double last) {
    last_ = last;
    for (BreakpointTester& tester : testers_) tester.held = 0;
  }

  /// The number of the first breakpoint that a row hits; 0: none. norm: of the gradient, 0 if there is none.
  std::int64_t hit(std::int64_t step, double value, double norm, const double* row) {
    std::int64_t found = 0;
    for (BreakpointTester& tester : testers_)
      if (hits(tester, step, value, norm, row) && found == 0) found = tester.point.number;
    last_ = value;
    return found;
  }

  /// The column of the norm that a breakpoint tests, by its number.
  std::int64_t column(std::int64_t number) const {
    for (const BreakpointTester& tester : testers_)
      if (tester.point.number == number) return tester.point.column;
    return 0;
  }

 private:
  struct BreakpointTester {
    Breakpoint point;
    std::int64_t held;  // consecutive rows, up to the last one, where its condition held
  };

  bool hits(BreakpointTester& tester, std::int64_t step, double value, double norm, const double* row) const {
    const Breakpoint& point = tester.point;
    if (point.watched == watched_every) return step > 0 && step % point.count == 0;
    if (point.watched == watched_norm && std::isnan(row[point.column]))
      return false;  // the norm was not computed at this step
    bool holds = false;
    if (point.watched == watched_rise) holds = value > last_ + point.limit * std::abs(last_);
    else if (point.watched == watched_norm) holds = row[point.column] > point.limit;
    else holds = !(std::isfinite(value) && std::isfinite(norm));
    tester.held = holds ? tester.held + 1 : 0;
    if (point.watched != watched_rise) return tester.held == 1;
    if (tester.held < point.count) return false;
    tester.held = 0;
    return true;
  }

  Buffer<BreakpointTester> testers_, before_;
  double last_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace burlab::run
BURLAB_END
