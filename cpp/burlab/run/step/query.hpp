#pragma once
// The queries of an update to the problem: values, gradients and curvature at any point, over this step's batch with
// its keys, over chosen samples, or over all samples. Every mean includes the regularizer.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "../../kernels/oracle_query.hpp"
#include "../memory/buffer.hpp"
#include "../sum/loss.hpp"
#include "clients.hpp"
#include "query_kind.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// One query. Mirrored in Python.
struct Query {
  std::int64_t kind, chosen;   // its number in `burlab/graph/query.py`; the number of samples that it names, 0: none
  std::int64_t entries;        // the number of entries of the gradient, or of rows of layers, that it names; 0: all
  std::int64_t form;           // which query of its kind it is, named before other numbers; 0: the only one
  Loss loss;                   // without its regularizer where the answer has rows
  Stream stream;               // this step's batch, or all samples; listed where they are chosen
  std::int64_t points;         // the number of its points, each of x's size: y; or y and v
  std::int64_t value, vector;  // their offsets in a result, bytes; -1: none
  std::int64_t rows;           // 1: the answer is a row for every sample, not a mean
  std::int64_t width;          // numbers of a vector of the answer; 0: one for each entry, or as many as x has
  std::int64_t goals;          // numbers of a further row for each position, after a row that all share; 0: none
};

/// The queries of a run's update, and the layout of x. It outlives the run. Mirrored in Python.
struct Queries {
  std::int64_t count;             // of queries
  const Query* const* list;       // no two alike
  std::int64_t keyed, indexed;    // whether a query needs the key of the step; the numbers of its samples
  std::int64_t dimension, bytes;  // of x: numbers, and bytes of one
  std::int64_t leaves;            // of x, which holds them one after another
  const std::int64_t* places;     // where each begins, bytes
  const Clients* clients;         // of a federation; nullptr if no query is about them
  std::int64_t numbers;           // that a loss reads, behind the arguments of a query
};

/// The gradients of the samples of a step, at its point x, so that they are not computed again.
struct KnownRows {
  const char* x = nullptr;               // nullptr: they are not known
  std::int64_t bytes = 0;                // of x
  const char* table = nullptr;           // of the first one
  std::int64_t stride = 0, count = 0;    // bytes from one to the next; how many there are
  std::int64_t numbers = 0, length = 0;  // of an answer, in all and in bytes

  bool answers(const kernels::Question& question, std::int64_t results) const {
    return x != nullptr && question.query == query_per_sample_grads && question.count == 0 && results == numbers &&
           std::memcmp(question.about, x, static_cast<std::size_t>(bytes)) == 0;
  }

  /// Write a row for each sample, and zeros after a smaller batch.
  void copy(char* out) const {
    for (std::int64_t row = 0; row < count; ++row)
      std::memcpy(out + row * bytes, table + row * stride, static_cast<std::size_t>(bytes));
    std::memset(out + count * bytes, 0, static_cast<std::size_t>(length - count * bytes));
  }
};

/// Answers one query. All memory is allocated at the start.
class QueryEvaluator {
 public:
  /// run: the batches of the run, which some queries are about.
  QueryEvaluator(Ledger& ledger, const Queries& all, const Query& query, const Stream& run, int threads)
      : all_(all),
        query_(query),
        arrays_(ledger, Kind::scratch, query.goals > 0 ? query.loss.samples.arrays : 0),
        own_(with_arrays(query.loss, arrays_)),
        chosen_(ledger, Kind::scratch, query.chosen),
        stream_(with_list(query.stream, chosen_, run)),
        fixed_(ledger, Kind::scratch,
               query_.points * all.leaves + (query_.entries > 0) + (query_.goals > 0) + all.numbers),
        memory_(ledger, Kind::scratch, query.rows != 0 ? Evaluator::bytes(own_.samples) : 0) {
    if (query_.rows != 0) rows_.emplace(own_.samples, stream_, memory_.data());
    else loss_.emplace(ledger, own_, stream_, threads, Kind::scratch);
  }

  bool ready() const {
    return arrays_.ready() && chosen_.ready() && fixed_.ready() && (!loss_ || loss_->ready()) &&
           memory_.data() != nullptr;
  }

  /// Return true if this query matches a question whose answer has this many numbers.
  bool answers(const kernels::Question& question, std::int64_t numbers) const {
    return question.query == query_.kind && question.count == query_.entries + query_.chosen + (query_.form > 0) &&
           numbers == results() && (query_.form == 0 || question.chosen[0] == query_.form);
  }
  /// The sizes of the query's argument and of its answer, in numbers.
  std::int64_t numbers() const {
    return query_.points * all_.dimension + (query_.goals > 0 ? 1 + stream_.batch * query_.goals : 0);
  }
  std::int64_t results() const {
    const std::int64_t rows = query_.rows ? query_.stream.batch : 1;
    return (query_.value >= 0) + (query_.vector >= 0) * length() * rows;
  }

  /// Count the cost of an answer.
  void count(Counts& counts) const {
    const std::int64_t each = query_.kind == query_hessian        ? all_.dimension
                              : query_.kind == query_partial_grad ? query_.entries
                                                                  : 1;
    counts[counter_of(query_.kind)] += stream_.size() * std::max<std::int64_t>(each, 1);
  }

  /// numbers: what the loss reads at this step.
  Outcome operator()(std::int64_t step, Key key, const void* const* numbers, Team& team, const Deadline& deadline,
                     const kernels::Question& question, char* out) {
    const char* about = static_cast<const char*>(question.about);
    for (std::int64_t i = 0; i < query_.entries; ++i)
      if (question.chosen[i] < 0 || question.chosen[i] >= all_.dimension)
        return {IndexOutOfRange, Part::entries, kRunLoss, 0, question.chosen[i]};
    for (std::int64_t i = 0; i < chosen_.size(); ++i) {
      chosen_[i] = question.chosen[query_.entries + (query_.form > 0) + i];
      if (chosen_[i] < 0 || chosen_[i] >= stream_.samples)
        return {IndexOutOfRange, Part::chosen, kRunLoss, 0, chosen_[i]};
    }
    auto fixed = fixed_.begin();
    for (std::int64_t p = 0; p < query_.points; ++p, about += all_.dimension * all_.bytes)
      for (std::int64_t k = 0; k < all_.leaves; ++k) *fixed++ = about + all_.places[k];
    if (query_.entries > 0) *fixed++ = question.chosen;
    std::copy(numbers, numbers + all_.numbers, fixed);
    if (query_.goals > 0) {
      *fixed = about;
      arrays_[arrays_.size() - 1] = about + all_.bytes;
    }
    return query_.rows ? each(step, key, deadline, out) : mean(step, key, team, deadline, out);
  }

 private:
  /// A loss whose last array changes with each question.
  static Loss with_arrays(Loss loss, Buffer<const char*>& arrays) {
    if (arrays.size() == 0 || !arrays.ready()) return loss;
    std::copy(loss.samples.data, loss.samples.data + arrays.size(), arrays.begin());
    loss.samples.data = arrays.begin();
    return loss;
  }

  static Stream with_list(Stream stream, const Buffer<std::int64_t>& list, const Stream& run) {
    if (list.size() > 0) stream.list = list.begin();
    if (stream.sampling == Sampling::traced) stream.list = run.list;
    if (stream.varies != 0) stream.live = run.live;
    return stream;
  }

  Outcome each(std::int64_t step, Key key, Deadline deadline, char* out) {
    rows_->begin(fixed_.data(), nullptr, step, key);
    const std::int64_t rows = stream_.size(), bytes = length() * all_.bytes;
    std::memset(out + rows * bytes, 0, static_cast<std::size_t>((stream_.batch - rows) * bytes));
    for (std::int64_t row = 0; row < rows; ++row) {
      if (deadline.passed()) return {Stopped};
      if (const auto outcome = (*rows_)(row, out, row); !outcome.ok()) return outcome;
    }
    return {};
  }

  Outcome mean(std::int64_t step, Key key, Team& team, const Deadline& deadline, char* out) {
    if (const auto outcome = (*loss_)(fixed_.data(), step, key, team, deadline); !outcome.ok()) return outcome;
    const char* const result = loss_->result();
    if (query_.value >= 0) {
      std::memcpy(out, result + query_.value, static_cast<std::size_t>(all_.bytes));
      out += all_.bytes;
    }
    if (query_.vector >= 0) std::memcpy(out, result + query_.vector, static_cast<std::size_t>(length() * all_.bytes));
    return {};
  }

  /// Numbers of a vector that it gives.
  std::int64_t length() const {
    if (query_.width > 0) return query_.width;
    return query_.entries > 0 ? query_.entries : all_.dimension;
  }

  const Queries& all_;
  const Query& query_;
  Buffer<const char*> arrays_;  // of samples, if the last one comes with the question
  const Loss own_;
  Buffer<std::int64_t> chosen_;
  const Stream stream_;
  Buffer<const void*> fixed_;
  std::optional<MeanLoss> loss_;  // of a mean
  Memory memory_;
  std::optional<Evaluator> rows_;  // of an answer with rows
};

/// Answers the queries of an update, on the thread of its loop.
class QueryOracle : kernels::Oracle {
 public:
  /// queries: nullptr if there are none. stream: the batches of the run.
  QueryOracle(Ledger& ledger, const Queries* queries, const Stream& stream, int threads)
      : kernels::Oracle{&QueryOracle::reply},
        address_(static_cast<kernels::Oracle*>(this)),
        stream_(stream),
        count_(queries != nullptr ? queries->count : 0),
        answers_(std::make_unique<std::optional<QueryEvaluator>[]>(static_cast<std::size_t>(count_))),
        keyed_(queries != nullptr && queries->keyed != 0),
        indices_(ledger, Kind::scratch, queries != nullptr && queries->indexed != 0 ? stream.batch : 0),
        clients_(ledger, queries != nullptr ? queries->clients : nullptr, most_chosen(queries),
                 queries != nullptr ? queries->dimension : 0, queries != nullptr ? queries->bytes : 0,
                 has(queries, query_hessian)) {
    for (std::int64_t k = 0; k < count_; ++k) answer(k).emplace(ledger, *queries, *queries->list[k], stream_, threads);
  }
  QueryOracle(const QueryOracle&) = delete;
  QueryOracle& operator=(const QueryOracle&) = delete;

  /// Return true if all memory was available.
  bool ready() const {
    for (std::int64_t k = 0; k < count_; ++k)
      if (!answer(k)->ready()) return false;
    return indices_.ready() && clients_.ready();
  }

  /// Return true if the update, or a loss that it queries, needs the key of the step.
  bool keyed() const { return keyed_; }

  /// The last inputs of the update, after the value: the key of the step, the numbers of its samples, and the address
  /// of its oracle.
  const void* key() const { return &key_; }
  const void* indices() const { return indices_.begin(); }
  const void* address() const { return &address_; }

  /// Before an update: set the step that its queries are about. cancel: a flag that stops an answer.
  /// numbers: what the loss reads at this step.
  void begin(std::int64_t step, Key key, const void* const* numbers, Team& team, const std::atomic<bool>& cancel) {
    step_ = step;
    key_ = key;
    numbers_ = numbers;
    team_ = &team;
    cancel_ = &cancel;
    counts_ = {};
    known_ = {};
    for (std::int64_t p = 0; p < indices_.size(); ++p) indices_[p] = draw_(stream_, step, p);
  }

  /// After `begin`: set the rows that need not be computed.
  void know(const KnownRows& rows) { known_ = rows; }

  /// The cost of the answers since `begin`: a sample counts once in each.
  const Counts& counts() const { return counts_; }

  /// The outcome of an update: its own, or that of a failed query.
  Outcome outcome(std::int64_t answer) const {
    if (status_of(answer) == Stopped) return {Stopped};
    return status_of(answer) == Unanswered ? failure_ : Outcome::of(answer, -1, Part::update);
  }

 private:
  std::optional<QueryEvaluator>& answer(std::int64_t k) const { return answers_[static_cast<std::size_t>(k)]; }

  static bool has(const Queries* queries, std::int64_t kind) {
    for (std::int64_t k = 0; queries != nullptr && k < queries->count; ++k)
      if (queries->list[k]->kind == kind) return true;
    return false;
  }

  /// The largest number of samples that a query names.
  static std::int64_t most_chosen(const Queries* queries) {
    std::int64_t most = 0;
    for (std::int64_t k = 0; queries != nullptr && k < queries->count; ++k)
      most = std::max(most, queries->list[k]->chosen);
    return most;
  }

  static Status reply(kernels::Oracle* self, const kernels::Question& question, void* out,
                      std::int64_t results) noexcept {
    QueryOracle& oracle = *static_cast<QueryOracle*>(self);
    const Outcome outcome = oracle.reply(question, static_cast<char*>(out), results);
    if (outcome.ok() || outcome.status == Stopped) return outcome.status;
    oracle.failure_ = outcome;
    return Unanswered;
  }

  Outcome reply(const kernels::Question& question, char* out, std::int64_t results) {
    if (question.query < query_client_grads) return evaluate(question, out, results);
    const auto evaluate_samples = [this](const kernels::Question& about, char* to, std::int64_t numbers) {
      return evaluate(about, to, numbers);
    };
    return clients_(question, key_, *cancel_, out, results, counts_, evaluate_samples);
  }

  Outcome evaluate(const kernels::Question& question, char* out, std::int64_t results) {
    if (known_.answers(question, results)) {
      known_.copy(out);
      return {};
    }
    std::int64_t k = 0;
    while (k < count_ && !answer(k)->answers(question, results)) ++k;
    if (k == count_ || answer(k)->numbers() != question.numbers) return {Unanswered, Part::update};
    const Outcome outcome = (*answer(k))(step_, key_, numbers_, *team_, Deadline(cancel_), question, out);
    answer(k)->count(counts_);
    return outcome.ok() || outcome.status == Stopped ? outcome : outcome.of_owner(static_cast<std::int32_t>(k));
  }

  kernels::Oracle* address_;
  const Stream stream_;
  const std::int64_t count_;
  std::unique_ptr<std::optional<QueryEvaluator>[]> answers_;
  const bool keyed_;
  Buffer<std::int64_t> indices_;  // of the samples of the step
  ClientEvaluator clients_;
  Draw draw_;
  std::int64_t step_ = 0;
  Counts counts_{};
  Key key_{};
  const void* const* numbers_ = nullptr;
  Team* team_ = nullptr;
  const std::atomic<bool>* cancel_ = nullptr;
  Outcome failure_{Unanswered, Part::update};
  KnownRows known_;
};

}  // namespace burlab::run
BURLAB_END
