#pragma once
// A check of the exponents of integer powers.
#include <algorithm>

#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// out[i] = a[i], which must not be negative. Descriptor: number of elements.
template <class T> struct Exponents {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    bool negative = false;
    const Status status = in_chunks(d[0], [&](Int begin, Int n) {
      const T* x = static_cast<const T*>(a) + begin;
      negative |= std::any_of(x, x + n, [](T e) { return e < T(0); });
      std::copy(x, x + n, static_cast<T*>(out) + begin);
    });
    return status == Ok && negative ? NegativePower : status;
  }
};

}  // namespace burlab::kernels
BURLAB_END
