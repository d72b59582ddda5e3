#pragma once
// What a kernel cannot compute itself it asks for: an update of a run asks about the problem, in the middle of its
// work.
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Whoever can answer. The numbers of a and out say what the asking kernel was compiled for: other problems refuse.
struct Asker {
  Status (*answer)(Asker* self, Int question, const void* a, Int numbers, void* out, Int results) noexcept;
};

/// a: the address of an Asker; b: rows of numbers, each answered by a row of `out`.
/// Descriptor: the question, number of rows, numbers and results of one, bytes of a number.
struct Ask {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const*) noexcept {
    Asker* const asker = *static_cast<Asker* const*>(a);
    if (asker == nullptr) return Unanswered;
    const char* numbers = static_cast<const char*>(b);
    char* results = static_cast<char*>(out);
    Status status = Ok;
    BURLAB_ONE_BY_ONE
    for (Int row = 0; row < d[1] && status == Ok; ++row, numbers += d[2] * d[4], results += d[3] * d[4])
      status = asker->answer(asker, d[0], numbers, d[2], results, d[3]);
    return status;
  }
};

}  // namespace burlab::kernels
BURLAB_END
