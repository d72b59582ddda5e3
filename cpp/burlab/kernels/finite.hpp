#pragma once
// Checks for inf and nan: each check sets a flag, which is read at the end. Work continues in between, because an
// infinite constant of the user (a mask of -inf) is no error.
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// out, one integer, becomes 1 if an element of a is inf or nan. Descriptor: number of elements.
template <class T> struct CheckFinite {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    return in_chunks(d[0], [&](Int begin, Int n) {
      const T* x = static_cast<const T*>(a) + begin;
      Int bad = 0;
      BURLAB_LANES
      for (Int i = 0; i < n; ++i) bad |= x[i] - x[i] == 0 ? 0 : 1;
      *static_cast<Int*>(out) |= bad;
    });
  }
};

/// NonFinite if the integer a is not 0.
struct FiniteVerdict {
  static Status run(const Int*, void*, const void* a, const void*, const void* const*) noexcept {
    return *static_cast<const Int*>(a) != 0 ? NonFinite : Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
