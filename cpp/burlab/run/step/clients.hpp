#pragma once
// Queries of an update about the clients of a federation: a row for each client, from queries about their samples, or
// from an executor on other machines.
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

/// Answers a query about clients, before the weights are undone; Stopped if `cancel` is set before it is done.
using Elsewhere = std::int64_t (*)(const kernels::Question* question, const Key* key, const std::atomic<bool>* cancel,
                                   void* out, std::int64_t results);

/// The samples of the clients of a federation, one client after another. It outlives the run. Mirrored in Python.
struct Clients {
  std::int64_t count;
  const std::int64_t* first;  // first sample of each client
  const std::int64_t* sizes;  // number of samples of each client
  const double* scale;        // a factor for each client, which undoes the weights that make all clients count equally
  Elsewhere elsewhere;        // their executor on other machines; nullptr: their samples are in this process
};

/// Answers queries about clients. A query lists clients, and for each of them samples by their numbers within it (none:
/// all samples); and one point for all, or one for each. All memory is allocated at the start.
class ClientEvaluator {
 public:
  /// clients: nullptr if there are none. most: the maximal number of samples that a query names for a client.
  /// dimension, bytes: of x. hessians: whether queries about samples may request whole Hessians.
  ClientEvaluator(Ledger& ledger, const Clients* clients, std::int64_t most, std::int64_t dimension, std::int64_t bytes,
                  bool hessians)
      : clients_(clients),
        dimension_(dimension),
        bytes_(bytes),
        hessians_(hessians),
        list_(ledger, Kind::scratch, clients != nullptr ? most : 0),
        pair_(ledger, Kind::scratch, clients != nullptr ? 2 * dimension * bytes : 0) {}

  bool ready() const { return list_.ready() && pair_.ready(); }

  /// evaluate: called with a query about samples, the memory for its answer, and the answer's size in numbers.
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
  /// Check that the clients and their samples exist. The outcome names the invalid client and sample.
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

  /// A row, from queries about samples of this process.
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
