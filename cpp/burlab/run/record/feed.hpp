#pragma once
// The newest rows of a run, for a reader that must see every row: the loop waits if the reader falls behind.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "../memory/ledger.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The contents of a feed: rows [taken, head). The generation changes when rows are dropped. Mirrored in Python.
struct FeedView {
  std::int64_t taken, head, generation;
};

/// A ring of rows. The loop's thread writes; others read rows that are not taken yet.
class Feed {
 public:
  /// rows: the capacity, a power of 2.
  Feed(Ledger& ledger, std::int64_t columns, std::int64_t rows)
      : columns_(columns), rows_(rows), memory_(ledger, Kind::scratch, 8 * columns * rows) {}

  bool ready() const { return memory_.data() != nullptr; }
  FeedView view() const { return {taken_, closed_ ? taken_ : head_.load(std::memory_order_acquire), generation_}; }
  bool half_full() const { return view().head - taken_ >= rows_ / 2; }

  /// The row up to which to write before the next poll: the next half.
  std::int64_t limit() const { return taken_ + (half_full() ? rows_ : rows_ / 2); }

  /// Write row `number`, which is below the limit; a row that is written again is not new.
  void push(std::int64_t number, const double* row) {
    const std::int64_t head = head_.load(std::memory_order_relaxed);
    if (number < head) return;
    double* slot = data() + (head & (rows_ - 1));
    for (std::int64_t column = 0; column < columns_; ++column, slot += rows_) *slot = row[column];
    head_.store(head + 1, std::memory_order_release);
  }

  /// Copy rows [first, first + count) of a column; garbage if they were overwritten.
  void copy(std::int64_t column, std::int64_t first, std::int64_t count, double* out) const {
    const double* const from = data() + column * rows_;
    for (std::int64_t row = first; row < first + count; ++row) *out++ = from[row & (rows_ - 1)];
  }

  // Only while the loop is held or polls:

  /// The rows below `row` are no longer needed. last: nor are the following ones. False: they were dropped meanwhile.
  bool take(std::int64_t generation, std::int64_t row, bool last) {
    if (generation != generation_) return false;
    taken_ = row;
    closed_ = last;
    return true;
  }

  /// Drop the rows from `row` on.
  void begin(std::int64_t row) {
    head_ = row;
    taken_ = std::min(taken_, row);
    closed_ = false;
    ++generation_;
  }

  /// Drop all rows and continue at `row`.
  void skip_to(std::int64_t row) {
    taken_ = row;
    begin(row);
  }

  void inherit(const Feed& other) {
    std::memcpy(memory_.data(), other.memory_.data(), static_cast<std::size_t>(memory_.bytes()));
    head_ = other.head_.load();
    taken_ = other.taken_;
    closed_ = other.closed_;
  }

 private:
  double* data() const { return reinterpret_cast<double*>(memory_.data()); }

  const std::int64_t columns_, rows_;
  Memory memory_;
  std::atomic<std::int64_t> head_{0};
  std::int64_t taken_ = 0, generation_ = 0;
  bool closed_ = false;  // until `begin`
};

}  // namespace burlab::run
BURLAB_END
