#pragma once
// Buffers of which a step writes some rows. The two buffers of a pair differ only in the rows that were written last,
// so only these are copied before the next step, which then writes into the copy.
#include <cstdint>
#include <cstring>
#include <memory>

#include "state_buffers.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The number of a buffer, the bytes of one of its rows, and how many rows a step writes. Mirrored in Python.
struct RowBuffer {
  std::int64_t buffer, row, rows;
};

class RowBuffers {
 public:
  RowBuffers(Ledger& ledger, const RowBuffer* buffer, std::int64_t count)
      : buffers_(ledger, Kind::scratch, count, buffer),
        places_(ledger, Kind::scratch, count),
        written_(ledger, Kind::scratch, total(buffer, count)) {
    std::int64_t* place = written_.data();
    for (std::int64_t k = 0; k < places_.size(); ++k) {
      places_[k] = place;
      place += buffer[k].rows;
    }
  }

  bool ready() const { return buffers_.ready() && places_.ready() && written_.ready(); }

  /// Make the next buffers equal to the current ones. Until `done` their differences are unknown.
  void copy(const StateBuffers& state) {
    const bool known = known_ && loads_ == state.loads();
    known_ = false;
    for (std::int64_t k = 0; k < buffers_.size(); ++k) {
      const RowBuffer& t = buffers_[k];
      char* const to = state.next(t.buffer);
      const char* const from = state.current(t.buffer);
      if (known) {
        for (const std::int64_t* row = places_[k]; row != places_[k] + t.rows; ++row)
          std::memcpy(to + *row * t.row, from + *row * t.row, static_cast<std::size_t>(t.row));
      } else {
        std::memcpy(to, from, static_cast<std::size_t>(state.bytes(t.buffer)));
      }
    }
    loads_ = state.loads();
  }

  /// Call after a step has written its rows.
  void done() { known_ = true; }

  const Buffer<RowBuffer>& all() const { return buffers_; }
  /// The memory where a step lists the rows that it writes.
  const Buffer<std::int64_t*>& written() const { return places_; }

 private:
  static std::int64_t total(const RowBuffer* buffer, std::int64_t count) {
    std::int64_t rows = 0;
    for (std::int64_t k = 0; k < count; ++k) rows += buffer[k].rows;
    return rows;
  }

  Buffer<RowBuffer> buffers_;
  Buffer<std::int64_t*> places_;
  Buffer<std::int64_t> written_;
  bool known_ = false;
  std::int64_t loads_ = 0;  // loads of the state when the buffers were equal
};

}  // namespace burlab::run
BURLAB_END
