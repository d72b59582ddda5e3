#pragma once
// The allocator of a run. It counts memory by purpose; `run.memory` reports these counts.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "../../abi.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// What memory is for; `burlab/run/record/tables.py` has the same names in the same order.
enum class Kind : std::int64_t {
  parameters,
  gradients,
  activations,
  optimizer_state,
  scratch,
  history,
  events,
  keyframes,
  path,
  traces,
};
inline constexpr std::size_t kKinds = 10;

/// Allocates memory in multiples of 64 bytes, aligned to 64, and counts the bytes in use of each kind. Any thread may
/// call it.
class Ledger {
 public:
  Ledger() = default;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  static constexpr std::int64_t rounded(std::int64_t bytes) { return burlab::rounded(bytes < 1 ? 1 : bytes); }

  /// At least `bytes` bytes, not cleared; nullptr where there are none left.
  void* take(Kind kind, std::int64_t bytes) {
    void* const place = std::aligned_alloc(64, static_cast<std::size_t>(rounded(bytes)));
    if (place != nullptr) count(kind, rounded(bytes));
    return place;
  }

  /// Free memory from `take`, with the same kind and bytes.
  void give(Kind kind, void* place, std::int64_t bytes) {
    if (place != nullptr) count(kind, -rounded(bytes));
    std::free(place);
  }

  /// Count memory of a kind that other code allocates or frees.
  void count(Kind kind, std::int64_t bytes) {
    bytes_[static_cast<std::size_t>(kind)].fetch_add(bytes, std::memory_order_relaxed);
    const std::int64_t now = total_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    for (std::int64_t most = peak(); most < now && !peak_.compare_exchange_weak(most, now, std::memory_order_relaxed);)
      continue;
  }

  std::int64_t bytes(Kind kind) const { return bytes_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed); }
  std::int64_t total() const { return total_.load(std::memory_order_relaxed); }
  /// The largest total so far.
  std::int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<std::int64_t>, kKinds> bytes_{};
  std::atomic<std::int64_t> total_{0}, peak_{0};
};

/// 64-byte aligned memory that frees itself; nullptr if there was none left. The ledger must outlive it.
class Memory {
 public:
  Memory(Ledger& ledger, Kind kind, std::int64_t bytes)
      : ledger_(ledger), kind_(kind), bytes_(rounded(bytes)), data_(static_cast<char*>(ledger.take(kind, bytes))) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { ledger_.give(kind_, data_, bytes_); }

  static constexpr std::int64_t rounded(std::int64_t bytes) { return Ledger::rounded(bytes); }

  char* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  Ledger& ledger_;
  Kind kind_;
  std::int64_t bytes_;
  char* data_;
};

}  // namespace burlab::run
BURLAB_END
