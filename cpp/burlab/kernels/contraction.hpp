#pragma once
// All matrix products: c[i, j] = sum over k of a[i, j, k] * b[i, j, k], with any strides, and a walk over further axes,
// so every Einstein summation of two arrays is one call.
//
// The order in which one number of c is summed depends on the summed axes alone. Products of floats are fused with the
// addition. Two rows that are contiguous along k (or one number) and at least 256 long meet in 16 lanes and blocks of
// 256, their blocks added with their rounding errors; all else runs through k in order. Axes that are summed around
// that add to what c holds, in order. `Strict`: always in order, and products rounded.
//
// `Contract` is the general kernel; `gemm.hpp` and `dots.hpp` are tuned twins with the same bits.
#include <type_traits>

#include "../numbers/packet.hpp"
#include "carried.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Mirrored by `burlab/compiler/contraction.py`: sizes m, n, k; strides of a along them, strides of b along them,
/// strides of c along m and n; 1 to add to what c holds, in plain order, else 0; the number of further axes, and size
/// and strides of c, a and b for each, the summed ones last.
struct Contraction {
  Int m, n, k;
  Int a_m, a_n, a_k;
  Int b_m, b_n, b_k;
  Int c_m, c_n;
  Int onto;
  Int rank;

  bool in_lanes() const { return onto == 0 && (a_k == 0 || a_k == 1) && (b_k == 0 || b_k == 1) && k >= 256; }
};

/// A further axis: its size, and strides of c, a and b along it. A summed one has none in c.
struct Around {
  Int size, c, a, b;
};

BURLAB_INLINE const Around* axes_around(const Contraction& d) { return reinterpret_cast<const Around*>(&d + 1); }

/// Calls product(a, b, c, adds) for every index of the first `rank` further axes, in row-major order.
template <class T, class F>
BURLAB_INLINE void walk(const Contraction& d, Int rank, const T* a, const T* b, T* c, const F& product) {
  const Around* const axes = axes_around(d);
  Int index[kMaxRank];
  BURLAB_ONE_BY_ONE
  for (Int axis = 0; axis < rank; ++axis) index[axis] = 0;
  bool adds = d.onto != 0;
  for (;;) {
    product(a, b, c, adds);
    adds = d.onto != 0;
    Int axis = rank - 1;
    BURLAB_ONE_BY_ONE
    for (; axis >= 0; --axis) {
      const Around& x = axes[axis];
      const bool wraps = ++index[axis] == x.size;
      const Int steps = wraps ? 1 - x.size : 1;  // back to the first index
      c += steps * x.c;
      a += steps * x.a;
      b += steps * x.b;
      if (!wraps) break;
      index[axis] = 0;
    }
    if (axis < 0) return;
    adds |= axes[axis].c == 0;  // the next index of a summed axis
  }
}

template <bool Plain, class T> BURLAB_INLINE void add_product(T& c, const T& a, const T& b) {
  if constexpr (Plain) {
    c = c + a * b;
  } else {
    BURLAB_FUSED
    c = c + a * b;
  }
}

inline constexpr Int kDotBlock = 256;  // products that meet in one set of lanes

/// The sum of up to 256 products in 16 lanes, those of the last packet at its end. Steps are 0 or 1.
template <class T> T dot_block(const T* x, Int x_step, const T* y, Int y_step, Int n) {
  T lanes[16] = {};
  Int k = 0;
  BURLAB_ONE_BY_ONE
  for (; k + 16 <= n; k += 16, x += 16 * x_step, y += 16 * y_step) {
    if ((x_step & y_step) == 1) {
      BURLAB_LANES
      for (Int lane = 0; lane < 16; ++lane) add_product<false>(lanes[lane], x[lane], y[lane]);
    } else {
      BURLAB_ONE_BY_ONE
      for (Int lane = 0; lane < 16; ++lane) add_product<false>(lanes[lane], x[lane * x_step], y[lane * y_step]);
    }
  }
  BURLAB_ONE_BY_ONE
  for (Int lane = 16 - (n - k); lane < 16; ++lane, x += x_step, y += y_step) add_product<false>(lanes[lane], *x, *y);
  Packet<T, 16> sums;
  load(sums, lanes);
  return sum_lanes<T>(sums);
}

template <class T, bool Strict> struct Contract {
  static constexpr bool kPlain = Strict || std::is_integral_v<T>;

  static Status run(const Int* descriptor, void* out, const void* left, const void* right,
                    const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    const bool lanes = !kPlain && d.in_lanes(), rows = d.a_n == 0 && d.b_n == 1 && d.c_n == 1 && d.n > 1;
    walk(d, d.rank, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
         [&](const T* a, const T* b, T* c, bool adds) {
           if (lanes) in_lanes(d, a, b, c, adds);
           else if (rows) in_rows(d, a, b, c, adds);
           else one_by_one(d, a, b, c, adds);
         });
    return Ok;
  }

 private:
  /// Row by row of c, along which b is contiguous: four rows of b for every pass, in pieces that stay in the cache.
  static void in_rows(const Contraction& d, const T* a, const T* b, T* c, bool adds) {
    BURLAB_ONE_BY_ONE
    for (Int begin = 0; begin < d.n; begin += 512) {
      const Int n = d.n - begin < 512 ? d.n - begin : 512;
      BURLAB_ONE_BY_ONE
      for (Int top = 0; top == 0 || top < d.k; top += 128) {
        const Int end = d.k - top < 128 ? d.k : top + 128;
        BURLAB_ONE_BY_ONE
        for (Int i = 0; i < d.m; ++i) {
          T* y = c + i * d.c_m + begin;
          if (top == 0 && !adds) std::memset(y, 0, static_cast<std::size_t>(n) * sizeof(T));
          row(d, a + i * d.a_m + top * d.a_k, b + i * d.b_m + begin + top * d.b_k, y, n, end - top);
        }
      }
    }
  }

  static void row(const Contraction& d, const T* x, const T* z, T* y, Int n, Int depth) {
    const Int ak = d.a_k, bk = d.b_k;
    Int k = 0;
    BURLAB_ONE_BY_ONE
    for (; k + 4 <= depth; k += 4, x += 4 * ak, z += 4 * bk) {
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
    }
    BURLAB_ONE_BY_ONE
    for (; k < depth; ++k, x += ak, z += bk) {
      const T x0 = x[0];
      BURLAB_LANES
      for (Int j = 0; j < n; ++j) add_product<kPlain>(y[j], x0, z[j]);
    }
  }

  static void in_lanes(const Contraction& d, const T* a, const T* b, T* c, bool adds) {
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d.m; ++i) {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < d.n; ++j) {
        const T *x = a + i * d.a_m + j * d.a_n, *y = b + i * d.b_m + j * d.b_n;
        T& result = c[i * d.c_m + j * d.c_n];
        Carried<T, kPlain> sum(adds ? result : T(0));
        BURLAB_ONE_BY_ONE
        for (Int k = 0; k < d.k; k += kDotBlock)
          sum.add(dot_block(x + k * d.a_k, d.a_k, y + k * d.b_k, d.b_k, d.k - k < kDotBlock ? d.k - k : kDotBlock));
        result = sum.value();
      }
    }
  }

  static void one_by_one(const Contraction& d, const T* a, const T* b, T* c, bool adds) {
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d.m; ++i) {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < d.n; ++j) {
        const T *x = a + i * d.a_m + j * d.a_n, *y = b + i * d.b_m + j * d.b_n;
        T& result = c[i * d.c_m + j * d.c_n];
        T sum = adds ? result : T(0);
        BURLAB_ONE_BY_ONE
        for (Int k = 0; k < d.k; ++k) add_product<kPlain>(sum, x[k * d.a_k], y[k * d.b_k]);
        result = sum;
      }
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
