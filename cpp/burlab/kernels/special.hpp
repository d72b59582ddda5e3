#pragma once
// Loops of SciPy's ufuncs, whose addresses `burlab/compiler/lowering/ufunc_loops.py` writes into the descriptor.
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// A loop of NumPy's ufunc interface: one pointer for each argument and result, how many times it is repeated, bytes
/// from one element to the next, and what the ufunc passes on.
using UfuncLoop = void (*)(char** arrays, const Int* size, const Int* steps, void* data);

/// A ufunc of SciPy's over dense arrays. Descriptor: number of elements, address of the loop and what it gets,
/// arguments, results; bytes from one element to the next of each argument, bytes of an element of all results, and
/// where each result begins in it.
struct Special {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const* more) noexcept {
    constexpr Int kMaxArrays = 16;  // arguments and results; SciPy has 7
    const Int size = d[0], arguments = d[3], results = d[4];
    const auto loop = reinterpret_cast<UfuncLoop>(d[1]);
    const Int *steps = d + 5, *starts = steps + arguments + 1;
    return in_parts(size, [&](Int begin, Int count) {
      char* arrays[kMaxArrays];
      Int strides[kMaxArrays];
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < arguments; ++k) {
        const void* x = k == 0 ? a : k == 1 ? b : more[k - 2];
        arrays[k] = static_cast<char*>(const_cast<void*>(x)) + begin * steps[k];
        strides[k] = steps[k];
      }
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < results; ++k) {
        arrays[arguments + k] = static_cast<char*>(out) + begin * steps[arguments] + starts[k];
        strides[arguments + k] = steps[arguments];
      }
      loop(arrays, &count, strides, reinterpret_cast<void*>(d[2]));
    });
  }

 private:
  static constexpr Int kPart = 1 << 10;  // an element may take 10 us

  template <class Work> static Status in_parts(Int n, const Work& work) {
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int begin = 0; begin < n; begin += kPart) {
      const Int count = n - begin < kPart ? n - begin : kPart;
      if (stop.after(64 * count)) return Stopped;
      work(begin, count);
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
