#pragma once
// What an update asks about the clients of a federation: a row for each, from questions about their samples, or from
// who keeps them on other machines.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "../../kernels/oracle_query.hpp"
#include "../abi/outcome.hpp"
#include "../memory/buffer.hpp"
#include "../sum/philox.hpp"
#include "query_kind.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Answers a question about clients, before what undoes the weights; Stopped where `cancel` is set before it is done.
using Elsewhere = std::int64_t (*)(const kernels::Question* question, const Key* key, const std::atomic<bool>* cancel,
                                   void* out, std::int64_t results);

/// How the samples of a federation lie with its clients, one client after another. It outlives the run. Mirrored in
/// Python.
struct Clients {
  std::int64_t count;
  const std::int64_t* first;  // sample of each
  const std::int64_t* sizes;  // how many each holds
  const double* scale;        // of each, which undoes the weights by which all clients count alike
  Elsewhere elsewhere;        // who keeps them; nullptr: their samples are here
};

/// Answers questions about clients. It lists clients, and then, for each, samples by their numbers within it, or none
/// for all; a point for all or one for each. All its memory is taken at the start.
class ClientEvaluator {
 public:
  /// clients: nullptr if there are none. most: samples that a question may name for a client. dimension, bytes: of x.
  /// hessians: whether questions about samples may be about Hessians as a whole.
  ClientEvaluator(Ledger& ledger, const Clients* clients, std::int64_t most, std::int64_t dimension, std::int64_t bytes,
                  bool hessians)
      : clients_(clients),
        dimension_(dimension),
        bytes_(bytes),
        hessians_(hessians),
        list_(ledger, Kind::scratch, clients != nullptr ? most : 0),
        pair_(ledger, Kind::scratch, clients != nullptr ? 2 * dimension * bytes : 0) {}

  bool ready() const { return list_.ready() && pair_.ready(); }

  /// evaluate: called with a question about samples, with where its answer goes and how many numbers it has.
  template <class Evaluate>
  Outcome operator()(const kernels::Question& question, Key key, const std::atomic<bool>& cancel, char* out,
                     std::int64_t results, Counts& counts, Evaluate&& evaluate) {
    const std::int64_t width = width_of(question.query);
    const std::int64_t rows = results / width, own = question.numbers > dimension_ ? dimension_ : 0;
    if (clients_ == nullptr || rows == 0 || results % width != 0 || question.count % rows != 0 ||
        question.numbers != (own != 0 ? rows * dimension_ : dimension_))
      return {Unanswered, Part::update};
    const std::int64_t some = question.count / rows - 1;
    if (const Outcome outcome = check(question, rows, some); !outcome.ok()) return outcome;
    const char* const points = static_cast<const char*>(question.about);
    if (clients_->elsewhere != nullptr) {
      const auto status = static_cast<Status>(clients_->elsewhere(&question, &key, &cancel, out, results));
      if (status != Ok) return {status, Part::elsewhere};
      for (std::int64_t row = 0; row < rows; ++row) count(counts, question, row, some);
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      char* const to = out + row * width * bytes_;
      if (clients_->elsewhere == nullptr) {
        const Outcome outcome = answer(question, rows, row, some, points + row * own * bytes_, to, evaluate);
        if (!outcome.ok()) return outcome;
      }
      const double scale = clients_->scale[question.chosen[row]];
      if (bytes_ == sizeof(double)) multiply(reinterpret_cast<double*>(to), width, scale);
      else multiply(reinterpret_cast<float*>(to), width, static_cast<float>(scale));
    }
    return {};
  }

 private:
  /// Whether there are these clients, and these samples of theirs. Says which client, and which sample.
  Outcome check(const kernels::Question& question, std::int64_t rows, std::int64_t some) const {
    const std::int64_t* samples = question.chosen + rows;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t c = question.chosen[row];
      if (c < 0 || c >= clients_->count) return {IndexOutOfRange, Part::clients, kRunLoss, 0, c};
      for (std::int64_t i = 0; i < some; ++i, ++samples)
        if (*samples < 0 || *samples >= clients_->sizes[c])
          return {IndexOutOfRange, Part::within, kRunLoss, static_cast<std::int32_t>(c), *samples};
    }
    return {};
  }

  void count(Counts& counts, const kernels::Question& question, std::int64_t row, std::int64_t some) const {
    const std::int64_t samples = some != 0 ? some : clients_->sizes[question.chosen[row]];
    counts[counter_of(question.query)] += samples * (question.query == query_client_hessians ? dimension_ : 1);
  }

  /// A row, by questions about samples of this process.
  template <class Evaluate>
  Outcome answer(const kernels::Question& question, std::int64_t rows, std::int64_t row, std::int64_t some,
                 const char* point, char* out, Evaluate& evaluate) {
    const std::int64_t c = question.chosen[row], samples = some != 0 ? some : clients_->sizes[c];
    if (samples > list_.size()) return {Unanswered, Part::update};
    for (std::int64_t i = 0; i < samples; ++i)
      list_[i] = clients_->first[c] + (some != 0 ? question.chosen[rows + row * some + i] : i);
    const auto about = [&](std::int64_t query) {
      return evaluate(kernels::Question{query, point, dimension_, list_.begin(), samples}, out,
                      width_of(question.query));
    };
    if (question.query == query_client_grads) return about(query_grad);
    if (question.query == query_client_values_and_grads) return about(query_value_and_grad);
    if (hessians_) return about(query_hessian);
    char* const unit = pair_.begin() + dimension_ * bytes_;
    std::copy_n(point, dimension_ * bytes_, pair_.begin());
    for (std::int64_t k = 0; k < dimension_; ++k) {
      std::fill_n(unit, dimension_ * bytes_, char{0});
      if (bytes_ == sizeof(double)) reinterpret_cast<double*>(unit)[k] = 1;
      else reinterpret_cast<float*>(unit)[k] = 1;
      const kernels::Question product{query_hvp, pair_.begin(), 2 * dimension_, list_.begin(), samples};
      if (const Outcome outcome = evaluate(product, out + k * dimension_ * bytes_, dimension_); !outcome.ok())
        return outcome;
    }
    return {};
  }

  /// Numbers of a row.
  std::int64_t width_of(std::int64_t query) const {
    if (query == query_client_values_and_grads) return dimension_ + 1;
    return query == query_client_hessians ? dimension_ * dimension_ : dimension_;
  }

  template <class T> static void multiply(T* row, std::int64_t count, T scale) {
    for (std::int64_t k = 0; k < count; ++k) row[k] *= scale;
  }

  const Clients* const clients_;
  const std::int64_t dimension_, bytes_;
  const bool hessians_;
  Buffer<std::int64_t> list_;
  Buffer<char> pair_;  // a point and a unit vector
};

}  // namespace burlab::run
BURLAB_END
