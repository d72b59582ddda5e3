#pragma once
// The sum of a kernel over the samples of a batch, by fixed slots: FiniteSum's methods and the step loop both use it.
//
// A batch of b positions is cut into S consecutive slots, S a power of two, and each slot long enough that clearing and
// adding up results costs little, and that light samples fill their tiles: at most 16, but of small results up to 64,
// where these are long. Inside a slot samples are added
// one after another, a tile of them in each call, by kernels that add in the order of the samples whatever the tile;
// floats in pieces of 64 samples, whose sums are added in double, because a long sum of floats loses what is small
// (where results are large, in slots of more than 512 samples only). Slots are added as the leaves of a binary tree. S
// and the cuts depend on b, the size of a result and the loss alone, so the bits depend neither on tiles nor on threads
// nor on interruptions. A thread takes a subtree of slots, and keeps one result per open level of it, however long the
// batch. Or threads share each call of the kernel (`inside`), where slots are few or results large: then there is one
// subtree, the whole tree. Consecutive positions, because a slot's result then stays in cache.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "../../blas_threads.hpp"
#include "evaluate.hpp"
#include "result.hpp"
#include "team.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The number of slots that a batch is cut into; bytes: of a result; shortest: the least samples of a slot for this
/// loss. Mirrored by `burlab/problems/kernels/tiles.py`. Large results get fewer slots: each doubling costs the memory
/// of one more result.
constexpr std::int64_t slots_of(std::int64_t batch, std::int64_t bytes, std::int64_t shortest) {
  const std::int64_t least = std::max<std::int64_t>(shortest, bytes < 1 << 16 ? 8 : bytes < 1 << 20 ? 32 : 128);
  const std::int64_t few = std::min<std::int64_t>(batch / least, bytes < 1 << 16 ? 16 : 8);
  const std::int64_t many = std::min<std::int64_t>(batch / (8 * least), bytes < 1 << 12   ? 64
                                                                        : bytes < 1 << 16 ? 32
                                                                                          : 1);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max({std::int64_t{1}, few, many}))));
}

inline std::int64_t slots_of(const Summand& summand, std::int64_t batch) {
  return summand.whole_batch != 0 ? 1 : slots_of(batch, summand.sums.bytes, summand.least);
}

/// Samples that are added up in float, mirrored by `burlab/problems/kernels/tiles.py`: a multiple of most tiles.
constexpr std::int64_t kPiece = 64;

/// Samples of a slot that are added up as floats without pieces, at most. bytes: of a result; a large one in double
/// takes memory that its last digit is not worth.
constexpr std::int64_t longest(std::int64_t bytes) { return bytes < 1 << 16 ? kPiece : 8 * kPiece; }

/// Return true if so many slots of a batch are added up in pieces.
inline bool has_pieces(const Summand& summand, std::int64_t batch, std::int64_t slots) {
  return summand.tile != 0 && summand.whole_batch == 0 && batch > longest(summand.sums.bytes) * slots &&
         is_narrow(summand.sums);
}

/// One thread's share of a sum: a run of slots that is a subtree, with one result per open level.
class Share {
 public:
  /// Bytes of this object and of its evaluator's workspace.
  static std::int64_t bytes(const Summand& summand) {
    return Memory::rounded(sizeof(Share)) + Evaluator::bytes(summand);
  }
  /// Bytes of its open levels, and of the sum of pieces.
  static std::int64_t bytes_of_levels(const Summand& summand, std::int64_t slots, bool pieces) {
    const std::int64_t levels = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(slots)));
    return summand.sums.bytes * levels + (pieces ? WideSum::bytes(summand.sums) : 0);
  }

  /// slots: at most.
  Share(const Summand& summand, const Stream& stream, char* memory, char* levels, std::int64_t slots)
      : summand_(summand),
        evaluate_(summand, stream, memory),
        levels_(levels),
        whole_(summand.sums, levels + bytes_of_levels(summand, slots, false)) {}

  /// batch, all: samples and slots of all shares; first, slots: those of this one.
  void begin(const void* const* fixed, const void* const* ready, std::int64_t step, Key key, std::int64_t batch,
             std::int64_t all, std::int64_t first, std::int64_t slots) {
    evaluate_.begin(fixed, ready, step, key);
    batch_ = batch;
    halvings_ = std::countr_zero(static_cast<std::uint64_t>(all));
    first_ = first;
    slots_ = slots;
    done_ = open_ = 0;
    pieces_ = has_pieces(summand_, batch, all);
    position_ = start(0);
  }

  /// Continue after the last call; Stopped if the deadline comes first. laps: of this thread, or nullptr.
  Outcome resume(Deadline deadline, Laps* laps) {
    evaluate_.time_with(laps);
    if (laps == nullptr) return go_through(deadline);
    laps->begin();
    const Outcome outcome = go_through(deadline);
    laps->end(lap_gradient);
    return outcome;
  }

  char* result() const { return levels_; }

 private:
  Outcome go_through(Deadline deadline) {
    for (; done_ < slots_; ++done_) {
      while (position_ < start(done_ + 1)) {
        if (deadline.passed()) return {Stopped};
        if (const auto outcome = go_on(start(done_), start(done_ + 1)); !outcome.ok()) {
          position_ = start(done_);  // the slot's contents are invalid
          return outcome;
        }
      }
      ++open_;
      for (auto leaves = done_ + 1; leaves % 2 == 0; leaves /= 2, --open_)
        in_portions(summand_.sums, [&](Portion part) { add(summand_.sums, level(open_ - 2), level(open_ - 1), part); });
    }
    return {};
  }

  /// Add the next tile of the slot [from, to).
  Outcome go_on(std::int64_t from, std::int64_t to) {
    char* const sums = level(open_);
    if (summand_.tile == 0) return evaluate_(position_++, sums);  // a batch of one
    if (pieces_ && position_ == from) in_portions(summand_.sums, [&](Portion part) { whole_.clear(part); });
    const std::int64_t done = pieces_ ? (position_ - from) % kPiece : position_ - from;
    if (done == 0) in_portions(summand_.sums, [&](Portion part) { clear(summand_.sums, sums, part); });
    const std::int64_t end = pieces_ ? std::min(to, position_ - done + kPiece) : to;
    const std::int64_t count = std::min(summand_.tile, end - position_);
    const auto outcome = evaluate_.tile(position_, count, sums);
    position_ += count;
    if (pieces_ && position_ == end)
      in_portions(summand_.sums, [&](Portion part) {
        whole_.add(sums, part);
        if (position_ == to) whole_.put(sums, part);
      });
    return outcome;
  }

  /// The first position of a slot: a share of the batch, whose slots are a power of two.
  std::int64_t start(std::int64_t slot) const { return batch_ * (first_ + slot) >> halvings_; }
  char* level(std::int64_t k) const { return levels_ + k * summand_.sums.bytes; }

  const Summand& summand_;
  Evaluator evaluate_;
  std::int64_t batch_ = 1, first_ = 0, slots_ = 1;
  int halvings_ = 0;                                 // of the batch, down to a slot
  std::int64_t done_ = 0, open_ = 0, position_ = 0;  // slots summed, results waiting for a sibling, next position
  char* levels_;
  WideSum whole_;        // of the pieces of a slot
  bool pieces_ = false;  // whether it has any
};

/// The number of subtrees of slots that threads take: as many as threads, or more where these are no power of two.
inline std::size_t shares_of(int threads, std::int64_t slots) {
  const auto even = std::bit_ceil(static_cast<std::uint64_t>(threads)), all = static_cast<std::uint64_t>(threads);
  return std::min({even == all ? all : 2 * even, static_cast<std::uint64_t>(slots), std::uint64_t{Team::kMaxThreads}});
}

/// The mean of a kernel over a batch, on several threads.
class Sum {
 public:
  Sum(Ledger& ledger, const Summand& summand, const Stream& stream, int threads)
      : summand_(summand),
        stream_(stream),
        threads_(std::clamp(threads, 1, Team::kMaxThreads)),
        batch_(stream.batch),
        slots_(slots_of(summand, stream.batch)),
        shares_(summand.inside != 0 ? 1 : shares_of(threads_, slots_)),
        memory_(ledger, Kind::activations, count() * Share::bytes(summand)),
        levels_(ledger, Kind::gradients, count() * bytes_of_levels()),
        finish_(ledger, Kind::gradients, finish_bytes(summand)) {
    if (summand.prepare.function != nullptr) prepared_.emplace(ledger, Kind::activations, prepared_bytes(summand));
    for (std::int64_t i = 0; i < count() && memory_.data() != nullptr; ++i) {
      char* const part = memory_.data() + i * Share::bytes(summand);
      char* const levels = levels_.data() + i * bytes_of_levels();
      share_[static_cast<std::size_t>(i)] = std::construct_at(
          reinterpret_cast<Share*>(part), summand, stream, part + Memory::rounded(sizeof(Share)), levels, most_slots());
    }
  }

  /// Return true if all memory was available.
  bool ready() const {
    return memory_.data() != nullptr && levels_.data() != nullptr && finish_.data() != nullptr &&
           (!prepared_ || prepared_->data() != nullptr);
  }
  std::int64_t bytes() const {
    return memory_.bytes() + levels_.bytes() + finish_.bytes() + (prepared_ ? prepared_->bytes() : 0);
  }
  int threads() const { return summand_.inside != 0 ? threads_ : std::min(threads_, static_cast<int>(shares_)); }

  /// Start a sum, and compute the part that all its tiles share.
  void begin(const void* const* fixed, std::int64_t step, Key key) {
    fixed_ = fixed;
    failure_ = prepared_ ? prepare(fixed) : Outcome{};
    if (const std::int64_t batch = stream_.size(); BURLAB_UNLIKELY(batch != batch_)) {
      batch_ = batch;
      slots_ = slots_of(summand_, batch);
    }
    used_ = std::min(shares_, static_cast<std::size_t>(slots_));
    const std::int64_t each = used_ == 1 ? slots_ : slots_ / static_cast<std::int64_t>(used_);
    for (std::size_t i = 0; i < used_; ++i)
      share_[i]->begin(fixed_, ready_, step, key, batch_, slots_, static_cast<std::int64_t>(i) * each, each);
  }

  /// Continue the sum. Stopped if the deadline comes first: another call continues, with the same bits. laps: times by
  /// part, or nullptr.
  Outcome resume(Team& team, const Deadline& deadline, StepLaps* laps = nullptr) {
    if (!failure_.ok()) return failure_;
    if (laps != nullptr) laps->begin(used_);
    // Large factorizations too, whether threads take slots or not: their bits depend on OpenBLAS's threads.
    const OneBlasThread alone(slots_ > 1);
    if (used_ == 1) {
      Laps* const own = laps == nullptr ? nullptr : laps->threads.data();
      const Outcome outcome = summand_.inside != 0 ? inside(deadline, own) : share_[0]->resume(deadline, own);
      if (laps != nullptr) laps->own.share(own, 1);
      return outcome;
    }
    std::array<Outcome, Team::kMaxThreads> outcomes{};
    auto work = [&](int i) {
      const auto k = static_cast<std::size_t>(i);
      outcomes[k] = share_[k]->resume(deadline, laps == nullptr ? nullptr : &laps->threads[k]);
    };
    team.run(static_cast<int>(used_), work);
    if (laps != nullptr) laps->own.share(laps->threads.data(), used_);
    Outcome outcome;
    for (std::size_t i = 0; i < used_; ++i)
      if (outcome.ok() || (outcome.status == Stopped && !outcomes[i].ok())) outcome = outcomes[i];
    return outcome;
  }

  /// After an Ok: the result computed from the mean, valid until the next `begin`; see `finished`.
  char* mean() {
    char* const sums = share_[0]->result();
    const auto work = [&](Portion part) {
      for (std::size_t reach = 1; reach < used_; reach *= 2)
        for (std::size_t i = 0; i < used_; i += 2 * reach)
          add(summand_.sums, share_[i]->result(), share_[i + reach]->result(), part);
      if (batch_ > 1 && summand_.whole_batch == 0) divide(summand_.sums, sums, batch_, part);
    };
    if (threads_ == 1 || summand_.sums.bytes < kAlone) {
      work(Portion{});
    } else {
      const ThreadsScope scope(threads_);
      in_portions(summand_.sums, work);
    }
    return summand_.finish.function == nullptr ? sums : finish(sums);
  }

  /// After `mean`: whether the result could be computed. What is linear in the mean cannot fail; a state that needs no
  /// sample may.
  Outcome finished() const { return finished_; }

 private:
  /// The sum by threads that share each call of the kernel.
  BURLAB_NOINLINE Outcome inside(const Deadline& deadline, Laps* laps) {
    const ThreadsScope scope(threads_);
    return share_[0]->resume(deadline, laps);
  }

  std::int64_t count() const { return static_cast<std::int64_t>(shares_); }
  /// The largest size of a share.
  std::int64_t most_slots() const { return slots_of(summand_, stream_.batch) / static_cast<std::int64_t>(shares_); }

  /// Of a share, at most, for any batch up to this one: light samples have pieces in short batches too.
  std::int64_t bytes_of_levels() const {
    const bool light =
        summand_.tile != 0 && summand_.whole_batch == 0 && summand_.sums.bytes < 1 << 16 && is_narrow(summand_.sums);
    const bool pieces =
        has_pieces(summand_, stream_.batch, slots_of(summand_, stream_.batch)) || (light && stream_.batch > kPiece);
    return Share::bytes_of_levels(summand_, most_slots(), pieces);
  }

  static std::int64_t finish_bytes(const Summand& summand) {
    if (summand.finish.function == nullptr) return 64;
    return summand.result.bytes + Memory::rounded(8 * (summand.shared() + summand.sums.outputs)) +
           Memory::rounded(8 * summand.result.outputs) + summand.finish.workspace;
  }

  static std::int64_t prepared_bytes(const Summand& summand) {
    return summand.prepared.bytes + Memory::rounded(8 * summand.shared()) +
           Memory::rounded(8 * summand.prepared.outputs) + summand.prepare.workspace;
  }

  /// Compute the part that needs no sample, which all samples share.
  Outcome prepare(const void* const* fixed) {
    char* const results = prepared_->data();
    auto** const in = reinterpret_cast<const void**>(results + summand_.prepared.bytes);
    char* const next = reinterpret_cast<char*>(in) + Memory::rounded(8 * summand_.shared());
    auto** const out = reinterpret_cast<void**>(next);
    summand_.share(fixed, nullptr, in);
    for (std::int64_t k = 0; k < summand_.prepared.outputs; ++k) out[k] = results + summand_.prepared.offsets[k];
    ready_ = out;
    void* const workspace = next + Memory::rounded(8 * summand_.prepared.outputs);
    const auto& [function, context, bytes] = summand_.prepare;
    return Outcome::of(function(context, in, out, workspace), -1, Part::prepare);
  }

  /// Compute the result from the shared inputs and the mean.
  char* finish(char* sums) {
    char* const result = finish_.data();
    auto** const in = reinterpret_cast<const void**>(result + summand_.result.bytes);
    const std::int64_t shared = summand_.shared();
    char* const next = reinterpret_cast<char*>(in) + Memory::rounded(8 * (shared + summand_.sums.outputs));
    auto** const out = reinterpret_cast<void**>(next);
    summand_.share(fixed_, ready_, in);
    for (std::int64_t k = 0; k < summand_.sums.outputs; ++k) in[shared + k] = sums + summand_.sums.offsets[k];
    for (std::int64_t k = 0; k < summand_.result.outputs; ++k) out[k] = result + summand_.result.offsets[k];
    void* const workspace = next + Memory::rounded(8 * summand_.result.outputs);
    const auto& [function, context, bytes] = summand_.finish;
    finished_ = Outcome::of(function(context, in, out, workspace), -1, Part::finish);
    return result;
  }

  const Summand& summand_;
  const Stream stream_;
  int threads_;
  std::int64_t batch_, slots_;  // of the current sum
  std::size_t shares_;
  Memory memory_, levels_, finish_;
  std::optional<Memory> prepared_;
  std::size_t used_ = 1;                // shares of the current sum
  const void* const* fixed_ = nullptr;  // inputs of all samples: those given, and those prepared
  const void* const* ready_ = nullptr;
  Outcome failure_;   // of the part that needs no sample
  Outcome finished_;  // of the part behind the mean
  std::array<Share*, Team::kMaxThreads> share_{};
};

}  // namespace burlab::run
BURLAB_END
