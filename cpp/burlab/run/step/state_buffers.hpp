#pragma once
// The state that a run passes from step to step: x, the leaves of the optimizer's state and, last, those of the state
// of the loss. Each has two buffers, of
// which a step reads one and writes the other, and `swap` makes the written one current: so a step that is cancelled or
// rejected changes nothing. Or it has one, which a step in place writes only after it can no longer fail, and which
// `swap` shifts by a row.
#include <cstdint>
#include <cstring>

#include "../memory/buffer.hpp"
#include "shift_buffers.hpp"

BURLAB_BEGIN
namespace burlab::run {

class StateBuffers {
 public:
  /// bytes: of each buffer, x first; start: the first contents, nullptr for zeros; nullptr if they come later.
  /// in_place: one of each. shifted: the `shifts` buffers that a step shifts. loss_buffers: how many are the state of
  /// the loss.
  StateBuffers(Ledger& ledger, std::int64_t count, const std::int64_t* bytes, const char* const* start, bool in_place,
               const ShiftBuffer* shifted = nullptr, std::int64_t shifts = 0, std::int64_t loss_buffers = 0)
      : in_place_(in_place),
        shifted_(shifts > 0),
        own_(count - loss_buffers),
        shifts_(ledger, shifted, shifts),
        sizes_(ledger, Kind::scratch, count, bytes),
        places_(ledger, Kind::scratch, 4 * count),
        x_(ledger, Kind::parameters, bytes_of(0, 1)),
        state_(ledger, Kind::optimizer_state, bytes_of(1, count)) {
    if (!ready()) return;
    char* place = x_.data();
    for (std::int64_t k = 0; k < sizes_.size(); ++k) {
      if (k == 1) place = state_.data();
      char* const other = place + (copies(k) - 1) * Memory::rounded(sizes_[k]);
      places_[4 * k] = places_[4 * k + 3] = place;
      places_[4 * k + 1] = places_[4 * k + 2] = other;
      if (const std::int64_t shift = shifts_.find(k); shift >= 0)
        places_[4 * k + 2] = places_[4 * k + 3] = shifts_.row(shift);
      place = other + Memory::rounded(sizes_[k]);
      if (start == nullptr) continue;
      if (start[k] != nullptr) std::memcpy(current(k), start[k], size(k));
      else std::memset(current(k), 0, size(k));
    }
  }

  bool ready() const {
    return shifts_.ready() && sizes_.ready() && places_.ready() && x_.data() != nullptr && state_.data() != nullptr;
  }
  std::int64_t count() const { return sizes_.size(); }
  /// The number of x and the optimizer's buffers, which come first.
  std::int64_t own() const { return own_; }
  std::int64_t bytes(std::int64_t k) const { return sizes_[k]; }

  bool in_place() const { return in_place_; }
  char* current(std::int64_t k) const { return places_[4 * k + phase_]; }
  /// Where a step writes, unless it writes in place; of a shifted buffer, its new row.
  char* next(std::int64_t k) const { return places_[4 * k + 2 + phase_]; }
  /// The number of shifted buffers, and where a step writes whether each is to be shifted.
  std::int64_t shifts() const { return shifts_.count(); }
  std::int64_t* shift(std::int64_t k) { return shifts_.shifts(k); }
  void swap() {
    phase_ = 1 - phase_;
    if (BURLAB_LIKELY(!shifted_)) return;
    for (std::int64_t k = 0; k < shifts_.count(); ++k)
      shifts_.apply(k, current(shifts_.buffer(k)), sizes_[shifts_.buffer(k)]);
  }

  /// Return true if the written buffers equal the ones read. Not in place.
  BURLAB_NOINLINE bool stays() const {
    for (std::int64_t k = 0; k < count(); ++k)
      if (shifts_.find(k) < 0 && std::memcmp(current(k), next(k), size(k)) != 0) return false;
    return shifts_.stays();
  }

  void copy(std::int64_t k, char* out) const { std::memcpy(out, current(k), size(k)); }

  /// Bytes of a copy of all buffers, each at a multiple of 64.
  std::int64_t frame_bytes() const {
    std::int64_t bytes = 0;
    for (const auto size : sizes_) bytes += Memory::rounded(size);
    return bytes;
  }
  void save(char* frame) const {
    for (std::int64_t k = 0; k < count(); frame += Memory::rounded(sizes_[k]), ++k) copy(k, frame);
  }
  void load(const char* frame) {
    ++loads_;
    for (std::int64_t k = 0; k < count(); frame += Memory::rounded(sizes_[k]), ++k)
      std::memcpy(current(k), frame, size(k));
  }
  void load(const StateBuffers& other) {
    ++loads_;
    for (std::int64_t k = 0; k < count(); ++k) other.copy(k, current(k));
  }
  /// The number of loads: after a load the contents of the next buffers are unknown.
  std::int64_t loads() const { return loads_; }

 private:
  /// How many times a buffer is in memory.
  std::int64_t copies(std::int64_t k) const { return in_place_ || shifts_.find(k) >= 0 ? 1 : 2; }
  std::int64_t bytes_of(std::int64_t first, std::int64_t last) const {
    std::int64_t sum = 0;
    for (std::int64_t k = first; k < last; ++k) sum += copies(k) * Memory::rounded(sizes_[k]);
    return sum;
  }
  std::size_t size(std::int64_t k) const { return static_cast<std::size_t>(sizes_[k]); }

  const bool in_place_, shifted_;
  const std::int64_t own_;
  ShiftBuffers shifts_;
  Buffer<std::int64_t> sizes_;
  Buffer<char*> places_;  // of each buffer, where a step reads in both phases, and where it writes
  Memory x_, state_;
  std::int64_t phase_ = 0, loads_ = 0;
};

}  // namespace burlab::run
BURLAB_END
