#pragma once
// A vector times a matrix whose rows are contiguous: the tuned twin of `Contract` for sums in four phases, without
// which each addition would wait for the one before.
#include "contraction.hpp"
#include "tile.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// c[j] = the sum of a[k] * b[k, j]. Bytes: of a register; Packets: of a panel of columns.
template <class T, int Bytes, int Packets> struct Phases {
  static constexpr int W = Bytes / static_cast<int>(sizeof(T));
  static constexpr Int kColumns = 1024;  // whose sums are kept while b streams by
  static constexpr Int kStream = 32;     // rows of b that are read side by side

  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    alignas(64) T sums[kPhases * kColumns];
    walk(d, d.rank, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
         [&](const T* a, const T* b, T* c, bool adds) {
           BURLAB_ONE_BY_ONE
           for (Int j = 0; j < d.n; j += kColumns)
             columns(d, a, b + j, c + j, d.n - j < kColumns ? d.n - j : kColumns, adds, sums);
         });
    return Ok;
  }

 private:
  static BURLAB_INLINE void columns(const Contraction& d, const T* a, const T* b, T* c, Int n, bool adds, T* sums) {
    const Int deep = n > Packets * W ? kStream : d.k;
    Int k = 0;
    do {
      const Int depth = d.k - k < deep ? d.k - k : deep;
      const bool first = k == 0, last = k + depth == d.k;
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < n;) {
        const Strip strip{a + k * d.a_k, d.a_k, b + k * d.b_k + j, d.b_k, sums + kPhases * j, depth, first};
        const bool wide = n - j >= Packets * W;
        const Int width = wide ? Packets * W : n - j < W ? n - j : W;
        if (wide) add_strip<Packets>(strip, First<T, W>(W));
        else add_strip<1>(strip, First<T, W>(width));
        BURLAB_ONE_BY_ONE
        for (Int i = 0; last && i < width; i += W) {
          const First<T, W> some(width - i < W ? width - i : W);
          finish(strip.sums + i, width_of(wide), some, c + j + i, adds);
        }
        j += width;
      }
      k += depth;
    } while (k < d.k);
  }

  static constexpr Int width_of(bool wide) { return (wide ? Packets : 1) * W; }

  struct Strip {
    const T* a;
    Int a_depth;
    const T* b;
    Int b_depth;
    T* sums;  // of each phase, all columns
    Int depth;
    bool first;
  };

  template <int P> static BURLAB_NOINLINE BURLAB_WIDE void add_strip(const Strip& s, const First<T, W>& some) {
    Packet<T, W> sums[kPhases][P] = {}, x;
    if (!s.first) {
      BURLAB_UNROLL
      for (int i = 0; i < kPhases * P; ++i) load(sums[i / P][i % P], s.sums + i * W);
    }
    const T *a = s.a, *b = s.b;
    const auto add = [&](int phase) {
      BURLAB_UNROLL
      for (int j = 0; j < P; ++j) {
        if constexpr (P > 1) load(x, b + j * W);
        else some.load(x, b);
        add_multiple(sums[phase][j], *a, x);
      }
      a += s.a_depth;
      b += s.b_depth;
    };
    Int k = s.depth;
    BURLAB_ONE_BY_ONE
    for (; k >= kPhases; k -= kPhases) {
      BURLAB_UNROLL
      for (int phase = 0; phase < kPhases; ++phase) add(phase);
    }
    if (k > 0) add(0);
    if (k > 1) add(1);
    if (k > 2) add(2);
    BURLAB_UNROLL
    for (int i = 0; i < kPhases * P; ++i) store(s.sums + i * W, sums[i / P][i % P]);
  }

  static BURLAB_INLINE void finish(const T* sums, Int step, const First<T, W>& some, T* c, bool adds) {
    Packet<T, W> x[kPhases], y = {};
    BURLAB_UNROLL
    for (int phase = 0; phase < kPhases; ++phase) load(x[phase], sums + phase * step);
    x[0] = (x[0] + x[1]) + (x[2] + x[3]);
    if (adds) {
      some.load(y, c);
      x[0] = y + x[0];
    }
    some.store(c, x[0]);
  }
};

}  // namespace burlab::kernels
BURLAB_END
