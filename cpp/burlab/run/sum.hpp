#pragma once
// The sum of a kernel over the samples of a batch, by fixed slots: FiniteSum's methods and the step loop both run this.
//
// A batch of b positions is cut into S(b) consecutive slots, S a power of two, at most 16, and each slot at least 8
// long. Inside a slot samples are added one after another; slots are added as the leaves of a binary tree. S and the
// cuts depend on b alone, so the bits depend neither on threads nor on interruptions. A thread keeps one result per
// open level of its part of the tree: at most five, however long the batch. Consecutive positions, because a slot's
// result then stays in cache.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "evaluate.hpp"
#include "result.hpp"
#include "team.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The number of slots that a batch is cut into.
constexpr std::int64_t slots_of(std::int64_t batch) {
  return std::min<std::int64_t>(16, std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, batch / 8))));
}

/// One thread's share of a sum: a run of slots that is a subtree, with one result per open level.
class Share {
 public:
  static std::int64_t bytes(const Summand& summand, std::int64_t slots) {
    return Memory::rounded(sizeof(Share)) + Evaluator::bytes(summand) +
           summand.bytes * (2 + std::bit_width(static_cast<std::uint64_t>(slots)) - 1);
  }

  Share(const Summand& summand, const Stream& stream, std::int64_t first, std::int64_t slots, char* memory)
      : summand_(summand), evaluate_(summand, stream, memory), batch_(stream.batch), first_(first), slots_(slots) {
    term_ = memory + Evaluator::bytes(summand);
    levels_ = term_ + summand.bytes;
  }

  void begin(const void* const* fixed, std::int64_t step, Key key) {
    evaluate_.begin(fixed, step, key);
    done_ = open_ = 0;
    position_ = start(0);
  }

  /// Go on where the last call stopped; Stopped where the alarm rings first.
  Outcome resume(Alarm alarm) {
    for (; done_ < slots_; ++done_) {
      const std::int64_t from = start(done_), to = start(done_ + 1);
      for (; position_ < to; ++position_) {
        if (alarm.rings()) return {Stopped, 0};
        const bool empty = position_ == from;
        if (const auto outcome = evaluate_(position_, empty ? level(open_) : term_); !outcome.ok()) return outcome;
        if (!empty) add(summand_, level(open_), term_);
      }
      ++open_;
      for (auto leaves = done_ + 1; leaves % 2 == 0; leaves /= 2, --open_)
        add(summand_, level(open_ - 2), level(open_ - 1));
    }
    return {Ok, 0};
  }

  char* result() const { return levels_; }

 private:
  std::int64_t start(std::int64_t slot) const { return batch_ * (first_ + slot) / slots_of(batch_); }
  char* level(std::int64_t k) const { return levels_ + k * summand_.bytes; }

  const Summand& summand_;
  Evaluator evaluate_;
  std::int64_t batch_, first_, slots_;
  std::int64_t done_ = 0, open_ = 0, position_ = 0;  // slots summed, results waiting for a sibling, next position
  char* term_;
  char* levels_;
};

/// The mean of a kernel over a batch, on up to 16 threads.
class Sum {
 public:
  Sum(Ledger& ledger, const Summand& summand, const Stream& stream, int threads)
      : summand_(summand),
        batch_(stream.batch),
        shares_(std::min(std::bit_floor(static_cast<std::uint64_t>(std::max(threads, 1))),
                         static_cast<std::uint64_t>(slots_of(batch_)))),
        memory_(ledger, Kind::gradients, static_cast<std::int64_t>(shares_) * Share::bytes(summand, slots())) {
    for (std::size_t i = 0; i < shares_ && ready(); ++i) {
      char* const part = memory_.data() + static_cast<std::int64_t>(i) * Share::bytes(summand, slots());
      share_[i] =
          std::construct_at(reinterpret_cast<Share*>(part), summand, stream, static_cast<std::int64_t>(i) * slots(),
                            slots(), part + Memory::rounded(sizeof(Share)));
    }
  }

  /// Whether there was memory for it.
  bool ready() const { return memory_.data() != nullptr; }
  std::int64_t bytes() const { return memory_.bytes(); }
  int threads() const { return static_cast<int>(shares_); }

  void begin(const void* const* fixed, std::int64_t step, Key key) {
    for (std::size_t i = 0; i < shares_; ++i) share_[i]->begin(fixed, step, key);
  }

  /// Go on with the sum. Stopped where the alarm rings first: call again, and the bits are as if it had not.
  Outcome resume(Team& team, const Alarm& alarm) {
    std::array<Outcome, 16> outcomes{};
    auto work = [&](int i) {
      outcomes[static_cast<std::size_t>(i)] = share_[static_cast<std::size_t>(i)]->resume(alarm);
    };
    team.run(threads(), work);
    Outcome outcome{Ok, 0};
    for (std::size_t i = 0; i < shares_; ++i)
      if (outcome.ok() || (outcome.status == Stopped && !outcomes[i].ok())) outcome = outcomes[i];
    return outcome;
  }

  /// After an Ok: the mean, which lies where the sum was, until the next `begin`.
  char* mean() {
    for (std::size_t reach = 1; reach < shares_; reach *= 2)
      for (std::size_t i = 0; i < shares_; i += 2 * reach)
        add(summand_, share_[i]->result(), share_[i + reach]->result());
    char* const result = share_[0]->result();
    if (batch_ > 1) divide(summand_, result, batch_);
    return result;
  }

 private:
  std::int64_t slots() const { return slots_of(batch_) / static_cast<std::int64_t>(shares_); }  // of one share

  const Summand& summand_;
  std::int64_t batch_;
  std::size_t shares_;
  Memory memory_;
  std::array<Share*, 16> share_{};
};

}  // namespace burlab::run
BURLAB_END
