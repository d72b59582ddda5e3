#pragma once
// A step on one row of sparse data that reads and writes the entries of this row only: see `Lazy`. The other entries
// lag behind, and catch up when a row touches them. Results are those of steps that touch all entries.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "lagging.hpp"
#include "norm.hpp"
#include "step.hpp"

BURLAB_BEGIN
namespace burlab::run {

class LazyStep final : public Step {
 public:
  /// plan, state: must outlive it.
  LazyStep(Ledger& ledger, const Plan& plan, StateBuffers& state)
      : plan_(plan),
        lazy_(plan.lazy),
        state_(state),
        lags_(lazy_.last != 0),
        workspace_(ledger, Kind::activations, plan.loss.samples.kernel.workspace),
        in_(ledger, Kind::scratch, plan.leaves + plan.loss.samples.wholes + plan.loss.samples.arrays),
        powers_(ledger, Kind::scratch, lags_ ? 2 * (lazy_.every + 1) : 0),
        table_(ledger, Kind::scratch, snapshots() ? plan.stream.samples : 0),
        mean_(ledger, Kind::scratch, snapshots() ? plan.dimension : 0),
        noted_(ledger, Kind::scratch, 0),
        old_(powers_.begin(), lazy_.every),
        new_(nullptr, 0) {}

  bool ready() const override {
    return workspace_.data() != nullptr && in_.ready() && powers_.ready() && table_.ready() && mean_.ready();
  }
  int threads() const override { return 1; }

  Outcome operator()(std::int64_t step, const void* const* leaves, const double* hyper, Team&,
                     const std::atomic<bool>& cancel) override {
    fresh_ = snapshots() && step % lazy_.refresh == 0;
    rates_ = Rates::of(lazy_, hyper);
    const Outcome outcome = evaluate_row(step, leaves);
    return outcome.ok() && fresh_ ? snapshot(leaves, cancel) : outcome;
  }

  Outcome measure(std::int64_t step, const void* const* leaves, const double*, Team&, const std::atomic<bool>&,
                  double& value) override {
    const Outcome outcome = evaluate_row(step, leaves);
    value = value_;
    return outcome;
  }

  void describe(double* row) override {
    row[value_column] = value_;
    row[gradient_norm] = norm_;
    row[step_norm] = length_;
  }

  /// Every so many steps, and where rates change, the state is settled: all entries catch up.
  void complete(bool moves) override {
    const Lagging at(lazy_, state_);
    new_.set(rates_, lazy_.weight);
    const double held = fresh_ ? factor_ : at.table == nullptr ? 0 : at.table[sample_];
    const double more = factor_ - held;
    const bool settles = lags_ && (fresh_ || step_ % lazy_.every == 0 || !(rates_ == at.rates()));
    length_ = length(at, more, settles);
    if (!moves) return;
    if (fresh_) {
      std::copy(table_.begin(), table_.end(), at.table);
      std::copy(mean_.begin(), mean_.end(), at.mean);
    }
    if (settles) settle(at);
    if (lazy_.weight != 0) carry(at.carried);
    update(at, more);
    ended(lap_update);
  }

  const Buffer<double>& noted() const override { return noted_; }
  Counts counts() const override { return {1 + (fresh_ ? plan_.stream.samples : 0)}; }

 private:
  bool snapshots() const { return lazy_.correction == Correction::snapshot; }
  bool corrects() const { return lazy_.correction != Correction::none; }

  /// Value and gradient at the sample of a step; the entries of its row catch up.
  Outcome evaluate_row(std::int64_t step, const void* const* leaves) {
    const Lagging at(lazy_, state_);
    step_ = step;
    sample_ = draw_(plan_.stream, step, 0);
    ended(lap_data);
    if (!find(sample_)) return {IndexOutOfRange, Part::samples, kRunLoss, 0, sample_};
    if (lags_) old_.set(at.rates(), lazy_.weight);
    double squares = 0, product = 0;
    each_entry([&](std::int64_t j, double a) {
      if (lags_) catch_up(at, j);
      squares += a * a;
      product += a * at.x[j];
    });
    if (const std::int64_t answer = evaluate(leaves, sample_); answer != Ok) return Outcome::of(answer, sample_);
    const double all = lazy_.weight == 0 ? 0 : std::max(at.carried[0], 0.0);
    value_ += lazy_.constant + lazy_.weight / 2 * all;
    row_norm_ = norm_of<double>(squares, values_, nullptr, count_);
    norm_ = norm_of_sum(std::abs(factor_) * row_norm_, lazy_.weight * std::sqrt(all), factor_ * lazy_.weight * product);
    ended(lap_gradient);
    return {};
  }

  /// |a + b|, given |a|, |b| and their product.
  static double norm_of_sum(double a, double b, double product) {
    if (b == 0) return a;
    const double unit = std::max(a, b), p = a / unit, q = b / unit;
    return unit * std::sqrt(std::max(p * p + q * q + 2 * (product / unit / unit), 0.0));
  }

  /// Find the entries of a row. False if they are not there.
  BURLAB_INLINE bool find(std::int64_t sample) {
    const std::int64_t first = place(lazy_.starts, sample), end = place(lazy_.ends, sample);
    if (first < 0 || end < first || end > lazy_.entries) return false;
    values_ = lazy_.values + first;
    columns_ = static_cast<const char*>(lazy_.columns) + first * lazy_.column_bytes;
    count_ = end - first;
    bool inside = true;
    each_entry([&](std::int64_t j, double) {
      inside &= static_cast<std::uint64_t>(j) < static_cast<std::uint64_t>(plan_.dimension);
    });
    return inside;
  }
  BURLAB_INLINE std::int64_t place(std::int64_t array, std::int64_t sample) const {
    const char* const at = plan_.loss.samples.at(array, sample);
    if (plan_.loss.samples.sizes[array] == 8) return *reinterpret_cast<const std::int64_t*>(at);
    return *reinterpret_cast<const std::int32_t*>(at);
  }

  /// Call act(column, value) for each entry of the row.
  template <class Act> BURLAB_INLINE void each_entry(const Act& act) const {
    if (lazy_.column_bytes == 4)
      for (std::int64_t e = 0; e < count_; ++e) act(reinterpret_cast<const std::int32_t*>(columns_)[e], values_[e]);
    else
      for (std::int64_t e = 0; e < count_; ++e) act(reinterpret_cast<const std::int64_t*>(columns_)[e], values_[e]);
  }

  /// The value of a sample, and the number that multiplies its row in the gradient.
  BURLAB_INLINE std::int64_t evaluate(const void* const* leaves, std::int64_t sample) {
    const Summand& samples = plan_.loss.samples;
    auto in = std::copy(leaves, leaves + plan_.leaves, in_.begin());
    in = std::copy(samples.whole, samples.whole + samples.wholes, in);
    for (std::int64_t k = 0; k < samples.arrays; ++k) *in++ = samples.at(k, sample);
    void* out[] = {&value_, &factor_};
    return samples.kernel.function(samples.kernel.context, in_.data(), out, workspace_.data());
  }

  BURLAB_INLINE void catch_up(const Lagging& at, std::int64_t j) const {
    if (at.last[j] == step_) return;
    at.x[j] = at.entry(old_, j, step_);
    at.last[j] = step_;
  }

  /// The numbers of all rows, and the mean of their gradients. The step of a snapshot settles anyway.
  BURLAB_NOINLINE Outcome snapshot(const void* const* leaves, const std::atomic<bool>& cancel) {
    const Lagging at(lazy_, state_);
    for (std::int64_t j = 0; j < plan_.dimension; ++j) catch_up(at, j);
    const double value = value_, factor = factor_, share = 1 / static_cast<double>(plan_.stream.samples);
    std::fill(mean_.begin(), mean_.end(), 0.0);
    for (std::int64_t i = 0; i < plan_.stream.samples; ++i) {
      if (i % kCheck == 0 && cancel.load(std::memory_order_relaxed)) return {Stopped};
      if (!find(i)) return {IndexOutOfRange, Part::samples, kRunLoss, 0, i};
      if (const std::int64_t answer = evaluate(leaves, i); answer != Ok) return Outcome::of(answer, i);
      table_[i] = factor_;
      each_entry([&](std::int64_t j, double a) { mean_[j] += factor_ * a; });
    }
    for (double& m : mean_) m *= share;
    find(sample_);
    value_ = value;
    factor_ = factor;
    return {};
  }

  /// The norm of the step; nan if it needs entries that lag.
  double length(const Lagging& at, double more, bool settles) const {
    if (!lags_) return std::abs(rates_.lr * more) * row_norm_;
    if (!corrects() && lazy_.l1 < 0 && lazy_.l2 < 0) return std::abs(rates_.lr) * norm_;
    return settles ? length_of_all(at, more) : std::numeric_limits<double>::quiet_NaN();
  }
  BURLAB_NOINLINE double length_of_all(const Lagging& at, double more) const {
    constexpr std::int64_t kPiece = 128;
    double after[kPiece], before[kPiece];
    const double* const mean = fresh_ ? mean_.begin() : at.mean;
    PiecewiseNorm norm;
    std::int64_t first = 0, count = 0;
    const auto add = [&](double pull) {
      const std::int64_t j = first + count;
      before[count] = at.entry(old_, j, step_);
      after[count] = new_.once(before[count], (mean == nullptr ? 0 : mean[j]) + pull);
      if (++count < kPiece) return;
      norm.add(after, before, count);
      first += count;
      count = 0;
    };
    each_entry([&](std::int64_t j, double a) {
      while (first + count < j) add(0);
      add(more * a);
    });
    while (first + count < plan_.dimension) add(0);
    if (count > 0) norm.add(after, before, count);
    return norm.total();
  }

  BURLAB_NOINLINE void settle(const Lagging& at) const {
    double squares = 0, product = 0, means = 0;
    for (std::int64_t j = 0; j < plan_.dimension; ++j) {
      catch_up(at, j);
      const double m = at.mean_at(j);
      squares += at.x[j] * at.x[j];
      product += at.x[j] * m;
      means += m * m;
    }
    at.carried[0] = squares;
    at.carried[1] = product;
    at.carried[2] = means;
    at.set_rates(rates_);
  }

  /// |x|^2 and <x, mean> after x <- a x - b mean.
  void carry(double* carried) const {
    const double a = new_.keeps(), b = new_.pulls();
    carried[0] = a * a * carried[0] - 2 * a * b * carried[1] + b * b * carried[2];
    carried[1] = a * carried[1] - b * carried[2];
  }

  /// The step at the entries of the row, and what corrects the next ones.
  void update(const Lagging& at, double more) const {
    const bool moves_mean = lazy_.correction == Correction::table;
    const double share = moves_mean ? more / static_cast<double>(plan_.stream.samples) : 0;
    double squares = 0, product = 0, means = 0;
    each_entry([&](std::int64_t j, double a) {
      const double x = at.x[j], m = at.mean_at(j), next = m + share * a;
      const double y = new_.once(x, m + more * a);
      at.x[j] = y;
      if (lags_) at.last[j] = step_ + 1;
      if (moves_mean) at.mean[j] = next;
      if (lazy_.weight == 0) return;
      const double drifted = new_.once(x, m);
      squares += y * y - drifted * drifted;
      product += y * next - drifted * m;
      means += next * next - m * m;
    });
    if (moves_mean) at.table[sample_] = factor_;
    if (lazy_.weight == 0) return;
    at.carried[0] += squares;
    at.carried[1] += product;
    at.carried[2] += means;
  }

  static constexpr std::int64_t kCheck = 256;  // samples between two looks at `cancel`

  const Plan& plan_;
  const Lazy& lazy_;
  StateBuffers& state_;
  const bool lags_;  // whether a step moves entries that its row does not have
  Draw draw_;
  Memory workspace_;
  Buffer<const void*> in_;
  Buffer<double> powers_;        // of the drift
  Buffer<double> table_, mean_;  // of a snapshot that is not taken over yet
  Buffer<double> noted_;
  Drift old_, new_;  // of the steps that lag, and of this one
  Rates rates_;
  bool fresh_ = false;  // whether this step makes a snapshot
  std::int64_t step_ = 0, sample_ = 0;
  const double* values_ = nullptr;  // of the row
  const char* columns_ = nullptr;
  std::int64_t count_ = 0;
  double value_ = 0, factor_ = 0, row_norm_ = 0, norm_ = 0, length_ = 0;
};

}  // namespace burlab::run
BURLAB_END
