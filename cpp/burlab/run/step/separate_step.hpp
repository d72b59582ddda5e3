#pragma once
// A step in two parts: the mean of the gradients of its batch, and the optimizer's rule, which may query more.
#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "../sum/loss.hpp"
#include "loss_state.hpp"
#include "narrow_numbers.hpp"
#include "norm.hpp"
#include "query.hpp"
#include "row_buffers.hpp"
#include "rows_loss.hpp"
#include "staged_chunks.hpp"
#include "step.hpp"
#include "update_call.hpp"

BURLAB_BEGIN
namespace burlab::run {

class SeparateStep final : public Step {
 public:
  /// plan, state: must outlive it.
  SeparateStep(Ledger& ledger, const Plan& plan, StateBuffers& state)
      : plan_(plan),
        state_(state),
        oracle_(ledger, plan.queries, plan.stream, static_cast<int>(plan.threads)),
        blocks_(plan.chunk == 0 ? 1 : (plan.dimension - 1) / (kBlock * plan.chunk) + 1),
        block_norms_(static_cast<std::size_t>(blocks_)),
        rows_(ledger, plan.row_buffer, plan.row_buffers),
        each_(ledger, plan),
        last_(ledger, plan, state),
        loss_state_(ledger, plan, state) {
    const std::int64_t threads = std::clamp<std::int64_t>(plan.threads, 1, Team::kMaxThreads);
    for (std::int64_t k = 0; k < std::min(blocks_, threads); ++k)
      calls_.push_back(std::make_unique<UpdateCall>(ledger, plan, state, plan.row_buffers));
    if (evaluates()) loss_.emplace(ledger, plan.loss, plan.stream, static_cast<int>(plan.threads), Kind::gradients);
  }

  bool ready() const override {
    for (const auto& call : calls_)
      if (!call->ready()) return false;
    return each_.ready() && rows_.ready() && (!loss_ || loss_->ready()) && oracle_.ready() && last_.ready() &&
           loss_state_.ready();
  }

  int threads() const override {
    const std::int64_t threads =
        plan_.queries != nullptr ? std::min<std::int64_t>(plan_.threads, Team::kMaxThreads) : 1;
    return std::max({static_cast<int>(threads), loss_ ? loss_->threads() : 1, static_cast<int>(calls_.size())});
  }

  Outcome operator()(std::int64_t step, const void* const* leaves, const double* hyper, Team& team,
                     const std::atomic<bool>& cancel) override {
    const Key key = key_of(step);
    if (evaluates())
      if (const auto outcome = evaluate(step, leaves, key, team, cancel); !outcome.ok()) return outcome;
    ended(lap_gradient);
    oracle_.begin(step, key, leaves + plan_.leaves, team, cancel);
    if (each_.on() && plan_.narrow == Narrow::none) oracle_.know(each_.known(state_.current(0)));
    step_ = step;
    inputs_ = {gradient(),       evaluates() ? result_ : state_.current(0),  // a value that is not read
               &step_,           hyper,
               oracle_.key(),    oracle_.indices(),
               oracle_.address()};
    if (BURLAB_UNLIKELY(loss_state_.any()) && !state_.in_place()) loss_state_.take(result_);
    norms_.both.clear();  // not all of `norms_` by assignment, which copies a thousand bytes
    measured_ = !state_.in_place();
    if (BURLAB_LIKELY(measured_)) return update();
    norms_.steps.clear();
    return {};
  }

  /// What is left after whole chunks is computed first, together with entries before it, because these are overwritten
  /// later.
  void complete(bool moves) override {
    if (!state_.in_place()) return;
    const std::int64_t whole = plan_.dimension, length = plan_.chunk, rest = whole % length;
    if (rest != 0) (*calls_[0])(inputs_, whole - length, &last_, false, nullptr);
    update_in_place(moves, moves && plan_.in_place == kInPlaceAtOnce);
    if (rest != 0) add_step(norms_.steps, last_, whole - rest, length - rest);
    if (moves && rest != 0) last_.write(whole - rest, length - rest);
    if (moves) calls_[0]->chunk().write_numbers();
    if (moves) loss_state_.take(result_);
  }

  Outcome measure(std::int64_t step, const void* const* leaves, const double* hyper, Team& team,
                  const std::atomic<bool>& cancel, double& value) override {
    const bool logged = plan_.logs_value != 0;
    const Outcome outcome =
        logged ? (*this)(step, leaves, hyper, team, cancel) : evaluate(step, leaves, key_of(step), team, cancel);
    if (logged && outcome.ok()) complete(false);
    if (logged) value = noted()[plan_.noted - 1];
    else if (outcome.ok()) widen(plan_.dtype, result_, 1, &value);
    return outcome;
  }

  void describe(double* row) override {
    if (plan_.dtype == Dtype::float64) write_norms<double>(row);
    else write_norms<float>(row);
    if (evaluates()) {
      widen(plan_.dtype, result_, 1, row + value_column);
      widen(plan_.dtype, result_ + plan_.measured, plan_.metrics, row + first_extra);
    }
    if (plan_.logs_value != 0) row[value_column] = noted()[plan_.noted - 1];
    if (plan_.logs_norm != 0) row[gradient_norm] = noted()[plan_.noted - 1 - plan_.logs_value];
  }

  const Buffer<double>& noted() const override { return calls_[0]->noted(); }
  Counts counts() const override {
    Counts counts = oracle_.counts();
    if (evaluates()) counts[blind() ? count_values : count_gradients] += plan_.stream.size();
    return counts;
  }

 private:
  /// A key costs as much as the rest of a small step: only kernels that draw random numbers get one.
  Key key_of(std::int64_t step) const {
    const bool keyed = plan_.loss.samples.keyed != 0 || oracle_.keyed();
    return keyed ? fold_in(plan_.stream.key, static_cast<std::uint64_t>(step)) : Key{};
  }

  /// Value, gradient and metrics of the batch.
  Outcome evaluate(std::int64_t step, const void* const* leaves, Key key, Team& team, const std::atomic<bool>& cancel) {
    const Deadline deadline(&cancel);
    Outcome outcome =
        each_.on() ? each_(leaves, step, key, deadline) : (*loss_)(leaves, step, key, team, deadline, laps_);
    if (outcome.ok() && each_.on()) outcome = loss_->regularize(leaves, step, each_.result());
    if (!outcome.ok()) return outcome;
    result_ = each_.on() ? each_.result() : loss_->result();
    return loss_state_.check(result_);
  }

  /// The optimizer's rule, from the current buffers to the next.
  Outcome update() {
    const std::int64_t whole = plan_.dimension, length = plan_.chunk != 0 ? plan_.chunk : whole;
    std::atomic<std::int64_t> failed{Ok};
    by_blocks([&](UpdateCall& call, std::int64_t begin, std::int64_t end, BlockNorms& norms) {
      for (std::int64_t done = begin; done < end; done += length) {
        // The last chunk overlaps the one before: it recomputes some entries with the same bits.
        const std::int64_t answer = call(inputs_, std::min(done, whole - length), nullptr, false, rows());
        ended(lap_update);
        if (BURLAB_UNLIKELY(answer != Ok)) return failed.store(answer);
        const std::int64_t count = std::min(length, whole - done);
        if (plan_.dtype == Dtype::float64) add_norms<double>(norms.both, done, count);
        else add_norms<float>(norms.both, done, count);
        ended(lap_other);
      }
    });
    const Outcome outcome = oracle_.outcome(failed.load());
    if (outcome.ok()) rows_.done();
    return outcome;
  }

  /// In place, chunk by chunk. direct: a chunk is written over at once.
  void update_in_place(bool moves, bool direct) {
    const std::int64_t length = plan_.chunk;
    by_blocks([&](UpdateCall& call, std::int64_t begin, std::int64_t end, BlockNorms& norms) {
      for (std::int64_t first = begin; first + length <= end; first += length) {
        if (direct) call.chunk().keep_x(first);
        call(inputs_, first, &call.chunk(), direct, nullptr);
        ended(lap_update);
        add_step(norms.steps, call.chunk(), first, 0);
        if (moves && !direct) call.chunk().write(first, 0);
        ended(lap_other);
      }
    });
  }

  /// Call work(call, begin, end, norms) for each block of entries, on several threads. Blocks, and the order in which
  /// their norms are added up, do not depend on threads.
  template <class Work> void by_blocks(const Work& work) {
    if (blocks_ == 1) return work(*calls_[0], 0, plan_.dimension, norms_);
    const std::int64_t whole = plan_.dimension, length = kBlock * plan_.chunk;
    const bool alone = laps_ != nullptr || (blocks_ < kManyBlocks && !crew.is_awake());
    const int parts = alone ? 1 : static_cast<int>(calls_.size());
    auto part = [&](int k) {
      UpdateCall& call = *calls_[static_cast<std::size_t>(k)];
      for (std::int64_t block = blocks_ * k / parts; block < blocks_ * (k + 1) / parts; ++block) {
        BlockNorms& norms = block_norms_[static_cast<std::size_t>(block)] = {};
        work(call, block * length, std::min(whole, (block + 1) * length), norms);
      }
    };
    Team(parts).run(parts, part);
    for (const BlockNorms& norms : block_norms_) norms_ += norms;
  }

  /// The arrays that the update writes for rows, if it does.
  RowBuffers* rows() { return plan_.row_buffers > 0 ? &rows_ : nullptr; }

  bool blind() const { return plan_.gradient < 0; }
  /// Return true if the loss is computed at x: a rule may log the value itself, and then only metrics, and a state that
  /// the loss gives, need it.
  bool evaluates() const { return plan_.logs_value == 0 || plan_.metrics != 0 || plan_.loss_buffers != 0; }
  /// The gradient; if there is none, any memory of its size, which is not read.
  const char* gradient() const { return blind() ? state_.current(0) : result_ + plan_.gradient; }

  /// Add the step of a staged chunk, from its entry `from` on, to a norm. first: the place of that entry in x.
  void add_step(PiecewiseNorm& steps, const StagedChunk& staged, std::int64_t first, std::int64_t from) const {
    const char *const after = staged.x() + staged.at(0, from), *const before = state_.current(0) + staged.at(0, first);
    const std::int64_t count = plan_.chunk - from;
    if (plan_.narrow != Narrow::none)
      by_widened(plan_.narrow, after, before, count,
                 [&](std::int64_t, const float* a, const float* b, std::int64_t n) { steps.add(a, b, n); });
    else if (plan_.dtype == Dtype::float64)
      steps.add(reinterpret_cast<const double*>(after), reinterpret_cast<const double*>(before), count);
    else steps.add(reinterpret_cast<const float*>(after), reinterpret_cast<const float*>(before), count);
  }

  template <class T> void add_norms(Norms& norms, std::int64_t first, std::int64_t count) const {
    if (BURLAB_UNLIKELY(plan_.narrow != Narrow::none)) return add_narrow_norms(norms, first, count);
    add(norms, reinterpret_cast<const T*>(gradient()) + first, reinterpret_cast<const T*>(state_.next(0)) + first,
        reinterpret_cast<const T*>(state_.current(0)) + first, count);
  }

  BURLAB_NOINLINE void add_narrow_norms(Norms& norms, std::int64_t first, std::int64_t count) const {
    const auto* const g = reinterpret_cast<const float*>(gradient());
    const std::int64_t from = first * (plan_.bytes[0] / plan_.dimension);
    by_widened(plan_.narrow, state_.next(0) + from, state_.current(0) + from, count,
               [&](std::int64_t k, const float* after, const float* before, std::int64_t n) {
                 add(norms, blind() ? before : g + first + k, after, before, n);
               });
  }

  template <class T> void write_norms(double* row) {
    const T* const g = reinterpret_cast<const T*>(gradient());
    if (BURLAB_UNLIKELY(!measured_)) measure_gradient(g);
    row[gradient_norm] = blind() ? std::numeric_limits<double>::quiet_NaN()
                                 : norm_of<T>(norms_.both.gradient.total(), g, nullptr, plan_.dimension);
    row[step_norm] = state_.in_place() ? norms_.steps.total() : norm_of_step<T>();
  }
  template <class T> BURLAB_NOINLINE void measure_gradient(const T* g) {
    measured_ = true;
    if (blind()) return;
    by_blocks([g](UpdateCall&, std::int64_t begin, std::int64_t end, BlockNorms& norms) {
      add_squares<false>(norms.both.gradient, g + begin, g + begin, end - begin);
    });
  }
  template <class T> BURLAB_INLINE double norm_of_step() const {
    if (plan_.narrow != Narrow::none) return std::sqrt(norms_.both.step.total());  // in the range of doubles
    return norm_of(norms_.both.step.total(), reinterpret_cast<const T*>(state_.next(0)),
                   reinterpret_cast<const T*>(state_.current(0)), plan_.dimension);
  }

  const Plan& plan_;
  StateBuffers& state_;
  std::optional<MeanLoss> loss_;  // none if the rule logs the value
  QueryOracle oracle_;
  const char* result_ = nullptr;                   // value, gradient and metrics of the step
  bool measured_ = false;                          // whether the gradient's norm is known
  static constexpr std::int64_t kBlock = 8;        // chunks of a block
  static constexpr std::int64_t kManyBlocks = 16;  // that are worth waking helpers
  struct BlockNorms {
    Norms both;
    PiecewiseNorm steps;  // of a step in place

    BlockNorms& operator+=(const BlockNorms& others) {
      both += others.both;
      steps += others.steps;
      return *this;
    }
  };
  BlockNorms norms_;  // of the step
  const std::int64_t blocks_;
  std::vector<BlockNorms> block_norms_;
  std::vector<std::unique_ptr<UpdateCall>> calls_;  // of each thread
  RowBuffers rows_;                                 // written by the update
  RowsLoss each_;           // replaces the loss if the update reads the gradients of its samples
  const StagedChunk last_;  // of an update in place: what is left after whole chunks
  LossState loss_state_;
  UpdateInputs inputs_{};
  std::int64_t step_ = 0;  // t of the update
};

}  // namespace burlab::run
BURLAB_END
