#pragma once
// A query of a kernel in the middle of its work: the update of a run queries the problem.
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The arguments of a query. chosen: entries of a gradient and then samples, by number, `count` of them in all; none if
/// the caller does not choose them. Mirrored in Python.
struct Question {
  Int query;
  const void* about;
  Int numbers;
  const Int* chosen;
  Int count;
};

/// A callback that answers queries. The kernel was compiled for certain sizes of a question and its result: the oracle
/// of another problem refuses them.
struct Oracle {
  Status (*answer)(Oracle* self, const Question& question, void* out, Int results) noexcept;
};

/// a: the address of an Oracle; b: rows of numbers, each answered by a row of `out`; more: rows of samples, if chosen.
/// Descriptor: the query, number of rows, numbers and results of one, bytes of a number, samples that are chosen.
struct OracleQuery {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const* more) noexcept {
    Oracle* const oracle = *static_cast<Oracle* const*>(a);
    if (oracle == nullptr) return Unanswered;
    const char* numbers = static_cast<const char*>(b);
    char* results = static_cast<char*>(out);
    const Int* chosen = d[5] > 0 ? static_cast<const Int*>(more[0]) : nullptr;
    Status status = Ok;
    BURLAB_ONE_BY_ONE
    for (Int row = 0; row < d[1] && status == Ok; ++row) {
      status = oracle->answer(oracle, Question{d[0], numbers, d[2], chosen, d[5]}, results, d[3]);
      numbers += d[2] * d[4];
      results += d[3] * d[4];
      if (chosen != nullptr) chosen += d[5];
    }
    return status;
  }
};

}  // namespace burlab::kernels
BURLAB_END
