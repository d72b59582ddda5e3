#pragma once
// A second problem whose value a run writes down now and then.
#include <atomic>
#include <cstdint>
#include <limits>

#include "../sum/loss.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The problem: its value over all its samples, at every so many steps. Mirrored by `burlab/run/loop/abi.py`.
struct Validation {
  Loss loss;                    // output: the value
  Stream stream;                // all samples, with the run's seed
  std::int64_t threads, every;  // at most; steps from one evaluation to the next
};

/// Evaluates it.
class Validator {
 public:
  Validator(Ledger& ledger, const Validation& validation)
      : plan_(validation), loss_(ledger, plan_.loss, plan_.stream, static_cast<int>(plan_.threads), Kind::scratch) {}

  bool ready() const { return loss_.ready(); }
  int threads() const { return loss_.threads(); }

  bool is_due(std::int64_t step) const { return step % plan_.every == 0; }
  /// NaN where it was not its turn.
  double value() const { return value_; }

  /// At a step; fixed: the leaves of x. Stopped where `cancel` is set before it is done.
  Outcome operator()(std::int64_t step, const void* const* fixed, Team& team, const std::atomic<bool>& cancel) {
    value_ = std::numeric_limits<double>::quiet_NaN();
    if (!is_due(step)) return {};
    const Key key = plan_.loss.samples.keyed ? fold_in(plan_.stream.key, static_cast<std::uint64_t>(step)) : Key{};
    const Outcome outcome = loss_(fixed, step, key, team, Deadline(&cancel));
    if (!outcome.ok()) return outcome.of_owner(kValidation);
    const char* const result = loss_.result();
    value_ = plan_.loss.samples.result.parts[0].wide ? *reinterpret_cast<const double*>(result)
                                                     : static_cast<double>(*reinterpret_cast<const float*>(result));
    return {};
  }

 private:
  const Validation plan_;
  MeanLoss loss_;
  double value_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace burlab::run
BURLAB_END
