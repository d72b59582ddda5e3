#pragma once
// Buffers that a step shifts: it drops the first row and appends a new one, as the pairs of L-BFGS are. The new row
// lies apart until the step is accepted, so that the table is in memory once.
#include <cstdint>
#include <cstring>

#include "../memory/buffer.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The number of a buffer of the state, and the bytes of one of its rows. Mirrored in Python.
struct ShiftBuffer {
  std::int64_t buffer, row;
};

class ShiftBuffers {
 public:
  ShiftBuffers(Ledger& ledger, const ShiftBuffer* buffer, std::int64_t count)
      : buffers_(ledger, Kind::scratch, count, buffer),
        shifts_(ledger, Kind::scratch, count),
        rows_(ledger, count > 0 ? Kind::optimizer_state : Kind::scratch, bytes(buffer, count)) {}

  bool ready() const { return buffers_.ready() && shifts_.ready() && rows_.data() != nullptr; }
  std::int64_t count() const { return buffers_.size(); }
  std::int64_t buffer(std::int64_t k) const { return buffers_[k].buffer; }

  /// The position of a buffer in this list; -1: it is not shifted.
  std::int64_t find(std::int64_t buffer) const {
    for (std::int64_t k = 0; k < count(); ++k)
      if (buffers_[k].buffer == buffer) return k;
    return -1;
  }
  /// Where a step writes the new row, and 1 if the buffer is to be shifted, else 0.
  char* row(std::int64_t k) const {
    char* place = rows_.data();
    for (std::int64_t i = 0; i < k; ++i) place += Memory::rounded(buffers_[i].row);
    return place;
  }
  std::int64_t* shifts(std::int64_t k) { return shifts_.begin() + k; }

  /// Return true if no buffer is to be shifted.
  bool stays() const {
    for (const std::int64_t shift : shifts_)
      if (shift != 0) return false;
    return true;
  }

  /// Shift a buffer, which has this memory, if it is to be.
  void apply(std::int64_t k, char* data, std::int64_t bytes) {
    const auto row_bytes = static_cast<std::size_t>(buffers_[k].row), all = static_cast<std::size_t>(bytes);
    if (shifts_[k] == 0) return;
    std::memmove(data, data + row_bytes, all - row_bytes);
    std::memcpy(data + all - row_bytes, row(k), row_bytes);
    shifts_[k] = 0;
  }

 private:
  static std::int64_t bytes(const ShiftBuffer* buffer, std::int64_t count) {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < count; ++k) sum += Memory::rounded(buffer[k].row);
    return sum;
  }

  const Buffer<ShiftBuffer> buffers_;
  Buffer<std::int64_t> shifts_;
  Memory rows_;
};

}  // namespace burlab::run
BURLAB_END
