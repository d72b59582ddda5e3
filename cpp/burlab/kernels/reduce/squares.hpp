#pragma once
// The sum of the squares of numbers, in double, in an order that depends only on their count, for the norms in the
// record of a run. Floats are squared and added as floats in blocks of 512 where these can hold them, with a relative
// error of at most 1e-6.
#include <type_traits>

#include "../../numbers/first.hpp"
#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Squares in 16 lanes of T: number k is in lane k mod 16.
template <class A, class T> BURLAB_INLINE void square_block(Packet<A, 16>& lanes, const T* x, Int n) {
  Packet<A, 16> sums[4] = {};  // an addition waits for the one before
  Packet<T, 16> next;
  Int i = 0;
  BURLAB_ONE_BY_ONE
  for (; i + 64 <= n; i += 64) {
    BURLAB_UNROLL
    for (Int k = 0; k < 4; ++k) {
      load(next, x + i + 16 * k);
      const auto y = __builtin_convertvector(next, Packet<A, 16>);
      sums[k] += y * y;
    }
  }
  BURLAB_ONE_BY_ONE
  for (; i < n; i += 16) {
    if (n - i < 16) First<T, 16>(n - i).load(next, x + i);
    else load(next, x + i);
    const auto y = __builtin_convertvector(next, Packet<A, 16>);
    sums[0] += y * y;
  }
  lanes += (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Add the squares of n <= 512 numbers to 16 lanes.
template <class T> BURLAB_INLINE void add_squares(Packet<double, 16>& lanes, const T* x, Int n) {
  if constexpr (std::is_same_v<T, float>) {
    Packet<float, 16> block = {};
    square_block<float>(block, x, n);
    const float sum = sum_lanes<float>(block);
    if (BURLAB_LIKELY(sum > 1e-20f && sum < 1e30f)) {  // underflow is negligible
      lanes += __builtin_convertvector(block, Packet<double, 16>);
      return;
    }
  }
  square_block<double>(lanes, x, n);
}

/// out, one number, is the sum of all squares. Descriptor: the count of numbers.
template <class T> struct Squares {
  BURLAB_WIDE static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const T* x = static_cast<const T*>(a);
    Packet<double, 16> lanes = {};
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d[0]; i += 512) {
      if (stop.after(512)) return Stopped;
      add_squares(lanes, x + i, d[0] - i < 512 ? d[0] - i : 512);
    }
    *static_cast<double*>(out) = sum_lanes<double>(lanes);
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
