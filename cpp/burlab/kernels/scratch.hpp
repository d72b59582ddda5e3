#pragma once
// Memory for one call of a kernel; large blocks are retained for later calls.
#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Retained blocks of ended calls: the system would provide a new large block page by page, each with a page fault, and
/// reclaim it when it is freed. Threads share the blocks without a lock, and a block belongs to one call at a time.
struct ScratchPool {
  struct alignas(16) Block {  // alignment of malloc
    std::size_t size;         // bytes behind this header
  };
  static constexpr int kSlots = 8;
  static constexpr std::size_t kMinBytes = 1 << 16;    // malloc retains smaller blocks itself
  static constexpr std::size_t kMaxBytes = 64u << 20;  // bytes of all retained blocks together

  /// A block of at least this size, or nullptr if there is no memory. Retained blocks of more than four times the size
  /// are not used.
  Block* take(std::size_t size) {
    for (auto& slot : slots) {
      if (!slot.load(std::memory_order_relaxed)) continue;
      Block* block = slot.exchange(nullptr, std::memory_order_acquire);
      if (!block) continue;
      if (block->size >= size && block->size / 4 <= size) {
        held.fetch_sub(block->size, std::memory_order_relaxed);
        return block;
      }
      Block* empty = nullptr;
      if (!slot.compare_exchange_strong(empty, block, std::memory_order_release)) drop(block);
    }
    Block* block = static_cast<Block*>(std::malloc(sizeof(Block) + size));
    if (block) block->size = size;
    return block;
  }

  /// Retain a block whose call has ended. The block at the next place was not used for a round of calls, so it is
  /// freed.
  void give(Block* block) {
    std::atomic<Block*>& slot = slots[turns.fetch_add(1, std::memory_order_relaxed) % kSlots];
    if (Block* old = slot.exchange(nullptr, std::memory_order_acquire)) drop(old);
    if (held.fetch_add(block->size, std::memory_order_relaxed) + block->size > kMaxBytes) return drop(block);
    if (Block* other = slot.exchange(block, std::memory_order_acq_rel)) drop(other);
  }

  void drop(Block* block) {
    held.fetch_sub(block->size, std::memory_order_relaxed);
    std::free(block);
  }

  std::atomic<Block*> slots[kSlots];
  std::atomic<std::size_t> held;  // bytes
  std::atomic<unsigned> turns;
};

inline ScratchPool scratch_pool{};

/// Memory of one call, released at its end; data is nullptr if there is none.
template <class T> struct Scratch {
  explicit Scratch(Int size) : bytes_(static_cast<std::size_t>(size + 1) * sizeof(T)), data(make()) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (bytes_ < ScratchPool::kMinBytes) {
      std::free(data);
    } else if (data) {
      scratch_pool.give(reinterpret_cast<ScratchPool::Block*>(data) - 1);
    }
  }

 private:
  T* make() const {
    if (bytes_ < ScratchPool::kMinBytes) return static_cast<T*>(std::malloc(bytes_));
    ScratchPool::Block* block = scratch_pool.take(bytes_);
    return block ? reinterpret_cast<T*>(block + 1) : nullptr;
  }

  const std::size_t bytes_;

 public:
  T* const data;
};

}  // namespace burlab::kernels
BURLAB_END
