#pragma once
// Plain values one after another, in counted memory. Replaces std::vector, which takes the interpreter as long to
// compile as the rest of a run.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ledger.hpp"

BURLAB_BEGIN
namespace burlab::run {

template <class T> class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer(Ledger& ledger, Kind kind) : ledger_(ledger), kind_(kind) {}
  /// `count` values, all zero; or those at `from`.
  Buffer(Ledger& ledger, Kind kind, std::int64_t count, const T* from = nullptr) : Buffer(ledger, kind) {
    if (!reserve(count)) return;
    if (count > 0 && from != nullptr) std::memcpy(begin(), from, bytes(count));
    else if (count > 0) std::memset(static_cast<void*>(begin()), 0, bytes(count));
    size_ = count;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { ledger_.give(kind_, data_, capacity_ * kSize); }

  /// Return true if all requested memory was available so far.
  bool ready() const { return ready_; }
  std::int64_t size() const { return size_; }
  T* data() { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::int64_t k) { return data_[k]; }
  const T& operator[](std::int64_t k) const { return data_[k]; }

  /// False where there is no memory left; then nothing has changed.
  bool insert(std::int64_t k, const T& value) {
    if (size_ == capacity_ && !reserve(std::max<std::int64_t>(2 * capacity_, 4))) return false;
    std::memmove(static_cast<void*>(data_ + k + 1), data_ + k, bytes(size_ - k));
    data_[k] = value;
    ++size_;
    return true;
  }
  bool push(const T& value) { return insert(size_, value); }

  /// Copy other values. False if there is no memory.
  bool assign(const T* from, std::int64_t count) {
    size_ = 0;
    if (!reserve(count)) return false;
    if (count > 0) std::memcpy(static_cast<void*>(data_), from, bytes(count));
    size_ = count;
    return true;
  }

  /// Drop all but the first `count` values.
  void cut(std::int64_t count) { size_ = std::min(size_, count); }

 private:
  static constexpr std::int64_t kSize = sizeof(T);
  static std::size_t bytes(std::int64_t count) { return static_cast<std::size_t>(count * kSize); }

  bool reserve(std::int64_t count) {
    if (count <= capacity_) return true;
    T* const data = static_cast<T*>(ledger_.take(kind_, count * kSize));
    ready_ = data != nullptr;
    if (!ready_) return false;
    if (size_ > 0) std::memcpy(static_cast<void*>(data), data_, bytes(size_));
    ledger_.give(kind_, data_, capacity_ * kSize);
    data_ = data;
    capacity_ = count;
    return true;
  }

  Ledger& ledger_;
  const Kind kind_;
  T* data_ = nullptr;
  std::int64_t size_ = 0, capacity_ = 0;
  bool ready_ = true;
};

}  // namespace burlab::run
BURLAB_END
