#pragma once
// A step on one sample, or of a plain function, by one kernel: gradients go straight from the loop that computes them
// into the update. Its arguments are pieces of x, and of each state buffer of x's size: leaf by leaf. In place, a
// second kernel writes over x and the state, once nothing can fail any more.
#include <array>
#include <cmath>
#include <cstring>

#include "../../stop_token.hpp"
#include "../sum/philox.hpp"
#include "norm.hpp"
#include "step.hpp"

BURLAB_BEGIN
namespace burlab::run {

class FusedStep final : public Step {
 public:
  /// plan, state: must outlive it.
  FusedStep(Ledger& ledger, const Plan& plan, StateBuffers& state)
      : plan_(plan),
        state_(state),
        workspace_(ledger, Kind::activations, plan.fused.kernel.workspace),
        in_(ledger, Kind::scratch,
            plan.numbers + plan.loss.samples.wholes + plan.loss.samples.arrays + 4 + plan.hypers + plan.fused.pieces +
                plan.fused.cuts),
        out_(ledger, Kind::scratch, 3 + plan.metrics + plan.noted + plan.fused.pieces + plan.fused.cuts),
        second_workspace_(ledger, Kind::scratch, state.in_place() ? plan.fused.second.workspace : 0),
        cut_sizes_(ledger, Kind::scratch, plan.fused.cuts, plan.fused.cut_bytes),
        cuts_(ledger, plan.fused.cuts > 0 ? Kind::gradients : Kind::scratch, bytes_of(cut_sizes_)),
        numbers_(ledger, Kind::scratch, plan.fused.pieces),
        metrics_(ledger, Kind::scratch, plan.metrics),
        noted_(ledger, Kind::scratch, plan.noted) {}

  bool ready() const override {
    return workspace_.data() != nullptr && in_.ready() && out_.ready() && second_workspace_.data() != nullptr &&
           cut_sizes_.ready() && cuts_.data() != nullptr && numbers_.ready() && metrics_.ready() && noted_.ready();
  }
  int threads() const override { return 1; }

  Outcome operator()(std::int64_t step, const void* const* leaves, const double* hyper, Team&,
                     const std::atomic<bool>&) override {
    const Summand& samples = plan_.loss.samples;
    const std::int64_t sample = samples.arrays || samples.keyed ? draw_(plan_.stream, step, 0) : 0;
    ended(lap_data);
    step_ = step;
    auto in = std::copy(leaves, leaves + plan_.leaves + plan_.numbers, in_.begin());
    in = std::copy(samples.whole, samples.whole + samples.wholes, in);
    for (std::int64_t k = 0; k < samples.arrays; ++k) *in++ = samples.at(k, sample);
    if (samples.keyed) {
      key_ = fold_in(fold_in(plan_.stream.key, static_cast<std::uint64_t>(step)), 0);
      *in++ = &key_;
    }
    *in++ = &step_;
    for (std::int64_t k = 0; k < plan_.hypers; ++k) *in++ = hyper + k;
    const Piece *const first = plan_.fused.table, *const end = first + plan_.fused.pieces;
    for (auto p = first + plan_.leaves; p != end; ++p) *in++ = state_.current(p->buffer) + p->offset;
    if (plan_.dtype == Dtype::float64) *in++ = &scale_;
    auto out = out_.begin();
    *out++ = &squares_[value_column];
    *out++ = &squares_[gradient_norm];
    if (!state_.in_place()) *out++ = &squares_[step_norm];
    for (double& number : metrics_) *out++ = &number;
    for (double& number : noted_) *out++ = &number;
    if (BURLAB_UNLIKELY(state_.in_place())) cut(in, out);
    else
      for (auto p = first; p != end; ++p) *out++ = state_.next(p->buffer) + p->offset;
    const Kernel& kernel = plan_.fused.kernel;
    std::int64_t answer = 0;
    do answer = kernel.function(kernel.context, in_.data(), out_.data(), workspace_.data());
    while (answer == Ok && scaled_otherwise());
    ended(lap_gradient);  // shared by loss, gradient and update
    return Outcome::of(answer, sample, Part::update);
  }

  Outcome measure(std::int64_t step, const void* const* leaves, const double* hyper, Team& team,
                  const std::atomic<bool>& cancel, double& value) override {
    const Outcome outcome = (*this)(step, leaves, hyper, team, cancel);
    widen(plan_.dtype, &squares_[value_column], 1, &value);
    return outcome;
  }

  void complete(bool moves) override {
    if (!state_.in_place()) return;
    moves_ = moves;
    auto out = out_.begin();
    *out++ = &squares_[step_norm];
    if (plan_.dtype == Dtype::float64)
      for (double& number : far_steps_) *out++ = &number;
    const Piece *const first = plan_.fused.table, *const end = first + plan_.fused.pieces;
    for (auto p = first; p != end; ++p)
      if (!is_number(*p)) *out++ = state_.current(p->buffer) + p->offset;
    const StopScope to_the_end(StopToken{});  // half a step is none
    const Kernel& kernel = plan_.fused.second;
    kernel.function(kernel.context, in_.data(), out_.data(), second_workspace_.data());
    for (std::int64_t k = 0; moves && k < plan_.fused.pieces; ++k)
      if (const Piece& p = first[k]; is_number(p))
        std::memcpy(state_.current(p.buffer), &numbers_[k], static_cast<std::size_t>(state_.bytes(p.buffer)));
    ended(lap_update);
  }

  void describe(double* row) override {
    widen(plan_.dtype, &squares_[value_column], 1, row + value_column);
    row[gradient_norm] = std::sqrt(squares_[gradient_norm]) * unit_;
    row[step_norm] = plan_.dtype == Dtype::float64 ? step_length<double>() : step_length<float>();
    for (std::int64_t k = 0; k < plan_.metrics; ++k) widen(plan_.dtype, &metrics_[k], 1, row + first_extra + k);
  }

  const Buffer<double>& noted() const override { return noted_; }
  /// A gradient; and a value at x, if the gradient is at another point.
  Counts counts() const override {
    Counts counts{plan_.stream.batch};
    if (plan_.gradient < 0 && plan_.logs_value == 0) counts[count_values] = plan_.stream.batch;
    return counts;
  }

 private:
  /// The gradient is not stored: if its squares leave the range of doubles, the step is repeated with other units for
  /// the norm, which later steps keep.
  BURLAB_INLINE bool scaled_otherwise() {
    const double squares = squares_[gradient_norm];
    if (BURLAB_LIKELY(holds(squares)) || plan_.dtype == Dtype::float32) return false;
    const double before = scale_;
    if (squares <= 1e-280) scale_ = before < 1 ? 1 : kFine;
    else if (squares > 1) scale_ = before > 1 ? 1 : kCoarse;  // not if it is nan
    unit_ = 1 / scale_;
    return scale_ != before;
  }
  /// The new numbers of the state and the values between the kernels: results of the first, and then arguments.
  template <class In, class Out> void cut(In in, Out out) {
    *in++ = &moves_;
    for (std::int64_t k = 0; k < plan_.fused.pieces; ++k)
      if (is_number(plan_.fused.table[k])) *out++ = &numbers_[k];
    char* place = cuts_.data();
    for (const std::int64_t bytes : cut_sizes_) {
      *in++ = *out++ = place;
      place += Memory::rounded(bytes);
    }
  }
  bool is_number(const Piece& piece) const { return state_.bytes(piece.buffer) < plan_.dimension; }
  static std::int64_t bytes_of(const Buffer<std::int64_t>& sizes) {
    std::int64_t sum = 0;
    for (const std::int64_t bytes : sizes) sum += Memory::rounded(bytes);
    return sum;
  }

  template <class T> double step_length() const {
    if (state_.in_place()) {
      const double squares = squares_[step_norm];
      if (holds(squares) || plan_.dtype == Dtype::float32) return std::sqrt(squares);
      return squares < 1 ? std::sqrt(far_steps_[0]) / kFine : std::sqrt(far_steps_[1]) / kCoarse;
    }
    return norm_of(squares_[step_norm], reinterpret_cast<const T*>(state_.next(0)),
                   reinterpret_cast<const T*>(state_.current(0)), plan_.dimension);
  }

  static constexpr double kFine = 0x1p600, kCoarse = 0x1p-600;

  const Plan& plan_;
  StateBuffers& state_;
  Draw draw_;
  Memory workspace_;
  Buffer<const void*> in_;
  Buffer<void*> out_;
  Memory second_workspace_;
  Buffer<std::int64_t> cut_sizes_;
  Memory cuts_;
  Buffer<std::int64_t> numbers_;       // of the pieces that are numbers, the new ones
  std::array<double, 2> far_steps_{};  // squares of the norm of the step in other units
  bool moves_ = true;
  std::array<double, 3> squares_{};  // the value, in x's type; the squares of the norms, the gradient's times scale_^2
  double scale_ = 1, unit_ = 1;      // a power of 2, and the factor of the gradient: a division would take longer
  Buffer<double> metrics_;           // in x's type, each in 8 bytes
  Buffer<double> noted_;
  Key key_{};
  std::int64_t step_ = 0;  // t of the update
};

}  // namespace burlab::run
BURLAB_END
