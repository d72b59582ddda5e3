#pragma once
// A vector times a matrix whose rows are contiguous: the tuned version of `Contract` for sums in four phases, without
// which each addition would wait for the one before.
#include "contraction.hpp"
#include "tile.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// c[j] = the sum of a[k] * b[k, j]. Bytes: of a register; Packets: of a panel of columns.
template <class T, int Bytes, int Packets> struct Phases {
  static constexpr int W = Bytes / static_cast<int>(sizeof(T));
  static constexpr Int kColumns = 1024;  // whose sums are stored while b is read

  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    alignas(64) T sums[kPhases * kColumns];
    return walk(d, d.rank, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
                [&](const T* a, const T* b, T* c, bool adds, StopCheck& stop) {
                  BURLAB_ONE_BY_ONE
                  for (Int j = 0; j < d.n; j += kColumns)
                    columns(d, a, b + j, c + j * d.c_n, d.n - j < kColumns ? d.n - j : kColumns, adds, sums, stop);
                });
  }

 private:
  static BURLAB_INLINE void columns(const Contraction& d, const T* a, const T* b, T* c, Int n, bool adds, T* sums,
                                    StopCheck& stop) {
    const Int deep = rows_at_once(d), whole = n / kPanel * kPanel;
    Int k = 0;
    do {
      if (stop.after((d.k < deep ? d.k : deep) * n)) return;
      const Strips some{a + k * d.a_k, d.a_k, b + k * d.b_k, d.b_k, d.k - k < deep ? d.k - k : deep, k == 0};
      if (whole > 0) add_strips<Packets>(some, sums, 0, whole);
      if (whole < n) add_strips<1>(some, sums, whole, n);
      k += deep;
    } while (k < d.k);
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j < n; j += W) {
      const Int first = j < whole ? j % kPanel : 0, step = j < whole ? kPanel : W;  // of its strip
      finish(sums + kPhases * (j - first) + first, step, n - j < W ? n - j : W, c + j * d.c_n, d.c_n, adds);
    }
  }

  /// The number of rows of b that are read together: all if b is in cache, so that no sums need memory; few if b comes
  /// from memory, so that whole rows are read.
  static BURLAB_INLINE Int rows_at_once(const Contraction& d) {
    const Int bytes = d.k * d.n * static_cast<Int>(sizeof(T));
    return d.n <= kPanel || bytes <= Int(1) << 19 ? (d.k > 0 ? d.k : 1) : bytes <= Int(1) << 20 ? 32 : 8;
  }

  static constexpr Int kPanel = Packets * W;

  struct Strips {
    const T* a;
    Int a_depth;
    const T* b;
    Int b_depth, depth;
    bool first;
  };

  /// Columns from j to end, P packets at a time. sums: of each strip, the columns of each phase.
  template <int P> static BURLAB_NOINLINE BURLAB_WIDE void add_strips(const Strips& s, T* to, Int j, Int end) {
    BURLAB_ONE_BY_ONE
    for (; j < end; j += P * W) {
      T* const sums = to + kPhases * j;
      if constexpr (P > 1) add_strip<P>(s, sums, s.b + j, First<T, W>(W));
      else add_strip<1>(s, sums, s.b + j, First<T, W>(end - j < W ? end - j : W));
    }
  }

  template <int P> static BURLAB_INLINE void add_strip(const Strips& s, T* to, const T* b, const First<T, W>& some) {
    Packet<T, W> sums[kPhases][P] = {}, x;
    if (!s.first) {
      BURLAB_UNROLL
      for (int i = 0; i < kPhases * P; ++i) load(sums[i / P][i % P], to + i * W);
    }
    const T* a = s.a;
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
    for (int i = 0; i < kPhases * P; ++i) store(to + i * W, sums[i / P][i % P]);
  }

  static BURLAB_INLINE void finish(const T* sums, Int step, Int columns, T* c, Int c_step, bool adds) {
    Packet<T, W> x[kPhases], y = {};
    BURLAB_UNROLL
    for (int phase = 0; phase < kPhases; ++phase) load(x[phase], sums + phase * step);
    x[0] = (x[0] + x[1]) + (x[2] + x[3]);
    if (c_step != 1) {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < columns; ++j, c += c_step) *c = adds ? *c + x[0][j] : x[0][j];
      return;
    }
    const First<T, W> some(columns);
    if (adds) {
      some.load(y, c);
      x[0] = y + x[0];
    }
    some.store(c, x[0]);
  }
};

}  // namespace burlab::kernels
BURLAB_END
