#pragma once
// What all tensor kernels have in common. A kernel takes a descriptor of plain integers (sizes, and strides counted in
// elements) and pointers, so one compiled instance serves every shape; `burlab/compiler/lower.py` writes the
// descriptors.
#include <cstdint>

#include "../abi.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

using Int = std::int64_t;
inline constexpr Int kMaxRank = 64;  // NumPy's

/// The signature of every kernel: descriptor, result, first and second operand, and where the others are.
using Kernel = Status (*)(const Int* d, void* out, const void* a, const void* b, const void* const* more) noexcept;

/// Makes a template's instance a function that generated code and the replay gear call by name.
#define BURLAB_KERNEL(symbol, ...)                                                                           \
  extern "C" burlab::Status symbol(const std::int64_t* d, void* out, const void* a, const void* b = nullptr, \
                                   const void* const* more = nullptr) noexcept {                             \
    return burlab::kernels::__VA_ARGS__(d, out, a, b, more);                                                 \
  }

/// A part of a descriptor: rank, sizes, then one row of strides for each of N operands.
template <int N> struct Box {
  Int rank;
  const Int *sizes, *strides;
  explicit Box(const Int* d) : rank(d[0]), sizes(d + 1), strides(d + 1 + d[0]) {}
  Int stride(int operand, Int axis) const { return strides[operand * rank + axis]; }
  const Int* end() const { return strides + N * rank; }
};

/// Calls f(offsets) for every index of the box, in row-major order; offsets[k] belongs to operand k.
template <int N, class F> BURLAB_INLINE void walk(const Box<N>& box, F f) {
  Int index[kMaxRank], offset[N] = {};
  for (Int k = 0; k < box.rank; ++k) {
    if (box.sizes[k] == 0) return;
    index[k] = 0;
  }
  for (;;) {
    f(offset);
    Int k = box.rank - 1;
    for (; k >= 0; --k) {
      if (++index[k] < box.sizes[k]) {
        for (int n = 0; n < N; ++n) offset[n] += box.stride(n, k);
        break;
      }
      index[k] = 0;
      for (int n = 0; n < N; ++n) offset[n] -= box.stride(n, k) * (box.sizes[k] - 1);
    }
    if (k < 0) return;
  }
}

}  // namespace burlab::kernels
BURLAB_END
