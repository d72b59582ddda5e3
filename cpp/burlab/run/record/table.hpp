#pragma once
// Columns of doubles that grow to a capacity and never move: chunks of doubling size, then of equal size.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "../memory/ledger.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The place of a slot: column c at data[c * stride]; and the number of contiguous slots from it on.
struct Place {
  double* data;
  std::int64_t stride, left;
};

/// Slots 0 to capacity - 1 of every column. The owner synchronizes readers.
class Table {
 public:
  Table(Ledger& ledger, Kind kind, std::int64_t columns, std::int64_t capacity)
      : ledger_(ledger),
        kind_(kind),
        columns_(columns),
        capacity_(std::max(capacity / 4 * 4, kMinRows)),
        chunks_(chunk_of(capacity_ - 1) + 1),
        pointers_(ledger, kind, chunks_ * static_cast<std::int64_t>(sizeof(double*))) {
    if (ready()) std::memset(pointers_.data(), 0, static_cast<std::size_t>(pointers_.bytes()));
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() {
    if (ready()) keep(0);
  }

  /// The number of slots that fit in a budget of bytes, with pointers to their chunks and the rounding of sizes.
  static std::int64_t fitting(std::int64_t columns, std::int64_t budget) {
    const std::int64_t bytes = std::clamp<std::int64_t>(budget - 256, 0, kHuge);
    const std::int64_t chunk = 8 * columns * kLargest + 8;
    return bytes / chunk * kLargest + bytes % chunk / (8 * columns + 1);
  }

  bool ready() const { return pointers_.data() != nullptr; }
  std::int64_t columns() const { return columns_; }
  std::int64_t capacity() const { return capacity_; }  // a multiple of 4

  /// Allocate memory for a slot below the capacity if needed. False if no memory is left.
  bool reach(std::int64_t slot) {
    const std::int64_t k = chunk_of(slot);
    double*& chunk = chunks()[k];
    if (chunk == nullptr) chunk = static_cast<double*>(ledger_.take(kind_, bytes(k)));
    return chunk != nullptr;
  }

  /// The place of an allocated slot.
  Place at(std::int64_t slot) const {
    const std::int64_t k = chunk_of(slot), row = slot - start(k);
    return {chunks()[k] + row, rows(k), rows(k) - row};
  }

  void copy(std::int64_t column, std::int64_t first, std::int64_t count, double* out) const {
    while (count > 0) {
      const Place place = at(first);
      const std::int64_t now = std::min(place.left, count);
      std::memcpy(out, place.data + column * place.stride, static_cast<std::size_t>(now) * sizeof(double));
      out += now;
      first += now;
      count -= now;
    }
  }

  /// Fill slots [0, count) of every column. False if no memory is left.
  bool fill(std::int64_t count, const double* const* columns) {
    for (std::int64_t slot = 0; slot < count;) {
      if (!reach(slot)) return false;
      const Place place = at(slot);
      const std::int64_t now = std::min(place.left, count - slot);
      for (std::int64_t column = 0; column < columns_; ++column)
        std::memcpy(place.data + column * place.stride, columns[column] + slot,
                    static_cast<std::size_t>(now) * sizeof(double));
      slot += now;
    }
    return true;
  }

  /// Copy slots [0, count) to another table of as many columns. False if they do not fit or no memory is left.
  bool copy_to(Table& other, std::int64_t count) const {
    if (count > other.capacity()) return false;
    for (std::int64_t slot = 0; slot < count;) {
      if (!other.reach(slot)) return false;
      const Place from = at(slot), to = other.at(slot);
      const std::int64_t now = std::min({from.left, to.left, count - slot});
      for (std::int64_t column = 0; column < columns_; ++column)
        std::memcpy(to.data + column * to.stride, from.data + column * from.stride,
                    static_cast<std::size_t>(now) * sizeof(double));
      slot += now;
    }
    return true;
  }

  /// Free the chunks without a slot below `slots`.
  void keep(std::int64_t slots) {
    for (std::int64_t k = slots == 0 ? 0 : chunk_of(slots - 1) + 1; k < chunks_; ++k) {
      ledger_.give(kind_, chunks()[k], bytes(k));
      chunks()[k] = nullptr;
    }
  }

 private:
  static constexpr std::int64_t kMinRows = 64, kFirst = 256, kDoublings = 8;  // the largest chunk has 65,536 rows
  static constexpr std::int64_t kLargest = kFirst << kDoublings, kDoubled = kLargest - kFirst;
  static constexpr std::int64_t kHuge = std::int64_t{1} << 40;  // bytes: no budget is larger

  static std::int64_t chunk_of(std::int64_t slot) {
    if (slot >= kDoubled) return kDoublings + (slot - kDoubled) / kLargest;
    return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(slot / kFirst + 1))) - 1;
  }
  static std::int64_t start(std::int64_t k) {
    return k < kDoublings ? (kFirst << k) - kFirst : kDoubled + (k - kDoublings) * kLargest;
  }
  std::int64_t rows(std::int64_t k) const {
    return std::min(k < kDoublings ? kFirst << k : kLargest, capacity_ - start(k));
  }
  std::int64_t bytes(std::int64_t k) const { return rows(k) * columns_ * static_cast<std::int64_t>(sizeof(double)); }
  double** chunks() const { return reinterpret_cast<double**>(pointers_.data()); }

  Ledger& ledger_;
  Kind kind_;
  std::int64_t columns_, capacity_, chunks_;
  Memory pointers_;
};

}  // namespace burlab::run
BURLAB_END
