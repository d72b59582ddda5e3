#pragma once
// What an update may ask about the problem while it runs: values, gradients and curvature at any point, over this
// step's batch with its keys, or over all samples; the regularizer is part of every mean.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>

#include "../../kernels/ask.hpp"
#include "../memory/buffer.hpp"
#include "../sum/loss.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// One query. Mirrored by `burlab/problems/kernels/queries.py`.
struct Query {
  Loss loss;                   // without its regularizer where the answer has rows
  Stream stream;               // this step's batch, or all samples
  std::int64_t points;         // of x's size, that it is about: y; or y and v
  std::int64_t value, vector;  // where they begin in a result, bytes; -1 if there is none
  std::int64_t rows;           // whether the answer is a row for every sample, not a mean
};

inline constexpr std::size_t kQueries = 7;  // value, grad, value_and_grad, hvp, full_value, full_grad, per_sample_grads

/// What the update of a run asks, and the form of x. Mirrored by `burlab/problems/kernels/queries.py`; outlives the
/// run.
struct Queries {
  std::array<const Query*, kQueries> list;  // nullptr: not used
  std::int64_t keyed;                       // whether anything here needs the key of the step
  std::int64_t dimension, bytes;            // of x: numbers, and bytes of one
  std::int64_t leaves;                      // of x, which lie in it one after another
  const std::int64_t* places;               // where each begins, bytes
};

/// Answers one query. All its memory is taken at the start.
class QueryEvaluator {
 public:
  QueryEvaluator(Ledger& ledger, const Queries& all, const Query& query, int threads)
      : all_(all),
        query_(query),
        fixed_(ledger, Kind::scratch, query_.points * all.leaves),
        loss_(ledger, query_.loss, query_.stream, query_.rows ? 1 : threads, Kind::scratch),
        memory_(ledger, Kind::scratch, Evaluator::bytes(query_.loss.samples)),
        rows_(query_.loss.samples, query_.stream, memory_.data()) {}

  bool ready() const { return fixed_.ready() && loss_.ready() && memory_.data() != nullptr; }

  /// How many numbers the query is about, and how many the answer has.
  std::int64_t numbers() const { return query_.points * all_.dimension; }
  std::int64_t results() const {
    const std::int64_t rows = query_.rows ? query_.stream.batch : 1;
    return (query_.value >= 0) + (query_.vector >= 0) * all_.dimension * rows;
  }

  /// How many samples an answer evaluates.
  std::int64_t samples() const { return query_.stream.batch; }

  Outcome operator()(std::int64_t step, Key key, Team& team, const Deadline& deadline, const char* about, char* out) {
    auto fixed = fixed_.begin();
    for (std::int64_t p = 0; p < query_.points; ++p, about += all_.dimension * all_.bytes)
      for (std::int64_t k = 0; k < all_.leaves; ++k) *fixed++ = about + all_.places[k];
    return query_.rows ? each(step, key, deadline, out) : mean(step, key, team, deadline, out);
  }

 private:
  Outcome each(std::int64_t step, Key key, Deadline deadline, char* out) {
    rows_.begin(fixed_.data(), step, key);
    for (std::int64_t row = 0; row < query_.stream.batch; ++row) {
      if (deadline.passed()) return {Stopped};
      if (const auto outcome = rows_(row, out, row); !outcome.ok()) return outcome;
    }
    return {};
  }

  Outcome mean(std::int64_t step, Key key, Team& team, const Deadline& deadline, char* out) {
    if (const auto outcome = loss_(fixed_.data(), step, key, team, deadline); !outcome.ok()) return outcome;
    const char* const result = loss_.result();
    if (query_.value >= 0) {
      std::memcpy(out, result + query_.value, static_cast<std::size_t>(all_.bytes));
      out += all_.bytes;
    }
    if (query_.vector >= 0)
      std::memcpy(out, result + query_.vector, static_cast<std::size_t>(all_.dimension * all_.bytes));
    return {};
  }

  const Queries& all_;
  const Query& query_;
  Buffer<const void*> fixed_;
  MeanLoss loss_;
  Memory memory_;
  Evaluator rows_;
};

/// Answers the queries of an update. Belongs to a loop, and answers on its thread.
class QueryOracle : kernels::Oracle {
 public:
  /// queries: nullptr if there are none.
  QueryOracle(Ledger& ledger, const Queries* queries, int threads)
      : kernels::Oracle{&QueryOracle::reply}, address_(static_cast<kernels::Oracle*>(this)) {
    if (queries == nullptr) return;
    keyed_ = queries->keyed != 0;
    for (std::size_t k = 0; k < kQueries; ++k)
      if (queries->list[k] != nullptr) answers_[k].emplace(ledger, *queries, *queries->list[k], threads);
  }
  QueryOracle(const QueryOracle&) = delete;
  QueryOracle& operator=(const QueryOracle&) = delete;

  /// Whether there was memory for it.
  bool ready() const {
    for (const auto& answer : answers_)
      if (answer && !answer->ready()) return false;
    return true;
  }

  /// Whether the update, or a loss that it queries, needs the key of the step.
  bool keyed() const { return keyed_; }

  /// What the update takes as its last inputs, besides the value: the key of the step, and the address of its oracle.
  const void* key() const { return &key_; }
  const void* address() const { return &address_; }

  /// Before an update: what its queries are about. cancel: when to leave an answer unfinished.
  void begin(std::int64_t step, Key key, Team& team, const std::atomic<bool>& cancel) {
    step_ = step;
    key_ = key;
    team_ = &team;
    cancel_ = &cancel;
    samples_ = 0;
  }

  /// How many samples the answers since `begin` have evaluated: a sample counts once in each.
  std::int64_t samples() const { return samples_; }

  /// How an update ended: what it answered itself, or where an answer to it failed.
  Outcome outcome(std::int64_t answer) const {
    if (status_of(answer) == Stopped) return {Stopped};
    return status_of(answer) == Unanswered ? failure_ : Outcome::of(answer, -1, Part::update);
  }

 private:
  static Status reply(kernels::Oracle* self, std::int64_t query, const void* about, std::int64_t numbers, void* out,
                      std::int64_t results) noexcept {
    QueryOracle& oracle = *static_cast<QueryOracle*>(self);
    auto& answer = oracle.answers_[static_cast<std::size_t>(query)];
    oracle.failure_ = {Unanswered, Part::update};
    if (!answer || answer->numbers() != numbers || answer->results() != results) return Unanswered;
    const Outcome outcome = (*answer)(oracle.step_, oracle.key_, *oracle.team_, Deadline(oracle.cancel_),
                                      static_cast<const char*>(about), static_cast<char*>(out));
    oracle.samples_ += answer->samples();
    if (outcome.ok()) return Ok;
    if (outcome.status == Stopped) return Stopped;
    oracle.failure_ = outcome.of_owner(static_cast<std::int32_t>(query));
    return Unanswered;
  }

  kernels::Oracle* address_;
  std::array<std::optional<QueryEvaluator>, kQueries> answers_;
  bool keyed_ = false;
  std::int64_t step_ = 0, samples_ = 0;
  Key key_{};
  Team* team_ = nullptr;
  const std::atomic<bool>* cancel_ = nullptr;
  Outcome failure_{Unanswered, Part::update};
};

}  // namespace burlab::run
BURLAB_END
