#pragma once
// Running sums along an axis.
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// out[i] = a[0] + ... + a[i]; backwards where the strides are negative and the operands start at the end.
/// Descriptor: length of a row, its strides in out and a, offsets of the first element of out and a; the Box of rows.
template <class T> struct Cumsum {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    T* y = static_cast<T*>(out) + d[3];
    const T* x = static_cast<const T*>(a) + d[4];
    const Int n = d[0], to = d[1], from = d[2];
    walk(Box<2>(d + 5), [&](const Int* at) {
      T total = 0;
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < n; ++i) y[at[0] + i * to] = total = total + x[at[1] + i * from];
    });
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
