#pragma once
// Common definitions of all tensor kernels. A kernel takes a descriptor of plain integers (sizes, and strides counted
// in elements) and pointers, so one compiled instance serves every shape; `burlab/compiler/lowering/lower.py` writes
// the descriptors.
//
// A kernel covers only the few axes of the common case, because it is compiled at its first use; `each` loops over all
// further axes.
#include <cstdint>

#include "../stop_token.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

using Int = std::int64_t;
inline constexpr Int kMaxRank = 64;  // NumPy's

/// The signature of every kernel: descriptor, result, first and second operand, and addresses of the others.
using Kernel = Status (*)(const Int* d, void* out, const void* a, const void* b, const void* const* more) noexcept;

/// Makes a template's instance a function that generated code and the replay gear call by name.
#define BURLAB_KERNEL(symbol, ...)                                                                           \
  extern "C" burlab::Status symbol(const std::int64_t* d, void* out, const void* a, const void* b = nullptr, \
                                   const void* const* more = nullptr) noexcept {                             \
    return burlab::kernels::__VA_ARGS__(d, out, a, b, more);                                                 \
  }
/// Declares such a function, which is compiled elsewhere, for callers.
#define BURLAB_KERNEL_DECLARED(symbol)                                                                       \
  extern "C" burlab::Status symbol(const std::int64_t* d, void* out, const void* a, const void* b = nullptr, \
                                   const void* const* more = nullptr) noexcept;

/// Checks for a halt; `burlab/compiler/planning/check_interrupts.py` puts it between the steps of long work.
struct CheckHalt {
  static Status run(const Int*, void*, const void*, const void*, const void* const*) noexcept {
    return check_stop() ? Stopped : Ok;
  }
};

inline constexpr Int kChunk = 1 << 18;  // elements between two checks for a halt, unless a loop has shorter parts

/// The end of the chunk of 0 to n that begins at k.
BURLAB_INLINE Int end_of_chunk(Int k, Int n) { return n - k < kChunk ? n : k + kChunk; }

/// Calls work(begin, size) for each chunk of 0 to n in order. Stopped if a halt was requested.
template <class Work> BURLAB_INLINE Status in_chunks(Int n, const Work& work) {
  StopCheck stop;
  BURLAB_ONE_BY_ONE
  for (Int begin = 0; begin < n; begin += kChunk) {
    const Int size = end_of_chunk(begin, n) - begin;
    if (stop.after(size)) return Stopped;
    work(begin, size);
  }
  return Ok;
}

/// Calls a kernel once for every index of a box, in row-major order. box: rank, sizes, then one row of strides for out,
/// a and b each, counted in bytes.
inline Status each(Kernel kernel, const Int* box, const Int* d, void* out, const void* a, const void* b) noexcept {
  const Int rank = box[0], *sizes = box + 1, *strides = sizes + rank;
  Int index[kMaxRank];
  BURLAB_ONE_BY_ONE
  for (Int axis = 0; axis < rank; ++axis) {
    if (sizes[axis] == 0) return Ok;
    index[axis] = 0;
  }
  char* to = static_cast<char*>(out);
  const char *x = static_cast<const char*>(a), *y = static_cast<const char*>(b);
  StopCheck stop;
  for (;;) {
    if (stop.after(1 << 14)) return Stopped;
    const Status status = kernel(d, to, x, y, nullptr);
    if (status != Ok) return status;
    Int axis = rank - 1;
    BURLAB_ONE_BY_ONE
    for (; axis >= 0; --axis) {
      const bool wraps = ++index[axis] == sizes[axis];
      const Int steps = wraps ? 1 - sizes[axis] : 1;  // back to the first index
      to += steps * strides[axis];
      x += steps * strides[rank + axis];
      y += steps * strides[2 * rank + axis];
      if (!wraps) break;
      index[axis] = 0;
    }
    if (axis < 0) return Ok;
  }
}

}  // namespace burlab::kernels
BURLAB_END
