#pragma once
// Unrolled sums of few numbers.
#include "compensated_sum.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The sum of 2 to 4 numbers, with the bits of 8 or 16 lanes added by halves: -0 becomes 0.
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
