#pragma once
// Every stride-th of the offered rows: end times of a run's steps.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "table.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The extent of a table at a moment. A reader passes the generation back when it copies. Mirrored in Python.
struct Extent {
  std::int64_t rows;   // written, or offered
  std::int64_t span;   // of a trail: the stride; of a record: the rows that two slots stand for; of a path: a level
  std::int64_t slots;  // to read, per column
  std::int64_t generation;  // changes when slots are rewritten
};

/// A saved table: its extent, and the slots of each column. Mirrored in Python.
struct SavedTable {
  Extent extent;
  const double* const* columns;
};

/// Stores the rows at multiples of a stride, which doubles when the capacity is reached. One thread writes.
class Trail {
 public:
  Trail(Ledger& ledger, Kind kind, std::int64_t columns, std::int64_t capacity)
      : table_(ledger, kind, columns, capacity) {}

  bool ready() const { return table_.ready(); }
  std::int64_t columns() const { return table_.columns(); }

  /// Offer the next row. False if no memory is left.
  bool offer(const double* row) {
    const std::int64_t offered = offered_.load(std::memory_order_relaxed);
    if (offered == wanted_) {
      const std::int64_t slot = offered / stride_;
      if (slot == table_.capacity()) {
        thin();
        return offer(row);
      }
      if (!table_.reach(slot)) return false;
      const Place place = table_.at(slot);
      for (std::int64_t column = 0; column < columns(); ++column) place.data[column * place.stride] = row[column];
      wanted_ += stride_;
    }
    offered_.store(offered + 1, std::memory_order_release);
    return true;
  }

  /// Drop all but the first `offers` offers.
  void cut(std::int64_t offers) {
    const std::lock_guard lock(mutex_);
    if (offers >= offered_.load(std::memory_order_relaxed)) return;
    ++generation_;
    begin(offers);
    table_.keep(slots(offers));
  }

  /// The number of offers before the first stored one whose `column` is at least `bound`; the column never falls.
  std::int64_t offers_below(std::int64_t column, double bound) const {
    const std::int64_t offered = offered_.load(std::memory_order_relaxed);
    std::int64_t low = 0, high = slots(offered);
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      const Place place = table_.at(middle);
      if (place.data[column * place.stride] < bound) low = middle + 1;
      else high = middle;
    }
    return std::min(low * stride_, offered);
  }

  /// Copy the first `offers` offers to an empty trail of as many columns, while neither is written. False if they do
  /// not fit or no memory is left.
  bool copy_to(Trail& other, std::int64_t offers) const {
    other.stride_ = stride_;
    if (!table_.copy_to(other.table_, slots(offers))) return false;
    other.begin(offers);
    return true;
  }

  // For readers on any thread:

  Extent extent() const {
    const std::lock_guard lock(mutex_);
    const std::int64_t offered = offered_.load(std::memory_order_acquire);
    return {offered, stride_, slots(offered), generation_};
  }

  /// Copy slots [first, first + count) of a column. False if they have changed since `generation`.
  bool copy(std::int64_t generation, std::int64_t column, std::int64_t first, std::int64_t count, double* out) const {
    const std::lock_guard lock(mutex_);
    if (generation != generation_ || first + count > slots(offered_.load(std::memory_order_acquire))) return false;
    table_.copy(column, first, count, out);
    return true;
  }

  /// Restore a saved trail, before any offer. False if it does not fit.
  bool restore(const SavedTable& saved) {
    const std::lock_guard lock(mutex_);
    stride_ = saved.extent.span;
    const std::int64_t count = slots(saved.extent.rows);
    if (count > table_.capacity() || !table_.fill(count, saved.columns)) return false;
    begin(saved.extent.rows);
    return true;
  }

 private:
  std::int64_t slots(std::int64_t offers) const { return (offers + stride_ - 1) / stride_; }

  void begin(std::int64_t offers) {
    offered_.store(offers, std::memory_order_release);
    wanted_ = slots(offers) * stride_;
  }

  void thin() {
    const std::lock_guard lock(mutex_);
    for (std::int64_t slot = 1; slot < table_.capacity() / 2; ++slot) {
      const Place to = table_.at(slot), from = table_.at(2 * slot);
      for (std::int64_t column = 0; column < columns(); ++column)
        to.data[column * to.stride] = from.data[column * from.stride];
    }
    stride_ *= 2;
    ++generation_;
    wanted_ = table_.capacity() / 2 * stride_;
  }

  Table table_;
  std::atomic<std::int64_t> offered_{0};
  std::int64_t wanted_ = 0;  // the next offer to store
  mutable std::mutex mutex_;
  std::int64_t stride_ = 1, generation_ = 0;  // both change under the mutex
};

}  // namespace burlab::run
BURLAB_END
