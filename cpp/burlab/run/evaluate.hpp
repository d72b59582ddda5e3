#pragma once
// One sample after another: draw its index, point the kernel at it where it lies (no batch is ever copied), call.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "ledger.hpp"
#include "sampler.hpp"
#include "summand.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Says when to leave work unfinished: a flag that another thread raises, or a moment in time.
class Alarm {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Alarm(const std::atomic<bool>* flag) : flag_(flag) {}
  explicit Alarm(Clock::time_point deadline) : deadline_(deadline) {}

  bool rings() {
    if (flag_ != nullptr) return flag_->load(std::memory_order_relaxed);
    if (--patience_ > 0) return false;
    const auto now = Clock::now();  // 20 ns: look about once in a millisecond
    period_ = now - last_ < std::chrono::milliseconds(1) ? std::min(2 * period_, 1 << 16) : std::max(period_ / 2, 1);
    patience_ = period_;
    last_ = now;
    return now >= deadline_;
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
  Clock::time_point deadline_, last_ = Clock::now();
  int period_ = 1, patience_ = 1;
};

/// Evaluates the kernel at one position of a batch after another. One per thread.
class Evaluator {
 public:
  static std::int64_t bytes(const Summand& summand) {
    return Memory::rounded(8 * (summand.fixed + summand.arrays + 1)) + Memory::rounded(8 * summand.outputs) +
           Memory::rounded(summand.kernel.workspace);
  }

  Evaluator(const Summand& summand, const Stream& stream, char* memory)
      : summand_(summand), stream_(stream), in_(reinterpret_cast<const void**>(memory)) {
    memory += Memory::rounded(8 * (summand.fixed + summand.arrays + 1));
    out_ = reinterpret_cast<void**>(memory);
    workspace_ = memory + Memory::rounded(8 * summand.outputs);
  }

  /// key: what a stochastic loss draws from; sample p of the batch gets fold_in(key, p).
  void begin(const void* const* fixed, std::int64_t step, Key key) {
    std::copy(fixed, fixed + summand_.fixed, in_);
    in_[summand_.fixed + summand_.arrays] = &sample_key_;
    step_ = step;
    key_ = key;
  }

  /// The kernel's outputs for the sample at `position`, written to `result`, in row `row` of each output's table.
  Outcome operator()(std::int64_t position, char* result, std::int64_t row = 0) {
    const std::int64_t sample = summand_.arrays || summand_.keyed ? draw_(stream_, step_, position) : 0;
    for (std::int64_t k = 0; k < summand_.arrays; ++k)
      in_[summand_.fixed + k] = summand_.data[k] + sample * summand_.strides[k];
    if (summand_.keyed) sample_key_ = fold_in(key_, static_cast<std::uint64_t>(position));
    for (std::int64_t k = 0; k < summand_.outputs; ++k) out_[k] = result + summand_.offsets[k] + row * summand_.rows[k];
    return {summand_.kernel.function(summand_.kernel.context, in_, out_, workspace_), sample};
  }

 private:
  const Summand& summand_;
  const Stream stream_;
  Draw draw_;
  const void** in_;
  void** out_;
  void* workspace_;
  std::int64_t step_ = 0;
  Key key_{}, sample_key_{};
};

}  // namespace burlab::run
BURLAB_END
