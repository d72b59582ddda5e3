#pragma once
// Running sums along an axis.
#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// out[i, j] = a[i, 0] + ... + a[i, j]; backwards where strides are negative and the operands start at the end.
/// Descriptor: number of rows, their strides in out and a; length of a row, its strides in out and a.
template <class T> struct Cumsum {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d[0]; ++i) {
      T* y = static_cast<T*>(out) + i * d[1];
      const T* x = static_cast<const T*>(a) + i * d[2];
      T total = 0;
      BURLAB_ONE_BY_ONE
      for (Int j = 0, end = 0; j < d[3];) {
        end = end_of_chunk(j, d[3]);
        if (stop.after(end - j)) return Stopped;
        BURLAB_ONE_BY_ONE
        for (; j < end; ++j) y[j * d[4]] = total = total + x[j * d[5]];
      }
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
