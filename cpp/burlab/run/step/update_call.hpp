#pragma once
// Calls of an update rule for entries of x. Rules that treat every entry alike are called chunk by chunk, and chunks by
// several threads, each with memory of its own.
#include <algorithm>
#include <cstdint>

#include "../abi/plan.hpp"
#include "../memory/buffer.hpp"
#include "row_buffers.hpp"
#include "staged_chunks.hpp"
#include "state_buffers.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// What all calls of a step read.
struct UpdateInputs {
  const char* gradient;
  const char* value;
  const std::int64_t* step;
  const double* hyper;
  const void *key, *indices, *oracle;
};

/// The arguments and the workspace of one thread's calls.
class UpdateCall {
 public:
  /// plan, state: must outlive it. rows: how many arrays the rule writes for rows of its state.
  UpdateCall(Ledger& ledger, const Plan& plan, StateBuffers& state, std::int64_t rows)
      : plan_(plan),
        state_(state),
        workspace_(ledger, Kind::scratch, plan.update.workspace),
        in_(ledger, Kind::scratch, 6 + plan.hypers + state.own()),
        out_(ledger, Kind::scratch, state.own() + plan.noted + rows + state.shifts()),
        chunk_(ledger, plan, state),
        noted_(ledger, Kind::scratch, plan.noted) {}

  bool ready() const {
    return workspace_.data() != nullptr && in_.ready() && out_.ready() && chunk_.ready() && noted_.ready();
  }

  const StagedChunk& chunk() const { return chunk_; }
  const Buffer<double>& noted() const { return noted_; }

  /// Apply the rule to the entries from `first` on. staged: where it writes; nullptr: the next buffers. direct: it
  /// writes over what it reads. rows: nullptr if it writes none.
  std::int64_t operator()(const UpdateInputs& given, std::int64_t first, const StagedChunk* staged, bool direct,
                          RowBuffers* rows) {
    auto in = in_.begin();
    *in++ = given.gradient + first * bytes_of(plan_.dtype);
    *in++ = state_.current(0) + at(0, first);
    *in++ = given.step;
    for (std::int64_t k = 0; k < plan_.hypers; ++k) *in++ = given.hyper + k;
    const auto state = in;
    for (std::int64_t k = 1; k < state_.own(); ++k) *in++ = state_.current(k) + at(k, first);
    *in++ = given.value;
    *in++ = given.key;
    *in++ = given.indices;
    *in++ = given.oracle;
    auto out = out_.begin();
    const auto give = [&out](std::int64_t, char* place) { *out++ = place; };
    if (staged == nullptr)
      for (std::int64_t k = 0; k < state_.own(); ++k) give(k, state_.next(k) + at(k, first));
    else if (direct) staged->each_direct(first, give);
    else staged->each(give);
    for (double& number : noted_) *out++ = &number;
    for (std::int64_t k = 0; k < state_.shifts(); ++k) *out++ = state_.shift(k);
    if (rows != nullptr) {
      for (std::int64_t* written : rows->written()) *out++ = written;
      rows->copy(state_);
      for (const RowBuffer& one : rows->all())
        (one.buffer == 0 ? in_[1] : state[one.buffer - 1]) = state_.next(one.buffer);
    }
    return plan_.update.function(plan_.update.context, in_.data(), out_.data(), workspace_.data());
  }

  /// The offset in bytes, in a buffer, of the entry for x's entry `first`.
  std::int64_t at(std::int64_t buffer, std::int64_t first) const { return first == 0 ? 0 : chunk_.at(buffer, first); }

 private:
  const Plan& plan_;
  StateBuffers& state_;
  Memory workspace_;
  Buffer<const void*> in_;
  Buffer<void*> out_;
  const StagedChunk chunk_;  // of an update in place
  Buffer<double> noted_;
};

}  // namespace burlab::run
BURLAB_END
