#pragma once
// The samples of a step where a function of the user's names them: it runs before the step.
#include <cstdint>

#include "../abi/outcome.hpp"
#include "../abi/plan.hpp"
#include "../memory/buffer.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The batches of one loop. All its memory is taken at the start.
class Batches {
 public:
  Batches(Ledger& ledger, const Plan& plan)
      : stream_(plan.stream),
        sampler_(plan.sampler),
        list_(ledger, Kind::scratch, sampler_.function == nullptr ? 0 : stream_.batch),
        workspace_(ledger, Kind::scratch, sampler_.workspace) {
    if (sampler_.function != nullptr) stream_.list = list_.begin();
  }

  bool ready() const { return list_.ready() && workspace_.data() != nullptr; }

  /// A plan that draws from here.
  Plan drawn_from(Plan plan) const {
    plan.stream = stream_;
    return plan;
  }

  /// Before a step: its samples.
  Outcome operator()(std::int64_t step) {
    if (sampler_.function == nullptr) return {};
    const Key key = fold_in(stream_.key, static_cast<std::uint64_t>(step));
    const void* in[] = {&key, &step};
    void* out[] = {list_.begin()};
    const std::int64_t answer = sampler_.function(sampler_.context, in, out, workspace_.data());
    if (answer != Ok) return Outcome::of(answer, -1, Part::sampler);
    for (const std::int64_t i : list_)
      if (i < 0 || i >= stream_.samples) return {IndexOutOfRange, Part::drawn, kOwnLoss, 0, i};
    return {};
  }

 private:
  Stream stream_;
  const Kernel sampler_;
  Buffer<std::int64_t> list_;
  Memory workspace_;
};

}  // namespace burlab::run
BURLAB_END
