#pragma once
// Stacks of products of a vector and a matrix in packets that hold one number each of W products: the tuned version of
// `Contract` for sums in four phases, c[j, t] = sum over k of a[k, t] * b[k, j, t], with b contiguous along t.
#include "contraction.hpp"
#include "pack.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// In the descriptor, n counts the products, m is 1, and the last further axis, which only b and c have, counts
/// columns. Bytes: of a register; Columns: whose sums fit in registers.
template <class T, int Bytes, int Columns> struct StackedPhases {
  static constexpr int W = Bytes / static_cast<int>(sizeof(T));
  static constexpr Int kDepth = 256, kColumns = 64;  // whose part of a, and whose sums, stay in the cache

  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    const OuterAxis columns = outer_axes(d)[d.rank - 1];
    alignas(64) T panel[kDepth * W], sums[kColumns * kPhases * W];
    return walk(d, d.rank - 1, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
                [&](const T* a, const T* b, T* c, bool adds, StopCheck& stop) {
                  BURLAB_ONE_BY_ONE
                  for (Int t = 0; t < d.n; t += W) {
                    BURLAB_ONE_BY_ONE
                    for (Int j = 0; j < columns.size; j += kColumns) {
                      const Int width = columns.size - j < kColumns ? columns.size - j : kColumns;
                      if (stop.after(width * d.k * W)) return;
                      const Part part{d,    columns, a + t * d.a_n, b + t + j * columns.b, d.n - t < W ? d.n - t : W,
                                      width};
                      part.add_up(panel, sums);
                      part.store_sums(c + t * d.c_n + j * columns.c, sums, adds);
                    }
                  }
                });
  }

 private:
  /// Some columns of up to W products.
  struct Part {
    const Contraction& d;
    const OuterAxis& columns;
    const T *a, *b;
    Int lanes, width;

    /// sums: of each column, a packet for each phase.
    BURLAB_NOINLINE BURLAB_WIDE void add_up(T* panel, T* sums) const {
      Int places[W];
      place_rows(places, lanes, d.a_n);
      Int k = 0;
      do {
        const Int depth = d.k - k < kDepth ? d.k - k : kDepth;
        const bool packs = d.a_n != 1 || lanes != W;
        if (packs) pack_columns<T, W>(panel, W, a + k * d.a_k, places, d.a_k, depth);
        const T* const x = packs ? panel : a + k * d.a_k;
        const Int x_step = packs ? W : d.a_k;
        Int j = 0;
        BURLAB_ONE_BY_ONE
        for (; j + Columns <= width; j += Columns) block<Columns>(x, x_step, j, k, depth, sums);
        BURLAB_ONE_BY_ONE
        for (; j < width; ++j) block<1>(x, x_step, j, k, depth, sums);
        k += depth;
      } while (k < d.k);
    }

    template <int P>
    BURLAB_INLINE void block(const T* x, Int x_step, Int j, Int first, Int depth, T* all) const {
      const T* y = b + j * columns.b + first * d.b_k;
      const Int y_step = d.b_k, column = columns.b;
      T* const to = all + j * kPhases * W;
      const First<T, W> some(lanes);
      const bool whole = lanes == W;
      Packet<T, W> sums[P][kPhases] = {}, factor, numbers;
      if (first > 0) {
        BURLAB_UNROLL
        for (int i = 0; i < P * kPhases; ++i) load(sums[i / kPhases][i % kPhases], to + i * W);
      }
      const auto add = [&](int phase) {
        load(factor, x);
        BURLAB_UNROLL
        for (int i = 0; i < P; ++i) {
          if (whole) load(numbers, y + i * column);
          else some.load(numbers, y + i * column);
          add_product<false>(sums[i][phase], factor, numbers);
        }
        x += x_step;
        y += y_step;
      };
      BURLAB_ONE_BY_ONE
      for (; depth >= kPhases; depth -= kPhases) {
        BURLAB_UNROLL
        for (int phase = 0; phase < kPhases; ++phase) add(phase);
      }
      if (depth > 0) add(0);
      if (depth > 1) add(1);
      if (depth > 2) add(2);
      BURLAB_UNROLL
      for (int i = 0; i < P * kPhases; ++i) store(to + i * W, sums[i / kPhases][i % kPhases]);
    }

    BURLAB_INLINE void store_sums(T* c, const T* sums, bool adds) const {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < width; ++j, c += columns.c, sums += kPhases * W) {
        Packet<T, W> x[kPhases];
        BURLAB_UNROLL
        for (int phase = 0; phase < kPhases; ++phase) load(x[phase], sums + phase * W);
        x[0] = (x[0] + x[1]) + (x[2] + x[3]);
        T numbers[W];
        store(numbers, x[0]);
        BURLAB_ONE_BY_ONE
        for (Int t = 0; t < lanes; ++t) c[t * d.c_n] = adds ? c[t * d.c_n] + numbers[t] : numbers[t];
      }
    }
  };
};

}  // namespace burlab::kernels
BURLAB_END
