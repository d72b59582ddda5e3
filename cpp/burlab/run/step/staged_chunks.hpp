#pragma once
// Memory beside the state for an update in place: what it computes for a chunk of entries lies there until nothing
// reads the old entries any more; or, where the update writes over them at once, the old entries of x lie there.
#include <cstdint>
#include <cstring>

#include "../abi/plan.hpp"
#include "../memory/buffer.hpp"
#include "state_buffers.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A chunk of each buffer; of a buffer of one number, which all entries share, this number.
class StagedChunk {
 public:
  /// plan, state: must outlive it. Without memory if the update does not write in place.
  StagedChunk(Ledger& ledger, const Plan& plan, StateBuffers& state)
      : plan_(plan), state_(state), memory_(ledger, Kind::scratch, bytes()) {}

  bool ready() const { return memory_.data() != nullptr; }

  /// The offset in bytes, in a buffer, of the entry for x's entry `first`.
  std::int64_t at(std::int64_t buffer, std::int64_t first) const {
    return is_number(buffer) ? 0 : state_.bytes(buffer) / plan_.dimension * first;
  }

  /// Call act(k, place) for the place of each buffer's chunk, x first.
  template <class Act> void each(Act act) const {
    char* place = memory_.data();
    for (std::int64_t k = 0; k < state_.own(); place += size(k++)) act(k, place);
  }
  /// Likewise, for an update that writes over the state at once, from entry `first` on; but numbers are staged.
  template <class Act> void each_direct(std::int64_t first, Act act) const {
    each([=, this](std::int64_t k, char* place) { act(k, is_number(k) ? place : state_.current(k) + at(k, first)); });
  }
  char* x() const { return memory_.data(); }
  /// Copy entries of x, from `first` on, before they are written over.
  void keep_x(std::int64_t first) const {
    std::memcpy(x(), state_.current(0) + at(0, first), static_cast<std::size_t>(at(0, plan_.chunk)));
  }

  /// Copy entries [from, chunk) of the staged vectors over the state, from entry `first` of x on.
  void write(std::int64_t first, std::int64_t from) const {
    each([=, this](std::int64_t k, const char* place) {
      if (is_number(k)) return;
      const std::int64_t skip = at(k, from), bytes = at(k, plan_.chunk) - skip;
      std::memcpy(state_.current(k) + at(k, first), place + skip, static_cast<std::size_t>(bytes));
    });
  }
  /// After all chunks: copy the numbers.
  void write_numbers() const {
    each([this](std::int64_t k, const char* place) {
      if (is_number(k)) std::memcpy(state_.current(k), place, static_cast<std::size_t>(state_.bytes(k)));
    });
  }

 private:
  bool is_number(std::int64_t buffer) const { return state_.bytes(buffer) < plan_.dimension; }
  std::int64_t size(std::int64_t k) const {
    return Memory::rounded(is_number(k) ? state_.bytes(k) : state_.bytes(k) / plan_.dimension * plan_.chunk);
  }
  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; plan_.in_place != 0 && k < state_.own(); ++k) sum += size(k);
    return sum;
  }

  const Plan& plan_;
  StateBuffers& state_;
  Memory memory_;
};

}  // namespace burlab::run
BURLAB_END
