#pragma once
// Matrix products in register blocks: the tuned version of `Contract` for sums that run through k in order, a[i, k]
// times b[k, j], with c contiguous along j.
#include "batch.hpp"
#include "contraction.hpp"
#include "halves.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Bytes: of a register; Rows, Packets: of a whole block.
template <class T, int Bytes, int Rows, int Packets> struct Gemm {
  static constexpr int W = Bytes / static_cast<int>(sizeof(T));
  static constexpr bool kHalves = W == 16 && Rows == 8;   // whether it pays that rows share a packet
  static constexpr int kPairRows = Rows == 4 ? 6 : Rows;  // by two packets: as many sums as by three
  static constexpr Int kDepth = 128;                      // rows of a panel, so that it stays in the nearest cache
  static constexpr Int kStream = 32;                      // rows of b that are read together
  static constexpr Int kWide = 256;                       // distance in numbers from which rows lie in different pages
  static constexpr Int kShallow = Bytes == 64 ? 2 * Rows : 64;  // rows at once of a product that is not deep

  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    alignas(64) T panel[kDepth * Packets * W];
    const OuterAxis inner = d.rank > 0 ? outer_axes(d)[d.rank - 1] : OuterAxis{};
    const bool narrow = inner.c != 0 && d.n <= W && (d.b_n == 1 || d.k <= kDepth);
    const Batch<T, W, Rows> batch{inner.size, inner.a, inner.b, inner.c, d.b_n, panel};
    return walk(d, d.rank - narrow, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
                [&](const T* a, const T* b, T* c, bool adds, StopCheck& stop) {
                  if (narrow) {
                    if (stop.after(inner.size * d.m * d.n * d.k)) return;
                    batch.multiply({a, d.a_m, d.a_k, b, d.b_k, c, d.c_m, d.k, adds}, d.m, d.n);
                    return;
                  }
                  if (d.k == 1 && d.b_n == 1 && d.n > W) {
                    outer_product(d, a, b, c, adds, stop);
                    return;
                  }
                  // A single block of rows reads b once: row by row if b comes from memory, because reading takes the
                  // time then.
                  const bool large = d.k * d.n * static_cast<Int>(sizeof(T)) > Int(1) << 21;
                  const Int deep = large && d.m <= Rows && d.b_n == 1 ? kStream : d.k;
                  Contraction part = d;
                  BURLAB_ONE_BY_ONE
                  for (Int k = 0; k < d.k; k += deep, a += deep * d.a_k, b += deep * d.b_k) {
                    part.k = d.k - k < deep ? d.k - k : deep;
                    all_panels(part, a, b, c, adds || k > 0, panel, stop);
                  }
                });
  }

 private:
  static BURLAB_INLINE void all_panels(const Contraction& d, const T* a, const T* b, T* c, bool adds, T* panel,
                                       StopCheck& stop) {
    const Int some = rows_at_once(d);
    alignas(64) T near[kDepth * kShallow];
    Contraction part = d;
    const bool gathers = is_shallow(d) && d.a_m == 1 && d.a_k > kWide;
    if (gathers) part.a_k = some;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d.m; i += some, a += some * d.a_m, c += some * d.c_m) {
      const Int rows = d.m - i < some ? d.m - i : some;
      if (!gathers && d.a_m == 1 && d.a_k > kWide && rows > Rows) fetch(d, a, rows);
      BURLAB_ONE_BY_ONE
      for (Int k = 0; gathers && k < d.k; ++k)
        std::memcpy(near + k * some, a + k * d.a_k, static_cast<std::size_t>(rows) * sizeof(T));
      const T* const left = gathers ? near : a;
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < d.n;) {
        const Int width = panel_width(d.n - j);
        if (stop.after(rows * width * d.k)) return;
        column_panel(part, left, b + j * d.b_n, c + j, rows, width, adds, panel);
        j += width;
      }
    }
  }

  /// Ask for columns of a, which lie in different pages, before they are read: another thread may have written them.
  static BURLAB_NOINLINE void fetch(const Contraction& d, const T* a, Int rows) {
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < d.k; ++k, a += d.a_k) {
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < rows; i += 64 / static_cast<Int>(sizeof(T))) BURLAB_PREFETCH(a + i);
    }
  }

  /// One product for each number of c: whole rows are written one after the other.
  static BURLAB_NOINLINE BURLAB_WIDE void outer_product(const Contraction& d, const T* a, const T* b, T* c, bool adds,
                                                        StopCheck& stop) {
    const Int whole = d.n / W * W;
    const First<T, W> last(d.n - whole);
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d.m; ++i, a += d.a_m, c += d.c_m) {
      if (stop.after(d.n)) return;
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < d.n; j += W) {
        Packet<T, W> sum = {}, x;
        if (j < whole) {
          if (adds) load(sum, c + j);
          load(x, b + j);
          add_multiple(sum, *a, x);
          store(c + j, sum);
        } else {
          if (adds) last.load(sum, c + j);
          last.load(x, b + j);
          add_multiple(sum, *a, x);
          last.store(c + j, sum);
        }
      }
    }
  }

  /// Return true if writing wide rows of c takes longest.
  static BURLAB_INLINE bool is_shallow(const Contraction& d) { return d.b_n == 1 && d.k <= kDepth && d.n > kWide; }

  /// Rows for which all columns are computed before the next rows: their part of a stays in the second cache. A shallow
  /// product has few; with narrow registers, enough that copying their a, and b, pays.
  static BURLAB_INLINE Int rows_at_once(const Contraction& d) {
    if (is_shallow(d)) return kShallow;
    const Int cached = (Int(1) << 20) / (d.k * static_cast<Int>(sizeof(T)) + 1) / Rows * Rows;
    return cached > 8 * Rows ? cached : 8 * Rows;
  }

  /// How many of `left` columns are next: a whole block if possible, else two packets, which are faster than three and
  /// one.
  static BURLAB_INLINE Int panel_width(Int left) {
    if (left == Packets * W || left > (Packets + 1) * W) return Packets * W;
    return left < 2 * W ? left : 2 * W;
  }

  static BURLAB_NOINLINE void column_panel(const Contraction& d, const T* a, const T* b, T* c, Int rows, Int width,
                                           bool adds, T* panel) {
    const bool far = d.b_k > kWide && rows >= 4 * Rows && width == Packets * W, packs = d.b_n != 1 || far;
    const Int block = packs || rows > Rows ? kDepth : d.k, packed_width = (width + W - 1) / W * W;
    Int k = 0;
    do {
      const Int depth = d.k - k < block ? d.k - k : block;
      Factors<T> f{a + k * d.a_k, d.a_m, d.a_k, b + k * d.b_k, d.b_k, c, d.c_m, depth, adds || k > 0};
      if (packs) {
        pack<T, W>(panel, packed_width, f.b, d.b_n, d.b_k, width, depth);
        f.b = panel;
        f.b_depth = packed_width;
      }
      if (width == Packets * W) multiply_panel<T, W, Rows, Packets, true>(f, rows, W);
      else if (width > W) two_packets(f, rows, width);
      else Batch<T, W, Rows>{1, 0, 0, 0, 1, panel}.multiply(f, rows, width);
      k += block;
    } while (k < d.k);
  }

  /// Columns that fill one packet and a second, or a part of that.
  static BURLAB_INLINE void two_packets(const Factors<T>& f, Int rows, Int width) {
    if (width == 2 * W && rows >= 4 * Rows) return multiply_panel<T, W, kPairRows, 2, true>(f, rows, W);
    if (width == 2 * W) return multiply_panel<T, W, Rows, 2, true>(f, rows, W);
    if constexpr (kHalves) {
      if (width == W + W / 2) return Halves<T, W, Rows>::multiply(f, rows);
    }
    multiply_panel<T, W, Rows, 2, false>(f, rows, width - W);
  }
};

}  // namespace burlab::kernels
BURLAB_END
