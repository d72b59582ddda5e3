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
#include "../sum/sum.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// One question. Mirrored by `burlab/problems/kernels/queries.py`.
struct Question {
  Summand samples, once;       // once: the regularizer's; no function if there is none
  Stream stream;               // this step's batch, or all samples
  std::int64_t points;         // of x's size, that it is about: y; or y and v
  std::int64_t value, vector;  // where they begin in a result, bytes; -1 if there is none
  std::int64_t rows;           // whether the answer is a row for every sample, not a mean
};

inline constexpr std::size_t kQuestions =
    7;  // value, grad, value_and_grad, hvp, full_value, full_grad, per_sample_grads

/// What the update of a run asks, and the form of x. Mirrored by `burlab/problems/kernels/queries.py`; outlives the
/// run.
struct Questions {
  std::array<const Question*, kQuestions> list;  // nullptr: not asked
  std::int64_t keyed;                            // whether anything here needs the key of the step
  std::int64_t dimension, bytes;                 // of x: numbers, and bytes of one
  std::int64_t leaves;                           // of x, which lie in it one after another
  const std::int64_t* places;                    // where each begins, bytes
};

/// Answers one question. All its memory is taken at the start.
class Answer {
 public:
  Answer(Ledger& ledger, const Questions& all, const Question& question, int threads)
      : all_(all),
        question_(question),
        fixed_(ledger, Kind::scratch, question_.points * all.leaves),
        sum_(ledger, question_.samples, question_.stream, question_.rows ? 1 : threads),
        memory_(
            ledger, Kind::scratch,
            question_.samples.result.bytes + Evaluator::bytes(question_.samples) + Evaluator::bytes(question_.once)),
        rows_(question_.samples, question_.stream, memory_.data() + question_.samples.result.bytes),
        once_(question_.once, question_.stream,
              memory_.data() + question_.samples.result.bytes + Evaluator::bytes(question_.samples)) {}

  bool ready() const { return fixed_.ready() && sum_.ready() && memory_.data() != nullptr; }

  /// How many numbers the question is about, and how many the answer has.
  std::int64_t numbers() const { return question_.points * all_.dimension; }
  std::int64_t results() const {
    const std::int64_t rows = question_.rows ? question_.stream.batch : 1;
    return (question_.value >= 0) + (question_.vector >= 0) * all_.dimension * rows;
  }

  Outcome operator()(std::int64_t step, Key key, Team& team, const Alarm& alarm, const char* about, char* out) {
    auto fixed = fixed_.begin();
    for (std::int64_t p = 0; p < question_.points; ++p, about += all_.dimension * all_.bytes)
      for (std::int64_t k = 0; k < all_.leaves; ++k) *fixed++ = about + all_.places[k];
    return question_.rows ? each(step, key, alarm, out) : mean(step, key, team, alarm, out);
  }

 private:
  Outcome each(std::int64_t step, Key key, Alarm alarm, char* out) {
    rows_.begin(fixed_.data(), step, key);
    for (std::int64_t row = 0; row < question_.stream.batch; ++row) {
      if (alarm.rings()) return {Stopped, 0};
      if (const auto outcome = rows_(row, out, row); !outcome.ok()) return outcome;
    }
    return {Ok, 0};
  }

  Outcome mean(std::int64_t step, Key key, Team& team, const Alarm& alarm, char* out) {
    sum_.begin(fixed_.data(), step, key);
    if (const auto outcome = sum_.resume(team, alarm); !outcome.ok()) return outcome;
    char *const result = sum_.mean(), *const term = memory_.data();
    if (question_.once.kernel.function != nullptr) {
      once_.begin(fixed_.data(), step, Key{});
      if (const auto outcome = once_(0, term); !outcome.ok()) return {outcome.status, -1};
      add(question_.samples.result, result, term);
    }
    if (question_.value >= 0) {
      std::memcpy(out, result + question_.value, static_cast<std::size_t>(all_.bytes));
      out += all_.bytes;
    }
    if (question_.vector >= 0)
      std::memcpy(out, result + question_.vector, static_cast<std::size_t>(all_.dimension * all_.bytes));
    return {Ok, 0};
  }

  const Questions& all_;
  const Question& question_;
  Buffer<const void*> fixed_;
  Sum sum_;
  Memory memory_;  // a term of the result, and what both evaluators need
  Evaluator rows_, once_;
};

/// Whom an update asks. Belongs to a loop, and answers on its thread.
class Asker : kernels::Asker {
 public:
  /// questions: nullptr if there are none.
  Asker(Ledger& ledger, const Questions* questions, int threads)
      : kernels::Asker{&Asker::reply}, address_(static_cast<kernels::Asker*>(this)) {
    if (questions == nullptr) return;
    keyed_ = questions->keyed != 0;
    for (std::size_t k = 0; k < kQuestions; ++k)
      if (questions->list[k] != nullptr) answers_[k].emplace(ledger, *questions, *questions->list[k], threads);
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  /// Whether there was memory for it.
  bool ready() const {
    for (const auto& answer : answers_)
      if (answer && !answer->ready()) return false;
    return true;
  }

  /// Whether the update, or a loss that it asks about, needs the key of the step.
  bool keyed() const { return keyed_; }

  /// What the update takes as its last inputs, besides the value: the key of the step, and whom to ask.
  const void* key() const { return &key_; }
  const void* address() const { return &address_; }

  /// Before an update: what its questions are about. hurry: when to leave an answer unfinished.
  void begin(std::int64_t step, Key key, Team& team, const std::atomic<bool>& hurry) {
    step_ = step;
    key_ = key;
    team_ = &team;
    hurry_ = &hurry;
  }

  /// How an update ended: what it answered itself, or where an answer to it failed. Then `status` has the number of the
  /// question, counted from 1, above its low 48 bits, and `sample` is -1 in the regularizer.
  Outcome outcome(std::int64_t status) const {
    if ((status & 0xFF) == Stopped) return {Stopped, kInUpdate};
    return (status & 0xFF) == Unanswered ? failure_ : Outcome{status, kInUpdate};
  }

 private:
  static Status reply(kernels::Asker* self, std::int64_t question, const void* about, std::int64_t numbers, void* out,
                      std::int64_t results) noexcept {
    Asker& asker = *static_cast<Asker*>(self);
    auto& answer = asker.answers_[static_cast<std::size_t>(question)];
    asker.failure_ = {Unanswered, kInUpdate};
    if (!answer || answer->numbers() != numbers || answer->results() != results) return Unanswered;
    const Outcome outcome = (*answer)(asker.step_, asker.key_, *asker.team_, Alarm(asker.hurry_),
                                      static_cast<const char*>(about), static_cast<char*>(out));
    if (outcome.ok()) return Ok;
    if (outcome.status == Stopped) return Stopped;
    asker.failure_ = {outcome.status | (question + 1) << 48, outcome.sample};
    return Unanswered;
  }

  kernels::Asker* address_;
  std::array<std::optional<Answer>, kQuestions> answers_;
  bool keyed_ = false;
  std::int64_t step_ = 0;
  Key key_{};
  Team* team_ = nullptr;
  const std::atomic<bool>* hurry_ = nullptr;
  Outcome failure_{Unanswered, kInUpdate};
};

}  // namespace burlab::run
BURLAB_END
