#pragma once
// The state of a loss after its step: from the result of the loss to the last buffers of a run. Of a table in which a
// step writes some rows only these are copied: the two buffers of a pair differ in the rows that were written last.
#include <cstdint>
#include <cstring>

#include "../abi/plan.hpp"
#include "../memory/buffer.hpp"
#include "state_buffers.hpp"

BURLAB_BEGIN
namespace burlab::run {

class LossState {
 public:
  /// plan, state: must outlive it.
  LossState(Ledger& ledger, const Plan& plan, StateBuffers& state)
      : leaves_(ledger, Kind::scratch, plan.loss_buffers, plan.loss_leaf),
        written_(ledger, Kind::scratch, rows_of(plan)),
        state_(state) {}

  bool ready() const { return leaves_.ready() && written_.ready(); }
  bool any() const { return leaves_.size() > 0; }

  /// Whether all rows exist that a result has. node: the number of the leaf.
  Outcome check(const char* result) const {
    for (std::int64_t k = 0; k < leaves_.size(); ++k) {
      const LossLeaf& leaf = leaves_[k];
      for (std::int64_t i = 0; i < leaf.rows; ++i) {
        const std::int64_t row = numbers(leaf, result)[i], all = state_.bytes(state_.own() + k) / leaf.size;
        if (row < 0 || row >= all) return {IndexOutOfRange, Part::row, kRunLoss, static_cast<std::int32_t>(k), row};
      }
    }
    return {};
  }

  /// After an Ok: write the state of a result to the next buffers or, in place, over the only ones.
  void take(const char* result) {
    std::int64_t* written = written_.begin();
    const bool known = loads_ == state_.loads();
    for (std::int64_t k = 0; k < leaves_.size(); ++k) {
      const LossLeaf& leaf = leaves_[k];
      const std::int64_t buffer = state_.own() + k, bytes = state_.bytes(buffer);
      const char *const from = state_.current(buffer), *const given = result + leaf.place;
      char* const to = state_.next(buffer);
      if (leaf.rows == 0) {
        std::memcpy(to, given, static_cast<std::size_t>(bytes));
        continue;
      }
      const auto size = static_cast<std::size_t>(leaf.size);
      if (to != from && !known) std::memcpy(to, from, static_cast<std::size_t>(bytes));
      for (std::int64_t i = 0; to != from && known && i < leaf.rows; ++i)
        std::memcpy(to + written[i] * leaf.size, from + written[i] * leaf.size, size);
      for (std::int64_t i = 0; i < leaf.rows; ++i) {
        written[i] = numbers(leaf, result)[i];
        std::memcpy(to + written[i] * leaf.size, given + i * leaf.size, size);
      }
      written += leaf.rows;
    }
    loads_ = state_.loads();
  }

 private:
  static const std::int64_t* numbers(const LossLeaf& leaf, const char* result) {
    return reinterpret_cast<const std::int64_t*>(result + leaf.numbers);
  }
  static std::int64_t rows_of(const Plan& plan) {
    std::int64_t rows = 0;
    for (std::int64_t k = 0; k < plan.loss_buffers; ++k) rows += plan.loss_leaf[k].rows;
    return rows;
  }

  const Buffer<LossLeaf> leaves_;
  Buffer<std::int64_t> written_;  // the rows of all tables that the last step wrote
  StateBuffers& state_;
  std::int64_t loads_ = -1;  // loads of the buffers when the rest of them was equal
};

}  // namespace burlab::run
BURLAB_END
