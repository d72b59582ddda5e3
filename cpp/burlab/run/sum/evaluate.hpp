#pragma once
// One sample, or one tile of samples, after another: draw indices, point the kernel at the samples in place (a tile's
// samples are copied if they are not neighbours), call.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "../../stop_token.hpp"
#include "../abi/outcome.hpp"
#include "../abi/summand.hpp"
#include "../memory/ledger.hpp"
#include "../step/laps.hpp"
#include "sampler.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// When to stop work: a flag that another thread sets, or a time in nanoseconds.
class Deadline {
 public:
  explicit Deadline(const std::atomic<bool>* flag) : flag_(flag) {}
  explicit Deadline(std::int64_t moment) : moment_(moment) {}

  bool passed() {
    if (flag_ != nullptr) return flag_->load(std::memory_order_relaxed);
    return pace_.due() && pace_.read() >= moment_;
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
  std::int64_t moment_ = 0;
  ClockPace pace_{1};
};

/// Evaluates the kernel at one position of a batch, or one tile of positions, after another. One per thread.
class Evaluator {
 public:
  static std::int64_t bytes(const Summand& summand) {
    std::int64_t total = tables(summand) + Memory::rounded(summand.kernel.workspace);
    for (std::int64_t k = 0; k < summand.arrays && summand.tile > 0; ++k)
      total += Memory::rounded(summand.tile * summand.sizes[k]);
    return total;
  }

  Evaluator(const Summand& summand, const Stream& stream, char* memory)
      : summand_(summand), stream_(stream), tile_(std::max<std::int64_t>(summand.tile, 1)) {
    const auto take = [&memory](std::int64_t bytes) {
      char* const taken = memory;
      memory += Memory::rounded(bytes);
      return taken;
    };
    in_ = reinterpret_cast<const void**>(take(8 * (summand.shared() + summand.arrays + 1)));
    out_ = reinterpret_cast<void**>(take(8 * summand.sums.outputs));
    samples_ = reinterpret_cast<std::int64_t*>(take(8 * tile_));
    keys_ = reinterpret_cast<Key*>(take(static_cast<std::int64_t>(sizeof(Key)) * tile_));
    copies_ = reinterpret_cast<char**>(take(8 * summand.arrays));
    workspace_ = take(summand.kernel.workspace);
    for (std::int64_t k = 0; k < summand.arrays && summand.tile > 0; ++k) copies_[k] = take(tile_ * summand.sizes[k]);
  }

  /// fixed, ready: inputs that all samples share, see `Summand::share`. key: of a stochastic loss; sample p of the
  /// batch gets fold_in(key, p).
  void begin(const void* const* fixed, const void* const* ready, std::int64_t step, Key key) {
    summand_.share(fixed, ready, in_);
    in_[summand_.shared() + summand_.arrays] = keys_;
    step_ = step;
    key_ = key;
  }

  /// Write the kernel's outputs for the sample at `position` to `result`, in row `row` of each output's table.
  Outcome operator()(std::int64_t position, char* result, std::int64_t row = 0) {
    if (laps_ != nullptr) laps_->end(lap_gradient);
    draw(position, 1);
    for (std::int64_t k = 0; k < summand_.arrays; ++k)
      in_[summand_.shared() + k] = summand_.at(k, is_placed(k) ? position : samples_[0]);
    for (std::int64_t k = 0; k < summand_.sums.outputs; ++k)
      out_[k] = result + summand_.sums.offsets[k] + row * summand_.rows[k];
    if (laps_ != nullptr) laps_->end(lap_data);
    return Outcome::of(summand_.kernel.function(summand_.kernel.context, in_, out_, workspace_), samples_[0]);
  }

  /// Set the timer to notify when samples have been drawn and copied; nullptr: none.
  void time_with(Laps* laps) { laps_ = laps; }

  /// Add the outputs of the `count` samples from `position` on to `sums`. After a failure its contents are invalid.
  Outcome tile(std::int64_t position, std::int64_t count, char* sums) {
    if (laps_ != nullptr) laps_->end(lap_gradient);
    draw(position, count);
    fill(count);
    for (std::int64_t k = 0; k < summand_.sums.outputs; ++k) out_[k] = sums + summand_.sums.offsets[k];
    const std::int64_t answer = run(position, count);
    if (answer == Ok) return {};
    if (status_of(answer) == Stopped) return {Stopped};
    return summand_.whole_batch != 0 ? Outcome::of(answer, -1) : culprit(position, count, answer);
  }

 private:
  /// Bytes of all but the workspace and the copies of samples.
  static std::int64_t tables(const Summand& summand) {
    const std::int64_t tile = std::max<std::int64_t>(summand.tile, 1);
    return Memory::rounded(8 * (summand.shared() + summand.arrays + 1)) + Memory::rounded(8 * summand.sums.outputs) +
           Memory::rounded(8 * tile) + Memory::rounded(static_cast<std::int64_t>(sizeof(Key)) * tile) +
           Memory::rounded(8 * summand.arrays);
  }

  /// Find the samples at `count` positions, and their keys.
  void draw(std::int64_t position, std::int64_t count) {
    if (summand_.arrays || summand_.keyed) draw_.several(stream_, step_, position, count, samples_);
    else std::fill_n(samples_, count, 0);
    for (std::int64_t i = 0; summand_.keyed && i < count; ++i)
      keys_[i] = fold_in(key_, static_cast<std::uint64_t>(position + i));
  }

  /// Fill the places from `count` on, which are computed but do not count, with the sample before.
  void fill(std::int64_t count) {
    std::fill(samples_ + count, samples_ + tile_, samples_[count - 1]);
    if (summand_.keyed) std::fill(keys_ + count, keys_ + tile_, keys_[count - 1]);
  }

  /// Return true if an array has rows for positions, not for samples.
  bool is_placed(std::int64_t k) const { return k >= summand_.arrays - summand_.placed; }

  std::int64_t run(std::int64_t position, std::int64_t count) {
    bool neighbours = true;
    for (std::int64_t i = 1; neighbours && i < tile_; ++i) neighbours = samples_[i] == samples_[0] + i;
    for (std::int64_t k = 0; k < summand_.arrays; ++k) {
      const std::int64_t size = summand_.sizes[k], stride = summand_.strides[k];
      if (is_placed(k)) in_[summand_.shared() + k] = rows_from(k, position, count);
      else if (neighbours && size == stride && in_one_piece(k))
        in_[summand_.shared() + k] = summand_.at(k, samples_[0]);
      else in_[summand_.shared() + k] = side_by_side(k, size, stride);
    }
    if (laps_ != nullptr) laps_->end(lap_data);
    return summand_.kernel.function(summand_.contexts[count - 1], in_, out_, workspace_);
  }

  /// The rows of a placed array for a tile, whose last row stands for those that do not count.
  const char* rows_from(std::int64_t k, std::int64_t position, std::int64_t count) const {
    const std::int64_t size = summand_.sizes[k];
    const char* const rows = summand_.data[k] + position * size;
    if (count == tile_) return rows;
    for (std::int64_t i = 0; i < tile_; ++i)
      std::memcpy(copies_[k] + i * size, rows + std::min(i, count - 1) * size, static_cast<std::size_t>(size));
    return copies_[k];
  }

  /// Return true if the samples of the tile, which are neighbours, lie one after another.
  bool in_one_piece(std::int64_t k) const {
    return !summand_.is_cut(k) || summand_.shard_of(k, samples_[0]) == summand_.shard_of(k, samples_[tile_ - 1]);
  }

  const char* side_by_side(std::int64_t k, std::int64_t size, std::int64_t stride) const {
    char* const copy = copies_[k];
    const char* const data = summand_.data[k];
    if (summand_.is_cut(k))
      for (std::int64_t i = 0; i < tile_; ++i)
        std::memcpy(copy + i * size, summand_.at(k, samples_[i]), static_cast<std::size_t>(size));
    else if (size == 4)
      for (std::int64_t i = 0; i < tile_; ++i) std::memcpy(copy + 4 * i, data + samples_[i] * stride, 4);
    else if (size == 8)
      for (std::int64_t i = 0; i < tile_; ++i) std::memcpy(copy + 8 * i, data + samples_[i] * stride, 8);
    else
      for (std::int64_t i = 0; i < tile_; ++i)
        std::memcpy(copy + i * size, data + samples_[i] * stride, static_cast<std::size_t>(size));
    return copy;
  }

  /// Find the sample that made a tile fail: try each in its own tile.
  Outcome culprit(std::int64_t position, std::int64_t count, std::int64_t answer) {
    for (std::int64_t i = 0; i < count; ++i) {
      draw(position + i, 1);
      fill(1);
      const std::int64_t alone = run(position + i, 1);
      if (alone != Ok) return Outcome::of(alone, samples_[0]);
    }
    return Outcome::of(answer, samples_[0]);
  }

  const Summand& summand_;
  const Stream stream_;
  const std::int64_t tile_;
  Draw draw_;
  const void** in_;
  void** out_;
  std::int64_t* samples_;  // of the current tile, and their keys
  Key* keys_;
  char** copies_;  // the samples of the tile, one after another
  void* workspace_;
  std::int64_t step_ = 0;
  Key key_{};
  Laps* laps_ = nullptr;
};

}  // namespace burlab::run
BURLAB_END
