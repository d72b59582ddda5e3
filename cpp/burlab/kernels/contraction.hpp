#pragma once
// All matrix products: c[i, j] = sum over k of a[i, j, k] * b[i, j, k], with any strides, so every Einstein summation
// of two arrays is a loop over these. Sums start at 0 and run through k in order; unless `Strict`, products are fused
// with the addition, and a dot product runs in lanes.
#include <type_traits>

#include "../numbers/packet.hpp"
#include "kernel.hpp"

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

/// The sum of a[i] * b[i], both contiguous.
template <class T> T dot(const T* a, const T* b, Int n) {
  constexpr int kWidth = kLanes<T>;
  if (n > 4096) {
    const Int half = n / 2 / kWidth * kWidth;
    return dot(a, b, half) + dot(a + half, b + half, n - half);
  }
  T lanes[kWidth] = {};
  Int i = 0;
  if (n >= kWidth) {
    Packet<T, kWidth> sum = {}, other = {}, x, y;
    for (; i + 2 * kWidth <= n; i += 2 * kWidth) {
      load(x, a + i), load(y, b + i);
      add_product<false>(sum, x, y);
      load(x, a + i + kWidth), load(y, b + i + kWidth);
      add_product<false>(other, x, y);
    }
    if (i + kWidth <= n) {
      load(x, a + i), load(y, b + i);
      add_product<false>(sum, x, y);
      i += kWidth;
    }
    sum += other;
    store(sum, lanes);
  }
  BURLAB_ONE_BY_ONE
  for (; i < n; ++i) add_product<false>(lanes[i % kWidth], a[i], b[i]);
  for (int width = kWidth / 2; width > 0; width /= 2) {
    BURLAB_ONE_BY_ONE
    for (int j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  }
  return lanes[0];
}

/// Descriptor: sizes m, n, k; strides of a along them, strides of b along them, strides of c along m and n; the Box of
/// further axes of c (strides of a, b, c); the Box of further axes to sum over (strides of a, b).
template <class T, bool Strict> struct Contract {
  static constexpr bool kPlain = Strict || std::is_integral_v<T>;

  static Status run(const Int* d, void* out, const void* left, const void* right, const void* const*) noexcept {
    const Sizes s{d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10]};
    const T *a = static_cast<const T*>(left), *b = static_cast<const T*>(right);
    T* c = static_cast<T*>(out);
    const Box<3> outer(d + 11);
    const Box<2> summed(outer.end());
    walk(outer, [&](const Int* at) {
      T* first = c + at[2];
      clear(s, first);
      walk(summed, [&](const Int* k) { add(s, a + at[0] + k[0], b + at[1] + k[1], first); });
    });
    return Ok;
  }

 private:
  struct Sizes {
    Int m, n, k, am, an, ak, bm, bn, bk, cm, cn;
  };

  static void clear(const Sizes& s, T* c) {
    for (Int i = 0; i < s.m; ++i) {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < s.n; ++j) c[i * s.cm + j * s.cn] = 0;
    }
  }

  static void add(const Sizes& s, const T* a, const T* b, T* c) {
    if (s.an == 0 && s.bn == 1 && s.cn == 1 && s.n > 1) return add_rows(s, a, b, c);
    for (Int i = 0; i < s.m; ++i) {
      for (Int j = 0; j < s.n; ++j) {
        const T *x = a + i * s.am + j * s.an, *y = b + i * s.bm + j * s.bn;
        T& sum = c[i * s.cm + j * s.cn];
        if constexpr (!kPlain) {
          if (s.ak == 1 && s.bk == 1) {
            sum += dot(x, y, s.k);
            continue;
          }
        }
        BURLAB_ONE_BY_ONE
        for (Int k = 0; k < s.k; ++k) add_product<kPlain>(sum, x[k * s.ak], y[k * s.bk]);
      }
    }
  }

  // Row by row of c, in tiles of b that stay in the second-level cache.
  static void add_rows(const Sizes& s, const T* a, const T* b, T* c) {
    constexpr Int kColumns = 512, kDepth = 128;
    for (Int j = 0; j < s.n; j += kColumns) {
      const Int n = s.n - j < kColumns ? s.n - j : kColumns;
      for (Int k = 0; k < s.k; k += kDepth) {
        const Int depth = s.k - k < kDepth ? s.k - k : kDepth;
        for (Int i = 0; i < s.m; ++i)
          add_row(c + i * s.cm + j, a + i * s.am + k * s.ak, s.ak, b + i * s.bm + j + k * s.bk, s.bk, n, depth);
      }
    }
  }

  /// c[j] += sum over k of a[k] * b[k, j]: four rows of b for every pass over c.
  static void add_row(T* c, const T* a, Int ak, const T* b, Int bk, Int n, Int depth) {
    Int k = 0;
    for (; k + 4 <= depth; k += 4, a += 4 * ak, b += 4 * bk) {
      const T a0 = a[0], a1 = a[ak], a2 = a[2 * ak], a3 = a[3 * ak];
      BURLAB_LANES
      for (Int j = 0; j < n; ++j) {
        T sum = c[j];
        add_product<kPlain>(sum, a0, b[j]);
        add_product<kPlain>(sum, a1, b[j + bk]);
        add_product<kPlain>(sum, a2, b[j + 2 * bk]);
        add_product<kPlain>(sum, a3, b[j + 3 * bk]);
        c[j] = sum;
      }
    }
    for (; k < depth; ++k, a += ak, b += bk) {
      const T a0 = a[0];
      BURLAB_LANES
      for (Int j = 0; j < n; ++j) add_product<kPlain>(c[j], a0, b[j]);
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
