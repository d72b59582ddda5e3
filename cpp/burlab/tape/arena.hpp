#pragma once
// Growable arrays of plain records, indexed by 32-bit numbers: the memory of a tape.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "../abi.hpp"

BURLAB_BEGIN
namespace burlab {

BURLAB_ANYWHERE std::size_t block_bytes(std::uint32_t count, std::size_t each) { return (count * each + 63) / 64 * 64; }

/// Move the `used` records of a block to new memory, and free the old one. Null, without a change, if there is no
/// memory. (One function for all types: each one costs time to compile.)
BURLAB_COLD void* move_block(void* old, std::uint32_t used, std::uint32_t wanted, std::size_t each) {
  void* fresh = wanted ? std::aligned_alloc(64, block_bytes(wanted, each)) : nullptr;
  if (wanted && !fresh) return nullptr;
  if (used) std::memcpy(fresh, old, used * each);
  std::free(old);
  return fresh;
}
BURLAB_ANYWHERE std::uint32_t grown(std::uint32_t capacity, std::uint32_t needed) {
  const std::uint32_t doubled = capacity > UINT32_MAX / 2 ? UINT32_MAX : 2 * capacity;
  return needed > doubled ? needed : doubled;
}

/// A growable array of plain records that starts on a cache line. It grows and shrinks only on request.
template <class T>
struct Block {
  static_assert(std::is_trivially_copyable_v<T>);
  T* at = nullptr;
  std::uint32_t size = 0, capacity = 0;

  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { std::free(at); }

  BURLAB_ANYWHERE T& operator[](std::uint32_t i) const { return at[i]; }
  std::size_t bytes() const { return block_bytes(capacity, sizeof(T)); }

  /// Change the capacity to `wanted` records, at least `size`; false, without a change, if there is no memory.
  BURLAB_ANYWHERE bool resize(std::uint32_t wanted) {
    void* fresh = move_block(at, size, wanted, sizeof(T));
    if (wanted && !fresh) return false;
    at = static_cast<T*>(fresh);
    capacity = wanted;
    return true;
  }

  /// Make room for `more` records, by doubling; false if memory or 32-bit numbers are exhausted.
  BURLAB_ANYWHERE bool reserve(std::uint32_t more) {
    return more <= capacity - size || (more <= UINT32_MAX - size && resize(grown(capacity, size + more)));
  }
};

}  // namespace burlab
BURLAB_END
