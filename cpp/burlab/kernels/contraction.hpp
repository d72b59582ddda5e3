#pragma once
// All matrix products: c[i, j] = sum over k of a[i, j, k] * b[i, j, k], with any strides, so every Einstein summation
// of two arrays is a walk over these. Sums start at 0 and run through k in order; unless `Strict`, products are fused
// with the addition, and a dot product runs in 16 lanes and blocks of 256.
#include <type_traits>

#include "../numbers/packet.hpp"
#include "carried.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

template <bool Strict, class T> BURLAB_INLINE void add_product(T& c, const T& a, const T& b) {
  if constexpr (Strict) {
    c = c + a * b;
  } else {
    BURLAB_FUSED
    c = c + a * b;
  }
}

/// Descriptor: sizes m, n, k; strides of a along them, strides of b along them, strides of c along m and n; whether to
/// add to what c holds.
template <class T, bool Strict> struct Contract {
  static constexpr bool kPlain = Strict || std::is_integral_v<T>;

  static Status run(const Int* d, void* out, const void* left, const void* right, const void* const*) noexcept {
    const T *a = static_cast<const T*>(left), *b = static_cast<const T*>(right);
    T* c = static_cast<T*>(out);
    if (d[4] == 0 && d[7] == 1 && d[10] == 1 && d[1] > 1) rows(d, a, b, c);
    else dots(d, a, b, c);
    return Ok;
  }

 private:
  /// Row by row of c, along which b is contiguous: four rows of b for every pass, in tiles that stay in the cache.
  static void rows(const Int* d, const T* a, const T* b, T* c) {
    const Int ak = d[5], bk = d[8];
    BURLAB_ONE_BY_ONE
    for (Int begin = 0; begin < d[1]; begin += 512) {
      const Int n = d[1] - begin < 512 ? d[1] - begin : 512;
      BURLAB_ONE_BY_ONE
      for (Int top = 0; top == 0 || top < d[2]; top += 128) {
        const Int end = d[2] - top < 128 ? d[2] : top + 128;
        BURLAB_ONE_BY_ONE
        for (Int i = 0; i < d[0]; ++i) {
          T* y = c + i * d[9] + begin;
          if (top == 0 && d[11] == 0) std::memset(y, 0, static_cast<std::size_t>(n) * sizeof(T));
          BURLAB_ONE_BY_ONE
          for (Int k = top; k < end; k += 4) {
            const Int left = end - k;
            const T *x = a + i * d[3] + k * ak, *z = b + begin + k * bk;
            if (left >= 4) {
              const T x0 = x[0], x1 = x[ak], x2 = x[2 * ak], x3 = x[3 * ak];
              BURLAB_LANES
              for (Int j = 0; j < n; ++j) {
                T sum = y[j];
                add_product<kPlain>(sum, x0, z[j]);
                add_product<kPlain>(sum, x1, z[j + bk]);
                add_product<kPlain>(sum, x2, z[j + 2 * bk]);
                add_product<kPlain>(sum, x3, z[j + 3 * bk]);
                y[j] = sum;
              }
            } else {
              BURLAB_ONE_BY_ONE
              for (Int r = 0; r < left; ++r) {
                const T x0 = x[r * ak];
                BURLAB_LANES
                for (Int j = 0; j < n; ++j) add_product<kPlain>(y[j], x0, z[j + r * bk]);
              }
            }
          }
        }
      }
    }
  }

  static constexpr Int kBlock = kPlain ? 1 : 256;

  /// The sum of n <= kBlock products.
  static T dot(const T* x, Int x_step, const T* y, Int y_step, Int n) {
    if constexpr (kPlain) return x[0] * y[0];
    T x_row[kBlock], y_row[kBlock];
    x = row(x, x_step, n, x_row);
    y = row(y, y_step, n, y_row);
    T rest = 0;
    Int k = 0;
    if (n >= 16) {
      Packet<T, 16> lanes = {}, u, v;
      BURLAB_ONE_BY_ONE
      for (; k + 16 <= n; k += 16) {
        load(u, x + k);
        load(v, y + k);
        add_product<false>(lanes, u, v);
      }
      rest = sum_lanes<T>(lanes);
    }
    BURLAB_ONE_BY_ONE
    for (; k < n; ++k) add_product<false>(rest, x[k], y[k]);
    return rest;
  }

  /// n numbers, `step` apart, one after the other.
  static BURLAB_INLINE const T* row(const T* x, Int step, Int n, T* copy) {
    if (step == 1) return x;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < n; ++k) copy[k] = x[k * step];
    return copy;
  }

  /// Number by number of c.
  static void dots(const Int* d, const T* a, const T* b, T* c) {
    const Int depth = d[2], ak = d[5], bk = d[8];
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d[0]; ++i) {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < d[1]; ++j) {
        const T *x = a + i * d[3] + j * d[4], *y = b + i * d[6] + j * d[7];
        T& result = c[i * d[9] + j * d[10]];
        Carried<T, kPlain> sum(d[11] == 0 ? T(0) : result);
        BURLAB_ONE_BY_ONE
        for (Int k = 0; k < depth; k += kBlock)
          sum.add(dot(x + k * ak, ak, y + k * bk, bk, depth - k < kBlock ? depth - k : kBlock));
        result = sum.value();
      }
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
