#pragma once
// The record of every step of a run. Rows keep all their bits until a budget of bytes is reached. From then on two
// slots hold the minimum and the maximum of `span` rows, and the span doubles each time the table is full again. With a
// span of 2 these two slots are the two rows themselves, so one rule halves the table: of four slots, keep minimum and
// maximum.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "trail.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A table of doubles with a row per step. One thread writes; others read meanwhile. NaN is ignored: a pair is NaN only
/// if all its rows are.
class Record {
 public:
  /// budget: bytes for rows and time stamps together.
  Record(Ledger& ledger, Kind kind, std::int64_t columns, std::int64_t budget)
      : table_(ledger, kind, columns, Table::fitting(columns, budget - budget / 16)),
        stamps_(ledger, kind, 2, Table::fitting(2, budget / 16)) {}

  bool ready() const { return table_.ready() && stamps_.ready(); }
  std::int64_t columns() const { return table_.columns(); }

  /// Find memory for the next row. False if none is left.
  bool reserve() { return BURLAB_LIKELY(place_.left > 0) || advance(); }

  /// Append a row of `columns()` numbers. False if no memory is left.
  bool append(const double* row) {
    if (BURLAB_UNLIKELY(place_.left == 0) && !advance()) return false;
    const std::int64_t length = length_.load(std::memory_order_relaxed);
    if (BURLAB_LIKELY(span_ == 2)) {
      double* slot = place_.data;
      for (std::int64_t column = 0; column < columns(); ++column, slot += place_.stride) *slot = row[column];
      ++place_.data;
      --place_.left;
    } else {
      fold(row, 1);
    }
    length_.store(length + 1, std::memory_order_release);
    return true;
  }

  /// Append consecutive rows. Each column is contiguous, `stride` numbers from the next.
  bool append(const double* rows, std::int64_t stride, std::int64_t count) {
    for (std::int64_t now; count > 0; rows += now, count -= now) {
      if (place_.left == 0 && !advance()) return false;
      now = span_ == 2 ? std::min(count, place_.left) : 1;
      if (span_ == 2) {
        for (std::int64_t column = 0; column < columns(); ++column)
          std::copy_n(rows + column * stride, now, place_.data + column * place_.stride);
        place_.data += now;
        place_.left -= now;
      } else {
        fold(rows, stride);
      }
      length_.store(length_.load(std::memory_order_relaxed) + now, std::memory_order_release);
    }
    return true;
  }

  /// Store the end time of the last row, in nanoseconds. False if no memory is left.
  bool stamp(double time) {
    const double entry[] = {static_cast<double>(length() - 1), time};
    return stamps_.offer(entry);
  }

  /// Drop all but the first `rows` rows, and return how many remain: fewer if a pair joins rows from both sides,
  /// because a pair cannot be split. The caller writes the missing rows again.
  std::int64_t cut(std::int64_t rows) {
    const std::lock_guard lock(mutex_);
    if (rows >= length_.load(std::memory_order_relaxed)) return length_.load(std::memory_order_relaxed);
    const std::int64_t kept = keepable(rows);
    ++generation_;
    begin(kept);
    table_.keep(slots());
    stamps_.cut(stamps_.offers_below(0, static_cast<double>(kept)));
    return kept;
  }

  /// Copy the first `rows` rows to an empty record of as many columns, while neither is written. Returns how many it
  /// holds, as `cut` does; -1 if they do not fit or no memory is left.
  std::int64_t copy_to(Record& other, std::int64_t rows) const {
    const std::int64_t kept = keepable(rows);
    other.span_ = span_;
    if (!table_.copy_to(other.table_, slots(kept))) return -1;
    other.begin(kept);
    return stamps_.copy_to(other.stamps_, stamps_.offers_below(0, static_cast<double>(kept))) ? kept : -1;
  }

  // For readers on any thread:

  std::int64_t length() const { return length_.load(std::memory_order_acquire); }
  const Trail& stamps() const { return stamps_; }

  Extent extent() const {
    const std::lock_guard lock(mutex_);
    return {length(), span_, slots(), generation_};
  }

  /// Copy slots [first, first + count) of a column. False if they have changed since `generation`. The last pair may
  /// already include later rows.
  bool copy(std::int64_t generation, std::int64_t column, std::int64_t first, std::int64_t count, double* out) const {
    for (std::int64_t now; count > 0; count -= now, first += now, out += now) {
      now = std::min(count, kSlice);
      const std::lock_guard lock(mutex_);  // locked again for each slice, so that the run waits briefly
      if (generation != generation_ || first + now > slots()) return false;
      copy_slice(column, first, now, out);
    }
    return true;
  }

  /// Restore a saved record, before any row is appended. False if it does not fit.
  bool restore(const SavedTable& saved, const SavedTable& stamps) {
    const std::lock_guard lock(mutex_);
    span_ = saved.extent.span;
    const std::int64_t rows = saved.extent.rows;
    if (slots(rows) > table_.capacity() || !table_.fill(slots(rows), saved.columns)) return false;
    begin(rows);
    return stamps_.restore(stamps);
  }

 private:
  static constexpr std::int64_t kSlice = 1 << 16;

  std::int64_t slots() const { return slots(length()); }
  std::int64_t slots(std::int64_t rows) const { return span_ == 2 ? rows : (rows + span_ - 1) / span_ * 2; }

  /// The number of the first `rows` rows that no pair joins with later ones.
  std::int64_t keepable(std::int64_t rows) const {
    if (rows >= length()) return length();
    return span_ == 2 ? rows : rows / span_ * span_;
  }

  /// Continue after `rows` rows, whose slots are filled.
  void begin(std::int64_t rows) {
    open_ = span_ == 2 ? 0 : rows % span_;
    place_ = open_ > 0 ? table_.at(slots(rows) - 2) : Place{};
    length_.store(rows, std::memory_order_release);
  }

  /// Find the place of the next slot: in the next chunk, or in this table halved.
  bool advance() {
    const std::int64_t slot = slots();
    if (slot == table_.capacity()) {
      merge();
      return advance();
    }
    if (!table_.reach(slot)) return false;
    place_ = table_.at(slot);
    return true;
  }

  /// Add a row to the open pair, or open a pair. Readers may read it meanwhile. stride: from column to column.
  void fold(const double* row, std::int64_t stride) {
    double* pair = place_.data;
    for (std::int64_t column = 0; column < columns(); ++column, pair += place_.stride) {
      const double number = row[column * stride];
      if (open_ == 0 || less(number, pair[0])) store(pair[0], number);
      if (open_ == 0 || less(-number, -pair[1])) store(pair[1], number);
    }
    if (++open_ < span_) return;
    open_ = 0;
    place_.data += 2;
    place_.left -= 2;
  }

  void merge() {
    const std::lock_guard lock(mutex_);
    for (std::int64_t pair = 0; pair < table_.capacity() / 4; ++pair) {
      const Place to = table_.at(2 * pair), from = table_.at(4 * pair);
      for (std::int64_t column = 0; column < columns(); ++column) {
        const double* const four = from.data + column * from.stride;
        double low = four[0], high = four[0];
        for (int k = 1; k < 4; ++k) {
          if (less(four[k], low)) low = four[k];
          if (less(-four[k], -high)) high = four[k];
        }
        to.data[column * to.stride] = low;
        to.data[column * to.stride + 1] = high;
      }
    }
    span_ *= 2;
    ++generation_;
  }

  static bool less(double a, double b) { return a < b || b != b; }  // every number is less than NaN
  static void store(double& slot, double number) { std::atomic_ref(slot).store(number, std::memory_order_relaxed); }

  void copy_slice(std::int64_t column, std::int64_t first, std::int64_t count, double* out) const {
    const std::int64_t changing = span_ > 2 ? slots() - 2 : length();  // the first slot of the open pair
    const std::int64_t fixed = std::clamp<std::int64_t>(changing - first, 0, count);
    table_.copy(column, first, fixed, out);
    for (std::int64_t k = fixed; k < count; ++k) {
      const Place place = table_.at(first + k);
      out[k] = std::atomic_ref(place.data[column * place.stride]).load(std::memory_order_relaxed);
    }
  }

  Table table_;
  Trail stamps_;  // (row, nanoseconds)
  std::atomic<std::int64_t> length_{0};
  Place place_{};          // of the next slot, or of the open pair
  std::int64_t open_ = 0;  // rows in the pair that is not full yet
  mutable std::mutex mutex_;
  std::int64_t span_ = 2, generation_ = 0;  // both change under the mutex
};

}  // namespace burlab::run
BURLAB_END
