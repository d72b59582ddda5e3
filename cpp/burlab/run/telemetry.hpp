#pragma once
// What a run writes down at every step, and when: a growing table that others may read meanwhile, and a thrifty
// stopwatch.
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A table of doubles. One thread appends; others read rows below `length()`, which never move and never change.
/// Chunk k holds 1024 * 2^k rows, column after column, so 40 pointers reach farther than any memory.
class Record {
 public:
  explicit Record(std::int64_t columns) : columns_(columns) {}
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  ~Record() {
    for (double* chunk : chunks_) std::free(chunk);
  }

  std::int64_t columns() const { return columns_; }
  std::int64_t length() const { return length_.load(std::memory_order_acquire); }

  /// Bytes of the chunks in use; the system backs only what was written.
  std::int64_t bytes() const {
    const Place last = place(length() - 1);
    return length() == 0 ? 0 : 8 * columns_ * first_rows * ((std::int64_t{2} << last.chunk) - 1);
  }

  /// Append one row of `columns()` numbers. False where there is no memory left.
  bool append(const double* row) {
    const std::int64_t length = length_.load(std::memory_order_relaxed);
    const Place at = place(length);
    double*& chunk = chunks_[at.chunk];
    if (chunk == nullptr) chunk = static_cast<double*>(std::malloc(static_cast<std::size_t>(8 * columns_ * at.rows)));
    if (chunk == nullptr) return false;
    for (std::int64_t column = 0; column < columns_; ++column) chunk[column * at.rows + at.row] = row[column];
    length_.store(length + 1, std::memory_order_release);
    return true;
  }

  /// Forget the rows from `length` on.
  void cut(std::int64_t length) { length_.store(length, std::memory_order_release); }

  /// Copy rows [first, first + count) of one column to `out`. They must exist.
  void copy(std::int64_t column, std::int64_t first, std::int64_t count, double* out) const {
    for (std::int64_t i = first; i < first + count; ++i) {
      const Place at = place(i);
      *out++ = chunks_[at.chunk][column * at.rows + at.row];
    }
  }

 private:
  static constexpr std::int64_t first_rows = 1024;
  struct Place {
    std::size_t chunk;
    std::int64_t rows, row;  // of the chunk, inside of it
  };

  static Place place(std::int64_t i) {
    const auto chunk = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(i / first_rows + 1))) - 1;
    const std::int64_t rows = first_rows << chunk;
    return {chunk, rows, i - (rows - first_rows)};
  }

  std::int64_t columns_;
  std::atomic<std::int64_t> length_{0};
  std::array<double*, 40> chunks_{};
};

/// Nanoseconds that a run has been running. A clock read costs about 20 ns, so short steps share one.
class Stopwatch {
 public:
  void resume() {
    if (!running_) last_ = begin_ = Clock::now();
    running_ = true;
  }
  void pause() {
    if (running_) before_ += Clock::now() - begin_;
    running_ = false;
  }

  /// The time while running, or NaN for a step that gets no stamp of its own.
  double stamp() {
    if (--wait_ > 0) return std::numeric_limits<double>::quiet_NaN();
    const auto now = Clock::now();
    const auto gap = now - last_;  // aim at one read in about two microseconds
    if (gap < std::chrono::microseconds(1) && period_ < 1024) period_ *= 2;
    if (gap > std::chrono::microseconds(4) && period_ > 1) period_ /= 2;
    wait_ = period_;
    last_ = now;
    return nanoseconds(before_ + (now - begin_));
  }

  /// The time while paused.
  double total() const { return nanoseconds(before_); }

 private:
  using Clock = std::chrono::steady_clock;
  static double nanoseconds(Clock::duration time) {
    return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  }

  Clock::time_point begin_, last_;
  Clock::duration before_{};
  int period_ = 1, wait_ = 1;
  bool running_ = false;
};

}  // namespace burlab::run
BURLAB_END
