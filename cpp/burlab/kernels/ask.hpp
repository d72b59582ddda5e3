#pragma once
// A query of a kernel in the middle of its work: the update of a run asks about the problem.
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// A callback that answers queries. The numbers of a and out say what the kernel was compiled for: the oracle of
/// another problem refuses.
struct Oracle {
  Status (*answer)(Oracle* self, Int query, const void* a, Int numbers, void* out, Int results) noexcept;
};

/// a: the address of an Oracle; b: rows of numbers, each answered by a row of `out`.
/// Descriptor: the query, number of rows, numbers and results of one, bytes of a number.
struct Ask {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const*) noexcept {
    Oracle* const oracle = *static_cast<Oracle* const*>(a);
    if (oracle == nullptr) return Unanswered;
    const char* numbers = static_cast<const char*>(b);
    char* results = static_cast<char*>(out);
    Status status = Ok;
    BURLAB_ONE_BY_ONE
    for (Int row = 0; row < d[1] && status == Ok; ++row, numbers += d[2] * d[4], results += d[3] * d[4])
      status = oracle->answer(oracle, d[0], numbers, d[2], results, d[3]);
    return status;
  }
};

}  // namespace burlab::kernels
BURLAB_END
