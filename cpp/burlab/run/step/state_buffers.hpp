#pragma once
// The state that a run passes from step to step: x and the leaves of the optimizer's state. Each has two buffers, of
// which a step reads one and writes the other, and `swap` makes the written one current: so a step that is cancelled or
// rejected changes nothing. Or each has one, which a step writes only after it can no longer fail.
#include <cstdint>
#include <cstring>

#include "../memory/buffer.hpp"

BURLAB_BEGIN
namespace burlab::run {

class StateBuffers {
 public:
  /// bytes: of each buffer, x first; start: the first contents, or nullptr if they come later. in_place: one of each.
  StateBuffers(Ledger& ledger, std::int64_t count, const std::int64_t* bytes, const char* const* start, bool in_place)
      : phases_(in_place ? 1 : 2),
        sizes_(ledger, Kind::scratch, count, bytes),
        places_(ledger, Kind::scratch, 2 * count),
        x_(ledger, Kind::parameters, phases_ * Memory::rounded(bytes[0])),
        state_(ledger, Kind::optimizer_state, phases_ * (frame_bytes() - Memory::rounded(bytes[0]))) {
    if (!ready()) return;
    char* place = x_.data();
    for (std::int64_t k = 0; k < sizes_.size(); ++k) {
      if (k == 1) place = state_.data();
      for (std::int64_t phase = 0; phase < phases_; ++phase, place += Memory::rounded(sizes_[k]))
        places_[2 * k + phase] = place;
      if (start != nullptr) std::memcpy(current(k), start[k], size(k));
    }
  }

  bool ready() const { return sizes_.ready() && places_.ready() && x_.data() != nullptr && state_.data() != nullptr; }
  std::int64_t count() const { return sizes_.size(); }
  std::int64_t bytes(std::int64_t k) const { return sizes_[k]; }

  bool in_place() const { return phases_ == 1; }
  char* current(std::int64_t k) const { return places_[2 * k + phase_]; }
  /// Where a step writes, unless it writes in place.
  char* next(std::int64_t k) const { return places_[2 * k + 1 - phase_]; }
  void swap() {
    if (!in_place()) phase_ = 1 - phase_;
  }

  /// Return true if the written buffers equal the ones read. Not in place.
  bool stays() const {
    for (std::int64_t k = 0; k < count(); ++k)
      if (std::memcmp(current(k), next(k), size(k)) != 0) return false;
    return true;
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
  std::size_t size(std::int64_t k) const { return static_cast<std::size_t>(sizes_[k]); }

  const std::int64_t phases_;
  Buffer<std::int64_t> sizes_;
  Buffer<char*> places_;  // of each buffer in both phases
  Memory x_, state_;
  std::int64_t phase_ = 0, loads_ = 0;
};

}  // namespace burlab::run
BURLAB_END
