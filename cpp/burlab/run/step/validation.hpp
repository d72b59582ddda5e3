#pragma once
// A second problem whose value a run writes down now and then.
#include <atomic>
#include <cstdint>
#include <limits>

#include "../sum/sum.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The problem: its value over all its samples, at every so many steps. Mirrored by `burlab/run/loop/abi.py`.
struct Validation {
  Summand samples, once;        // output: the value; no function of `once` if there is no regularizer
  Stream stream;                // all samples, with the run's seed
  std::int64_t threads, every;  // at most; steps from one evaluation to the next
};

/// Evaluates it.
class Validator {
 public:
  /// Above the low 48 bits of a status: it was here that a kernel failed.
  static constexpr std::int64_t kFault = std::int64_t{15} << 48;

  Validator(Ledger& ledger, const Validation& validation)
      : plan_(validation),
        sum_(ledger, plan_.samples, plan_.stream, static_cast<int>(plan_.threads)),
        once_memory_(ledger, Kind::scratch, Evaluator::bytes(plan_.once)),
        term_(ledger, Kind::scratch, plan_.samples.result.bytes),
        once_(plan_.once, plan_.stream, once_memory_.data()) {}

  bool ready() const { return sum_.ready() && once_memory_.data() != nullptr && term_.data() != nullptr; }
  int threads() const { return sum_.threads(); }

  /// NaN where it was not its turn.
  double value() const { return value_; }

  /// At a step; fixed: the leaves of x. Stopped where `hurry` rises before it is done.
  Outcome operator()(std::int64_t step, const void* const* fixed, Team& team, const std::atomic<bool>& hurry) {
    value_ = std::numeric_limits<double>::quiet_NaN();
    if (step % plan_.every != 0) return {Ok, 0};
    const Key key = plan_.samples.keyed ? fold_in(plan_.stream.key, static_cast<std::uint64_t>(step)) : Key{};
    sum_.begin(fixed, step, key);
    Outcome outcome = sum_.resume(team, Alarm(&hurry));
    if (outcome.ok() && plan_.once.kernel.function != nullptr) {
      once_.begin(fixed, step, Key{});
      outcome = {once_(0, term_.data()).status, -1};
    }
    if (outcome.status == Stopped) return outcome;
    if (!outcome.ok()) return {outcome.status | kFault, outcome.sample};
    char* const result = sum_.mean();
    if (plan_.once.kernel.function != nullptr) add(plan_.samples.result, result, term_.data());
    value_ = plan_.samples.result.parts[0].wide ? *reinterpret_cast<double*>(result)
                                                : static_cast<double>(*reinterpret_cast<float*>(result));
    return {Ok, 0};
  }

 private:
  const Validation plan_;
  Sum sum_;
  Memory once_memory_, term_;
  Evaluator once_;
  double value_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace burlab::run
BURLAB_END
