#pragma once
// The path of a run through the line or the plane, in bounded memory, for drawings. Points are selected by distance,
// not every n-th step: a run descends in a few steps and then spends millions at its end.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>

#include "trail.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Points with their steps: the columns are the step and one or two coordinates. All points are stored until the table
/// is full. Then the first sixteenth stays as it is, and a later point is stored only if its distance from the stored
/// point before it exceeds a resolution. The resolution grows by a power of two each time the table is full again. A
/// distance is the largest of the coordinates' distances, each relative to the extent of the first sixteenth. The
/// stored points depend only on the offered points, and a copy of the table continues in the same way. One thread
/// writes; others read meanwhile.
class Path {
 public:
  Path(Ledger& ledger, std::int64_t dimension, std::int64_t capacity)
      : table_(ledger, Kind::path, dimension + 1, capacity + 4), dimension_(dimension), capacity_(capacity) {}

  bool ready() const { return table_.ready(); }

  /// Offer the point of the next step. False if no memory is left.
  bool offer(const double* point) {
    const std::int64_t step = offered_.load(std::memory_order_relaxed);
    if (BURLAB_UNLIKELY(!sifts_ || far(point, anchor_, near_)) && !take(step, point)) return false;
    note(static_cast<double>(step), point);
    offered_.store(step + 1, std::memory_order_release);
    return true;
  }

  /// Drop all but the first `offers` points.
  void cut(std::int64_t offers) {
    const std::lock_guard lock(mutex_);
    if (offers >= offered_.load(std::memory_order_relaxed)) return;
    ++generation_;
    std::int64_t slots = slots_;
    while (slots > 0 && step_of(slots - 1) >= static_cast<double>(offers)) --slots;
    begin(offers, slots);
    table_.keep(slots);
  }

  /// Copy this path to an empty one of as many dimensions, while neither is written. False: no memory is left.
  bool copy_to(Path& other) const {
    if (!table_.copy_to(other.table_, slots_)) return false;
    other.level_ = level_;
    other.begin(offered_, slots_);
    double last[3];
    if (newest(last)) other.note(last[0], last + 1);
    return true;
  }

  // For readers on any thread:

  /// The span is the level of the resolution: 1 while all points are stored.
  Extent extent() const {
    const std::lock_guard lock(mutex_);
    return {offered_.load(std::memory_order_acquire), level_, slots_.load(std::memory_order_acquire), generation_};
  }

  /// Copy slots [first, first + count) of a column. False if they have changed since `generation`.
  bool copy(std::int64_t generation, std::int64_t column, std::int64_t first, std::int64_t count, double* out) const {
    const std::lock_guard lock(mutex_);
    if (generation != generation_ || first + count > slots_.load(std::memory_order_acquire)) return false;
    table_.copy(column, first, count, out);
    return true;
  }

  /// The step and coordinates of the newest point, stored or not. False if there is none.
  bool newest(double* out) const {
    for (;;) {
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      for (std::int64_t k = 0; k <= dimension_; ++k) out[k] = newest_[k].load(std::memory_order_acquire);
      if (before % 2 == 0 && version_.load(std::memory_order_relaxed) == before) return out[0] >= 0;
    }
  }

  /// Restore a saved path, whose newest point is last, before any offer. False if it does not fit.
  bool restore(const SavedTable& saved) {
    const std::lock_guard lock(mutex_);
    const std::int64_t slots = saved.extent.slots;
    if (slots > capacity_ + 1 || !table_.fill(slots, saved.columns)) return false;
    level_ = saved.extent.span;
    begin(saved.extent.rows, std::max<std::int64_t>(slots - 1, 0));
    double last[3] = {-1, 0, 0};
    if (slots > 0) read(slots - 1, last);
    if (slots > 0) {
      const bool sifts = level_ > 1 && slots > unsifted();
      if (sifts) measure();
      if (!sifts || far(last + 1, anchor_, near_)) begin(saved.extent.rows, slots);
      note(last[0], last + 1);
    }
    return true;
  }

 private:
  /// The highest level stores nothing; level 2 has the resolution of the smallest number.
  static constexpr std::int64_t kLevels = 2100, kSmallest = -1076;

  std::int64_t unsifted() const { return capacity_ / 16; }
  static double resolution(std::int64_t level) { return std::ldexp(1.0, static_cast<int>(level + kSmallest)); }
  double step_of(std::int64_t slot) const { return *table_.at(slot).data; }

  void read(std::int64_t slot, double* out) const {
    const Place place = table_.at(slot);
    for (std::int64_t k = 0; k <= dimension_; ++k) out[k] = place.data[k * place.stride];
  }

  bool far(const double* point, const double* from, const double* near) const {
    return std::abs(point[0] - from[0]) > near[0] || (dimension_ > 1 && std::abs(point[1] - from[1]) > near[1]);
  }

  /// Store a point that is far from the last one or exempt from this test. False if no memory is left.
  bool take(std::int64_t step, const double* point) {
    if (!sifts_ && level_ > 1 && slots_.load(std::memory_order_relaxed) >= unsifted()) {
      measure();
      if (!far(point, anchor_, near_)) return true;
    }
    if (slots_.load(std::memory_order_relaxed) == capacity_) {
      thin();
      return !far(point, anchor_, near_) || keep(step, point);
    }
    return keep(step, point);
  }

  bool keep(std::int64_t step, const double* point) {
    const std::int64_t slot = slots_.load(std::memory_order_relaxed);
    if (!table_.reach(slot)) return false;
    const Place place = table_.at(slot);
    place.data[0] = static_cast<double>(step);
    for (std::int64_t k = 0; k < dimension_; ++k) place.data[(k + 1) * place.stride] = anchor_[k] = point[k];
    slots_.store(slot + 1, std::memory_order_release);
    return true;
  }

  void note(double step, const double* point) {
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);  // odd: it is being written
    newest_[0].store(step, std::memory_order_release);       // a reader that sees one of these sees the version too
    for (std::int64_t k = 0; k < dimension_; ++k) newest_[k + 1].store(point[k], std::memory_order_release);
    version_.store(version + 2, std::memory_order_release);
  }

  /// Continue after `offers` points, of which `slots` are stored. The newest one is unknown.
  void begin(std::int64_t offers, std::int64_t slots) {
    constexpr double nowhere[2] = {0, 0};
    note(-1, nowhere);
    sifts_ = false;
    slots_.store(slots, std::memory_order_release);
    offered_.store(offers, std::memory_order_release);
  }

  /// Compute units and anchor from the first points, and select by distance from now on.
  void measure() {
    sifts_ = true;
    double low[3], high[3], row[3];
    read(0, low);
    read(0, high);
    for (std::int64_t slot = 1; slot < unsifted(); ++slot) {
      read(slot, row);
      for (std::int64_t k = 1; k <= dimension_; ++k) low[k] = std::min(low[k], row[k]);
      for (std::int64_t k = 1; k <= dimension_; ++k) high[k] = std::max(high[k], row[k]);
    }
    for (std::int64_t k = 0; k < dimension_; ++k) {
      const double extent = high[k + 1] - low[k + 1];
      unit_[k] = extent > 0 && std::isfinite(extent) ? extent : 1;
    }
    for (std::int64_t k = 0; k < dimension_; ++k) near_[k] = unit_[k] * resolution(level_);
    read(slots_ - 1, row);
    std::copy(row + 1, row + 1 + dimension_, anchor_);
  }

  /// Grow the resolution until at most half of the points after the first ones are left.
  void thin() {
    const std::lock_guard lock(mutex_);
    measure();
    const std::int64_t half = (capacity_ + unsifted()) / 2;
    std::int64_t low = level_, high = kLevels;
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (sift(middle, false, half) <= half ? high : low) = middle;
    }
    level_ = high;
    slots_.store(sift(high, true, capacity_), std::memory_order_release);
    ++generation_;
    measure();
  }

  /// The number of points that a level stores, at most `most` + 1. move: also move them together.
  std::int64_t sift(std::int64_t level, bool move, std::int64_t most) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const double near = unit_[0] * resolution(level), near2 = dimension_ > 1 ? unit_[1] * resolution(level) : kNever;
    std::int64_t kept = unsifted();
    double from[3] = {};
    read(kept - 1, from);
    for (std::int64_t slot = kept, now; slot < slots_ && kept <= most; slot += now) {
      const Place place = table_.at(slot);
      const double *const x = place.data + place.stride, *const y = x + (dimension_ - 1) * place.stride;
      now = std::min(place.left, slots_ - slot);
      for (std::int64_t i = 0; i < now && kept <= most; ++i) {
        if (!(std::abs(x[i] - from[1]) > near || std::abs(y[i] - from[2]) > near2)) continue;
        const double row[] = {place.data[i], from[1] = x[i], from[2] = y[i]};
        const Place to = move ? table_.at(kept) : Place{};
        for (std::int64_t k = 0; move && k <= dimension_; ++k) to.data[k * to.stride] = row[k];
        ++kept;
      }
    }
    return kept;
  }

  Table table_;
  const std::int64_t dimension_, capacity_;
  std::atomic<std::int64_t> offered_{0}, slots_{0};
  bool sifts_ = false;                                               // points are selected by distance
  double unit_[2] = {1, 1}, near_[2] = {0, 0}, anchor_[2] = {0, 0};  // anchor: the point stored last
  std::atomic<double> newest_[3] = {-1, 0, 0};
  std::atomic<std::uint64_t> version_{0};
  mutable std::mutex mutex_;
  std::int64_t level_ = 1, generation_ = 0;  // both change under the mutex
};

}  // namespace burlab::run
BURLAB_END
