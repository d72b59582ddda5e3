#pragma once
// What generated loops call to reduce a row: the same functions that the library's kernels call, hence the same bits.
#include "extreme.hpp"
#include "reduce.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The sum of n <= 512 numbers; see `Sum`.
template <bool Strict, class T> BURLAB_INLINE T row_sum(const T* x, Int n) {
  if constexpr (Strict) {
    T total = 0;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < n; ++k) total += x[k];
    return total;
  } else {
    return static_cast<T>(sum_block<Accumulator<T, false>>(x, n));
  }
}

}  // namespace burlab::kernels
BURLAB_END
