#pragma once
// Snapshots of a run to replay from, within a budget of bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ledger.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A snapshot: what a run holds when `step` steps are done. What the bytes mean is for the loop to say.
struct Frame {
  std::int64_t step;
  char* data;
};

/// Frames of equal size in the order of their steps. When the budget is reached every second one goes, never the first,
/// and never the one being added. Not for two threads at once.
class Keyframes {
 public:
  Keyframes(Ledger& ledger, std::int64_t frame_bytes, std::int64_t budget)
      : ledger_(ledger),
        bytes_(Ledger::rounded(frame_bytes)),
        capacity_(std::max<std::int64_t>(budget / (bytes_ + 2 * kEntry), 2)),
        frames_(Counted<Frame>(ledger, Kind::keyframes)) {}
  Keyframes(const Keyframes&) = delete;
  Keyframes& operator=(const Keyframes&) = delete;
  ~Keyframes() { cut(-1); }

  /// Room for the frame of a step, for the caller to fill; a step that has one gets that. nullptr: no memory is left.
  char* add(std::int64_t step) {
    if (auto found = after(step); found != frames_.begin() && (found - 1)->step == step) return (found - 1)->data;
    if (count() >= capacity_) thin();
    char* const data = static_cast<char*>(ledger_.take(Kind::keyframes, bytes_));
    if (data == nullptr) return nullptr;
    try {
      frames_.insert(after(step), {step, data});
    } catch (...) {
      ledger_.give(Kind::keyframes, data, bytes_);
      return nullptr;
    }
    return data;
  }

  /// The last frame at or before a step; nullptr if there is none.
  const Frame* nearest(std::int64_t step) const {
    const auto found = after(step);
    return found == frames_.begin() ? nullptr : &*(found - 1);
  }

  /// Forget the frames after a step.
  void cut(std::int64_t step) {
    const auto first = after(step);
    for (auto frame = first; frame != frames_.end(); ++frame) drop(*frame);
    frames_.erase(first, frames_.end());
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

  std::int64_t count() const { return static_cast<std::int64_t>(frames_.size()); }
  const Frame& frame(std::int64_t k) const { return frames_[static_cast<std::size_t>(k)]; }
  std::int64_t frame_bytes() const { return bytes_; }  // a multiple of 64

  /// How often every second frame was dropped.
  std::int64_t thinned() const { return thinned_; }

 private:
  static constexpr std::int64_t kEntry = sizeof(Frame);  // a vector has at most twice the entries that it needs
  using Frames = std::vector<Frame, Counted<Frame>>;

  Frames::const_iterator after(std::int64_t step) const {
    return std::upper_bound(frames_.begin(), frames_.end(), step,
                            [](std::int64_t limit, const Frame& frame) { return limit < frame.step; });
  }

  void thin() {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < frames_.size(); ++k)
      if (k % 2 == 0) frames_[kept++] = frames_[k];
      else drop(frames_[k]);
    frames_.resize(kept);
    ++thinned_;
  }

  void drop(const Frame& frame) { ledger_.give(Kind::keyframes, frame.data, bytes_); }

  Ledger& ledger_;
  std::int64_t bytes_, capacity_, thinned_ = 0;
  Frames frames_;
};

}  // namespace burlab::run
BURLAB_END
