#pragma once
// Sums of so few numbers that they are written out.
#include "compensated_sum.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The sum of 2 to 4 numbers, to the bit what 8 or 16 lanes give that are added by halves: -0 becomes 0.
template <int N, class T> BURLAB_INLINE T sum_of_few(const T* x) {
  static_assert(2 <= N && N <= 4);
  using A = Accumulator<T, false>;
  A even(x[0]), odd(x[1]);
  if constexpr (N > 2) even += A(x[2]);
  if constexpr (N > 3) odd += A(x[3]);
  return static_cast<T>((even + odd) + A(0));
}

}  // namespace burlab::kernels
BURLAB_END
