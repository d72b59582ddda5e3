#pragma once
// The memory of a tape: plain records in arrays, indexed by 32-bit numbers, so that a graph is two blocks of memory.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "../abi.hpp"

BURLAB_BEGIN
namespace burlab {

class Tape;

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

constexpr std::uint32_t leaf_code = 0;          // no operation: an input of gradients
constexpr std::uint32_t first_wide_code = 128;  // first code of operations over sequences, see wide.hpp

/// The one holder of a node: compaction moves nodes, and writes the new number to the holder.
struct Handle {
  Tape* tape;
  std::uint32_t index;
};

/// One recorded operation, in one cache line. Node 0 represents a constant operand, and "no such node": the sweep adds
/// to its gradient, which is never read, and so needs no branch.
struct alignas(64) Node {
  double value;
  double partial[2];        // derivative by each operand; for a constant operand: the constant
  std::uint32_t parent[2];  // of a wide operation: its first edge and the number of its edges
  double gradient;
  double earlier;       // while a sweep accumulates: the gradient from before
  std::uint32_t stamp;  // the last sweep that reached it
  std::uint32_t code;   // which operation, see rules.hpp
  Handle* holder;

  BURLAB_ANYWHERE bool interior() const { return code != leaf_code; }
  BURLAB_ANYWHERE bool wide() const { return code >= first_wide_code; }
  BURLAB_ANYWHERE std::uint32_t edges() const { return parent[1]; }  // of a wide operation
};
static_assert(sizeof(Node) == 64);

/// The distance of prefetching, in nodes. The CPU prefetches only to the end of a page (64 nodes), so a sweep over a
/// tape larger than its caches would wait at the start of each page.
constexpr std::uint32_t nodes_ahead = 100;

/// One operand of a wide operation, such as a sum over a sequence: parent 0 for a constant, then `partial` is the
/// constant.
struct Edge {
  double partial;
  std::uint32_t parent;
};

/// The user's name for a node; the tape knows only how to release `text`.
struct Label {
  std::uint32_t node;
  void* text;
};

/// The memory of a tape, by kind, in bytes.
struct TapeBytes {
  std::size_t nodes, edges, labels;
};

}  // namespace burlab
BURLAB_END
