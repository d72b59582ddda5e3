#pragma once
// Matrix products in register blocks: the tuned twin of `Contract` for sums that run through k in order, a[i, k] times
// b[k, j], with c contiguous along j.
#include "contraction.hpp"
#include "pack.hpp"
#include "tile.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Bytes: of a register; Rows: of a block.
template <class T, int Bytes, int Rows> struct Gemm {
  static constexpr int W = Bytes / static_cast<int>(sizeof(T));
  static constexpr Int kDepth = 128;  // rows of a panel, so that it stays in the nearest cache

  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    alignas(64) T panel[kDepth * 3 * W];
    const Around inner = d.rank > 0 ? axes_around(d)[d.rank - 1] : Around{};
    const bool narrow = inner.c != 0 && d.n <= W && (d.b_n == 1 || d.k <= kDepth);
    const Batch<T, W, Rows> batch{inner.size, inner.a, inner.b, inner.c, d.b_n, panel};
    walk(d, d.rank - narrow, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
         [&](const T* a, const T* b, T* c, bool adds) {
           if (narrow) {
             batch.multiply({a, d.a_m, d.a_k, b, d.b_k, c, d.c_m, d.k, adds}, d.m, d.n);
             return;
           }
           BURLAB_ONE_BY_ONE
           for (Int j = 0; j < d.n;) {
             const Int width = panel_width(d.n - j);
             column_panel(d, a, b + j * d.b_n, c + j, width, adds, panel);
             j += width;
           }
         });
    return Ok;
  }

 private:
  /// How many of `left` columns are next: whole packets, three if possible, but rather two and two than three and one.
  static BURLAB_INLINE Int panel_width(Int left) {
    if (left > 4 * W || left == 3 * W) return 3 * W;
    return left < 2 * W ? left : 2 * W;
  }

  static BURLAB_NOINLINE void column_panel(const Contraction& d, const T* a, const T* b, T* c, Int width, bool adds,
                                           T* panel) {
    const bool packs = d.b_n != 1;
    const Int block = packs || d.m > Rows ? kDepth : d.k, packed_width = (width + W - 1) / W * W;
    Int k = 0;
    do {
      const Int depth = d.k - k < block ? d.k - k : block;
      Factors<T> f{a + k * d.a_k, d.a_m, d.a_k, b + k * d.b_k, d.b_k, c, d.c_m, depth, adds || k > 0};
      if (packs) {
        pack<T, W>(panel, packed_width, f.b, d.b_n, d.b_k, width, depth);
        f.b = panel;
        f.b_depth = packed_width;
      }
      if (width == 3 * W) multiply_panel<T, W, Rows, 3, true>(f, d.m, W);
      else if (width > W) multiply_panel<T, W, Rows, 2, false>(f, d.m, width - W);
      else Batch<T, W, Rows>{1, 0, 0, 0, 1, panel}.multiply(f, d.m, width);
      k += block;
    } while (k < d.k);
  }
};

}  // namespace burlab::kernels
BURLAB_END
