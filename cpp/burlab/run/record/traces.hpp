#pragma once
// Samples of a run's cost: the time of each part of a step, and bytes by purpose. Sampling takes at most half a percent
// of the time.
#include <algorithm>
#include <array>
#include <cstdint>

#include "../memory/resident.hpp"
#include "../step/laps.hpp"
#include "trail.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The columns of a sample, mirrored by `burlab/run/record/traces.py`: the step, nanoseconds of running, nanoseconds
/// per step by part, nanoseconds of the sampling itself, bytes of the process, bytes by kind.
enum TraceColumn : std::size_t {
  trace_step,
  trace_time,
  trace_laps,
  trace_cost = trace_laps + kLaps,
  trace_resident,
  trace_kinds
};
inline constexpr std::size_t kTraceColumns = trace_kinds + kKinds;
inline constexpr std::int64_t kTraces = 2048;  // capacity, in samples

/// Samples in the order of their steps; when the table is full, every second one is dropped. The loop's thread writes.
class Traces {
 public:
  explicit Traces(Ledger& ledger)
      : ledger_(ledger), trail_(ledger, Kind::traces, static_cast<std::int64_t>(kTraceColumns), kTraces) {}

  bool ready() const { return trail_.ready(); }
  const Trail& trail() const { return trail_; }
  Trail& trail() { return trail_; }

  /// The running time at which the next sample is due, in nanoseconds.
  double due_at() const { return due_at_; }

  /// Record a sample after a step. laps: of `count` steps up to it; began: their start, on the same clock;
  /// time: of running. False if no memory is left.
  bool add(std::int64_t step, double time, const Laps& laps, std::int64_t count, std::int64_t began) {
    std::array<double, kTraceColumns> row;
    row[trace_step] = static_cast<double>(step);
    row[trace_time] = time;
    for (std::size_t lap = 0; lap < kLaps; ++lap) row[trace_laps + lap] = laps.net(lap) / static_cast<double>(count);
    if (!(time < read_at_ + kReading)) {
      resident_ = resident_bytes();
      read_at_ = time;
    }
    row[trace_resident] = resident_;
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      row[trace_kinds + kind] = static_cast<double>(ledger_.bytes(static_cast<Kind>(kind)));
    const double cost = std::max(static_cast<double>(nanoseconds() - began) - laps.total(), 0.0);
    row[trace_cost] = cost;
    plan(time, cost);
    return trail_.offer(row.data());
  }

  /// Make the next sample due at once, because the run has moved.
  void restart() {
    due_at_ = 0;
    read_at_ = -kReading;
  }

  /// Drop the steps from `row` on.
  void cut(std::int64_t row) { trail_.cut(trail_.offers_below(trace_step, static_cast<double>(row))); }

 private:
  static constexpr double kReading = 2e7;  // nanoseconds between two reads of the process's memory, a system call
  static constexpr double kMinGap = 1e6, kMaxGap = 1e9, kGaps = 200, kDensity = 256;

  /// At least 200 times as long as a sample takes; at first close together, later once a second.
  void plan(double time, double cost) {
    cost_ = cost_ > 0 ? std::min(cost, 2 * cost_) : cost;  // bounded, because other work may have slowed this one
    due_at_ = time + std::max(std::clamp(time / kDensity, kMinGap, kMaxGap), kGaps * cost_);
  }

  Ledger& ledger_;
  Trail trail_;
  double cost_ = 0, due_at_ = 0;  // nanoseconds
  double resident_ = 0, read_at_ = -kReading;
};

}  // namespace burlab::run
BURLAB_END
