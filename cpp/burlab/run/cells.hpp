#pragma once
// What a run carries from step to step: x and the leaves of the optimizer's state, each twice. A step reads the one of
// each pair and writes the other; `turn` makes what was written current, so a step that is left halfway leaves no
// trace.
#include <cstdint>
#include <cstring>
#include <vector>

#include "summand.hpp"

BURLAB_BEGIN
namespace burlab::run {

class Cells {
 public:
  /// bytes: of each cell; start: its first contents.
  Cells(std::int64_t count, const std::int64_t* bytes, const char* const* start)
      : sizes_(bytes, bytes + count), memory_(2 * total(sizes_)) {
    char* place = memory_.data();
    if (place == nullptr) return;
    for (const auto size : sizes_) {
      places_.push_back(place);
      std::memcpy(place, *start++, static_cast<std::size_t>(size));
      place += Memory::rounded(size);
    }
  }

  bool ready() const { return memory_.data() != nullptr; }
  std::int64_t bytes() const { return memory_.bytes(); }
  std::size_t count() const { return sizes_.size(); }

  char* current(std::size_t k) const { return places_[k] + phase_ * memory_.bytes() / 2; }
  char* next(std::size_t k) const { return places_[k] + (1 - phase_) * memory_.bytes() / 2; }
  void turn() { phase_ = 1 - phase_; }

  void copy(std::size_t k, char* out) const { std::memcpy(out, current(k), static_cast<std::size_t>(sizes_[k])); }

 private:
  static std::int64_t total(const std::vector<std::int64_t>& sizes) {
    std::int64_t bytes = 0;
    for (const auto size : sizes) bytes += Memory::rounded(size);
    return bytes;
  }

  std::vector<std::int64_t> sizes_;
  Memory memory_;  // one half for each phase
  std::vector<char*> places_;
  std::int64_t phase_ = 0;
};

}  // namespace burlab::run
BURLAB_END
