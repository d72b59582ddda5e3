#pragma once
// Moving elements without arithmetic: copies between strided arrays, and copies into a field of zeros.
#include <cstring>

#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

template <class T> BURLAB_INLINE void copy_row(Int n, T* to, Int to_step, const T* from, Int from_step) {
  if (to_step == 1 && from_step == 1) {
    if (n > 0) std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
  } else {
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

/// Copies a strided array into another. T: an unsigned integer of the element's size.
/// Descriptor: length of a row, its strides in out and a; then the Box of rows, strides of out and a.
template <class T> struct Copy {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    T* to = static_cast<T*>(out);
    const T* from = static_cast<const T*>(a);
    walk(Box<2>(d + 3), [&](const Int* at) { copy_row(d[0], to + at[0], d[1], from + at[1], d[2]); });
    return Ok;
  }
};

/// Zeros, and a strided array copied into their midst.
/// Descriptor: number of elements of out, and where in it the first copied one lies; then as Copy.
template <class T> struct Pad {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    if (d[0] > 0) std::memset(out, 0, static_cast<std::size_t>(d[0]) * sizeof(T));
    return Copy<T>::run(d + 2, static_cast<T*>(out) + d[1], a, nullptr, nullptr);
  }
};

}  // namespace burlab::kernels
BURLAB_END
