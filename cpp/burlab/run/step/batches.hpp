#pragma once
// The samples of a step if their number changes or a user's function selects them: computed before the step.
#include <algorithm>
#include <cstdint>

#include "../abi/outcome.hpp"
#include "../abi/plan.hpp"
#include "../memory/buffer.hpp"
#include "state_buffers.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The batches of one loop. All memory is allocated at the start.
class Batches {
 public:
  /// state: must outlive it at the same address.
  Batches(Ledger& ledger, const Plan& plan, const StateBuffers& state)
      : stream_(plan.stream),
        state_(state),
        hypers_(plan.hypers),
        size_(plan.size),
        sampler_(plan.sampler),
        list_(ledger, Kind::scratch, sampler_.function == nullptr ? 0 : stream_.batch),
        in_(ledger, Kind::scratch, 1 + plan.hypers + state.own()),
        workspace_(ledger, Kind::scratch, std::max(size_.workspace, sampler_.workspace)) {
    if (size_.function != nullptr) stream_.live = &live_;
    if (sampler_.function != nullptr) stream_.list = list_.begin();
  }

  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  bool ready() const { return list_.ready() && in_.ready() && workspace_.data() != nullptr; }

  /// A plan that draws its samples from this object.
  Plan drawn_from(Plan plan) const {
    plan.stream = stream_;
    return plan;
  }

  /// Before a step: compute the number of its samples, and select them.
  Outcome operator()(std::int64_t step, const double* hyper) {
    if (size_.function != nullptr)
      if (const Outcome outcome = measure(step, hyper); !outcome.ok()) return outcome;
    if (sampler_.function == nullptr) return {};
    const Key key = fold_in(stream_.key, static_cast<std::uint64_t>(step));
    const void* in[] = {&key, &step};
    void* out[] = {list_.begin()};
    const std::int64_t answer = sampler_.function(sampler_.context, in, out, workspace_.data());
    if (answer != Ok) return Outcome::of(answer, -1, Part::sampler);
    for (const std::int64_t i : list_)
      if (i < 0 || i >= stream_.samples) return {IndexOutOfRange, Part::drawn, kRunLoss, 0, i};
    return {};
  }

 private:
  Outcome measure(std::int64_t step, const double* hyper) {
    auto in = in_.begin();
    *in++ = &step;
    for (std::int64_t k = 0; k < hypers_; ++k) *in++ = hyper + k;
    for (std::int64_t k = 1; k < state_.own(); ++k) *in++ = state_.current(k);
    std::int64_t found = 1;
    void* out[] = {&found};
    const std::int64_t answer = size_.function(size_.context, in_.data(), out, workspace_.data());
    live_ = std::clamp<std::int64_t>(found, 1, stream_.batch);
    return Outcome::of(answer, -1, Part::size);
  }

  Stream stream_;
  const StateBuffers& state_;
  const std::int64_t hypers_;
  const Kernel size_;
  const Kernel sampler_;
  Buffer<std::int64_t> list_;
  Buffer<const void*> in_;
  Memory workspace_;
  std::int64_t live_ = 1;  // the number of samples of this step
};

}  // namespace burlab::run
BURLAB_END
