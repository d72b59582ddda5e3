#pragma once
// Snapshots of a run for replay, within a budget of bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../memory/buffer.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A snapshot: the state of a run after `step` steps. The loop defines the meaning of the bytes.
struct Frame {
  std::int64_t step;
  char* data;
};

/// Frames of equal size in the order of their steps. When the budget is reached, every second one is dropped, but never
/// the first or the one being added. A budget of 0 stores none. Not thread-safe.
class Keyframes {
 public:
  Keyframes(Ledger& ledger, std::int64_t frame_bytes, std::int64_t budget)
      : ledger_(ledger),
        bytes_(Ledger::rounded(frame_bytes)),
        capacity_(budget == 0 ? 0 : std::max<std::int64_t>(budget / (bytes_ + 2 * kEntry), 2)),
        frames_(ledger, Kind::keyframes) {}
  Keyframes(const Keyframes&) = delete;
  Keyframes& operator=(const Keyframes&) = delete;
  ~Keyframes() { cut(-1); }

  /// Return true if it stores frames at all.
  bool stores() const { return capacity_ > 0; }

  /// The frame of a step, for the caller to fill; an existing one if the step has one. nullptr: no memory is left.
  char* add(std::int64_t step) {
    if (auto found = after(step); found != frames_.begin() && (found - 1)->step == step) return (found - 1)->data;
    if (count() >= capacity_) thin();
    char* const data = static_cast<char*>(ledger_.take(Kind::keyframes, bytes_));
    if (data == nullptr) return nullptr;
    if (frames_.insert(after(step) - frames_.begin(), {step, data})) return data;
    ledger_.give(Kind::keyframes, data, bytes_);
    return nullptr;
  }

  /// The last frame at or before a step, or nullptr.
  const Frame* nearest(std::int64_t step) const {
    const auto found = after(step);
    return found == frames_.begin() ? nullptr : &*(found - 1);
  }

  /// Drop the frames after a step.
  void cut(std::int64_t step) {
    const Frame* const first = after(step);
    for (const Frame* frame = first; frame != frames_.end(); ++frame) release(*frame);
    frames_.cut(first - frames_.begin());
  }

  /// Copy the frames up to a step into an empty store of the same frame size. False where there is no memory left.
  bool copy_to(Keyframes& other, std::int64_t last) const {
    for (auto frame = frames_.begin(); frame != frames_.end() && frame->step <= last; ++frame) {
      char* const data = other.add(frame->step);
      if (data == nullptr) return false;
      std::memcpy(data, frame->data, static_cast<std::size_t>(bytes_));
    }
    return true;
  }

  std::int64_t count() const { return frames_.size(); }
  const Frame& frame(std::int64_t k) const { return frames_[k]; }
  std::int64_t frame_bytes() const { return bytes_; }  // a multiple of 64

  /// The number of times that every second frame was dropped.
  std::int64_t thinned() const { return thinned_; }

 private:
  static constexpr std::int64_t kEntry = sizeof(Frame);  // the list's capacity is at most twice its size

  const Frame* after(std::int64_t step) const {
    return std::upper_bound(frames_.begin(), frames_.end(), step,
                            [](std::int64_t limit, const Frame& frame) { return limit < frame.step; });
  }

  void thin() {
    std::int64_t kept = 0;
    for (std::int64_t k = 0; k < count(); ++k)
      if (k % 2 == 0) frames_[kept++] = frames_[k];
      else release(frames_[k]);
    frames_.cut(kept);
    ++thinned_;
  }

  void release(const Frame& frame) { ledger_.give(Kind::keyframes, frame.data, bytes_); }

  Ledger& ledger_;
  std::int64_t bytes_, capacity_, thinned_ = 0;
  Buffer<Frame> frames_;
};

}  // namespace burlab::run
BURLAB_END
