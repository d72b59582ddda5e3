#pragma once
// Memory that one call of a kernel needs; large blocks are kept for later calls.
#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// What ended calls leave for later ones: the system hands out a large block page by page, each with a fault, and takes
/// it back when it is freed. Threads share it without a lock, and a block belongs to one call at a time.
struct ScratchPool {
  struct alignas(16) Block {  // what malloc aligns to
    std::size_t size;         // bytes behind this header
  };
  static constexpr int kSlots = 8;
  static constexpr std::size_t kMinBytes = 1 << 16;    // smaller blocks are malloc's matter, which keeps them
  static constexpr std::size_t kMaxBytes = 64u << 20;  // bytes that lie here, all blocks together

  /// A block of at least this size, nullptr where there is no memory. One of more than four times the size is left to
  /// others.
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

  /// A block whose call has ended. What lay at the place that comes next was of no use for a round of calls: it goes.
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

/// Memory of one call, given back at its end; data is nullptr where there is none.
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
