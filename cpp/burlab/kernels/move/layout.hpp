#pragma once
// Moving elements without arithmetic.
#include <cstring>

#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// out[i, j] = a[i, j]. T: an unsigned integer of the element's size.
/// Descriptor: number of rows, their strides in out and a; length of a row, its strides in out and a.
template <class T> struct Copy {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int n = d[3], to_step = d[4], from_step = d[5];
    T* to = static_cast<T*>(out);
    const T* from = static_cast<const T*>(a);
    const Int first = n < kChunk ? n : kChunk;
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d[0]; ++i, to += d[1], from += d[2]) {
      if (stop.after(first)) return Stopped;
      copy(to, from, first, to_step, from_step);
      BURLAB_ONE_BY_ONE
      for (Int j = first; j < n; j += kChunk) {
        const Int count = end_of_chunk(j, n) - j;
        if (stop.after(count)) return Stopped;
        copy(to + j * to_step, from + j * from_step, count, to_step, from_step);
      }
    }
    return Ok;
  }

 private:
  static BURLAB_INLINE void copy(T* to, const T* from, Int n, Int to_step, Int from_step) {
    if (to_step == 1 && from_step == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    } else {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < n; ++j) to[j * to_step] = from[j * from_step];
    }
  }
};

/// Zeros.
inline Status clear(char* out, Int bytes) {
  return in_chunks((bytes + 7) / 8, [&](Int begin, Int n) {
    const Int left = bytes - 8 * begin;
    std::memset(out + 8 * begin, 0, static_cast<std::size_t>(left < 8 * n ? left : 8 * n));
  });
}

/// out = 0. Descriptor: number of bytes.
struct Zero {
  static Status run(const Int* d, void* out, const void*, const void*, const void* const*) noexcept {
    return clear(static_cast<char*>(out), d[0]);
  }
};

}  // namespace burlab::kernels
BURLAB_END
