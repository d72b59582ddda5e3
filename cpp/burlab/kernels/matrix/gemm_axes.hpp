#pragma once
// Matrix products whose sums or rows run over several axes, as those of windows in a convolution do: the tuned version
// of `Contract` for sums in order that keeps the sums of a block in registers, or b in a panel, across these axes.
#include "contraction.hpp"
#include "tile.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Of the further axes, the last ones are summed; before these stand those that only a and c have, which count rows as
/// m does. Bytes: of a register; Rows, Packets: of a whole block.
template <class T, int Bytes, int Rows, int Packets> struct GemmAxes {
  static constexpr int W = Bytes / static_cast<int>(sizeof(T));
  static constexpr Int kDepth = 128;  // of a panel of b
  static constexpr int kPieces = 64;

  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    const OuterAxis* const axes = outer_axes(d);
    Int summed = 0, rows = 0;
    while (summed < d.rank && axes[d.rank - 1 - summed].c == 0) ++summed;
    while (summed + rows < d.rank && axes[d.rank - 1 - summed - rows].b == 0) ++rows;
    const Int walked = d.rank - summed - rows;
    alignas(64) T panel[kDepth * Packets * W];
    const Axes all{d, axes + walked, rows, axes + walked + rows, summed};
    return walk(d, walked, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
                [&](const T* a, const T* b, T* c, bool adds, StopCheck& stop) {
                  BURLAB_ONE_BY_ONE
                  for (Int j = 0; j < d.n;) {
                    const Int left_columns = d.n - j, whole = Packets * W;
                    const Int width = left_columns == whole || left_columns > whole + W ? whole
                                      : left_columns < 2 * W                            ? left_columns
                                                                                        : 2 * W;
                    all.columns(a, b + j * d.b_n, c + j * d.c_n, width, adds, panel, stop);
                    if (stop.stopped()) return;
                    j += width;
                  }
                });
  }

 private:
  /// A run of products along k: where a, and b or its panel, begin.
  struct Piece {
    Int a, b, depth;
  };

  /// An index of several axes, and the places in two arrays that belong to it.
  struct Odometer {
    const OuterAxis* axes;
    Int rank;
    Int index[kMaxRank] = {};
    Int first = 0, second = 0;

    BURLAB_INLINE Odometer(const OuterAxis* some, Int count) : axes(some), rank(count) {
      BURLAB_ONE_BY_ONE
      for (Int axis = 0; axis < count; ++axis) index[axis] = 0;
    }

    /// The next index, places in a and in b (of sums) or c (of rows); false at the end.
    template <bool Sums> BURLAB_INLINE bool next() {
      BURLAB_ONE_BY_ONE
      for (Int axis = rank - 1; axis >= 0; --axis) {
        const OuterAxis& x = axes[axis];
        const bool wraps = ++index[axis] == x.size;
        const Int steps = wraps ? 1 - x.size : 1;
        first += steps * x.a;
        second += steps * (Sums ? x.b : x.c);
        if (!wraps) return true;
        index[axis] = 0;
      }
      return false;
    }
  };

  struct Axes {
    const Contraction& d;
    const OuterAxis* row_axes;
    Int rows;
    const OuterAxis* sum_axes;
    Int sums;

    BURLAB_NOINLINE BURLAB_WIDE void columns(const T* a, const T* b, T* c, Int width, bool adds, T* panel,
                                             StopCheck& stop) const {
      const bool packs = d.b_n != 1;
      const Int packed = (width + W - 1) / W * W;
      Odometer sum(sum_axes, sums);
      Int k = 0;
      BURLAB_ONE_BY_ONE
      for (bool more = true; more; adds = true) {
        Piece pieces[kPieces];
        Int count = 0, depth = 0;
        BURLAB_ONE_BY_ONE
        while (more && count < kPieces && (depth < kDepth || !packs)) {
          Int part = d.k - k < kDepth ? d.k - k : kDepth;
          if (packs && part > kDepth - depth) part = kDepth - depth;
          const Int at = sum.second + k * d.b_k;
          pieces[count++] = {sum.first + k * d.a_k, packs ? depth * packed : at, part};
          if (packs) pack<T, W>(panel + depth * packed, packed, b + at, d.b_n, d.b_k, width, part);
          depth += part;
          k += part;
          if (k < d.k) continue;
          k = 0;
          more = sum.template next<true>();
        }
        const Chunk chunk{pieces, count, a, packs ? panel : b, d.a_k, packs ? packed : d.b_k, width, adds};
        if (stop.after(all_rows(chunk, c) * depth * width)) return;
      }
    }

    struct Chunk {
      const Piece* pieces;
      Int count;
      const T *a, *b;
      Int a_step, b_step, width;
      bool adds;
    };

    /// Returns how many there are.
    BURLAB_INLINE Int all_rows(const Chunk& chunk, T* c) const {
      Odometer row(row_axes, rows);
      Int i = 0, total = 0;
      BURLAB_ONE_BY_ONE
      for (bool more = true; more;) {
        Int a_rows[Rows], c_rows[Rows], count = 0;
        BURLAB_ONE_BY_ONE
        for (; more && count < Rows; ++count) {
          a_rows[count] = row.first + i * d.a_m;
          c_rows[count] = row.second + i * d.c_m;
          if (++i < d.m) continue;
          i = 0;
          more = row.template next<false>();
        }
        BURLAB_ONE_BY_ONE
        for (Int copy = count; copy < Rows; ++copy) {
          a_rows[copy] = a_rows[count - 1];
          c_rows[copy] = c_rows[count - 1];
        }
        total += count;
        const Int width = chunk.width;
        if (width == Packets * W) block<Packets, true>(chunk, a_rows, c_rows, count, W, c);
        else if (width > W) block<2, false>(chunk, a_rows, c_rows, count, width - W, c);
        else block<1, false>(chunk, a_rows, c_rows, count, width, c);
      }
      return total;
    }

    /// Missing rows are computed as copies of the last and not stored. columns: of the last packet.
    template <int P, bool Full>
    BURLAB_INLINE void block(const Chunk& chunk, const Int (&a_rows)[Rows], const Int (&c_rows)[Rows], Int count,
                             Int columns, T* c) const {
      if (d.c_n == 1) return multiply<P, Full>(chunk, a_rows, c_rows, count, columns, c);
      T rows[Rows * P * W];
      Int places[Rows];
      place_rows(places, Rows, P * W);
      const Int width = chunk.width, step = d.c_n;
      BURLAB_ONE_BY_ONE
      for (Int i = 0; chunk.adds && i < Rows; ++i) {
        BURLAB_ONE_BY_ONE
        for (Int j = 0; j < width; ++j) rows[i * P * W + j] = c[c_rows[i] + j * step];
      }
      multiply<P, Full>(chunk, a_rows, places, Rows, columns, rows);
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < width; ++j) {
        BURLAB_ONE_BY_ONE
        for (Int i = 0; i < count; ++i) c[c_rows[i] + j * step] = rows[i * P * W + j];
      }
    }

    template <int P, bool Full>
    BURLAB_NOINLINE BURLAB_WIDE void multiply(const Chunk& chunk, const Int (&a_rows)[Rows], const Int (&c_rows)[Rows],
                                              Int count, Int columns, T* c) const {
      const First<T, W> last(columns);
      Packet<T, W> sums[Rows][P] = {};
      if (chunk.adds) {
        BURLAB_UNROLL
        for (int i = 0; i < Rows; ++i) {
          BURLAB_UNROLL
          for (int j = 0; j < P; ++j) {
            if (Full || j + 1 < P) load(sums[i][j], c + c_rows[i] + j * W);
            else last.load(sums[i][j], c + c_rows[i] + j * W);
          }
        }
      }
      const Int a_step = chunk.a_step, b_step = chunk.b_step;
      BURLAB_ONE_BY_ONE
      for (const Piece *piece = chunk.pieces, *end = piece + chunk.count; piece != end; ++piece) {
        const T *x = chunk.a + piece->a, *y = chunk.b + piece->b;
        BURLAB_ONE_BY_ONE
        for (Int k = piece->depth; k > 0; --k, x += a_step, y += b_step) {
          Packet<T, W> packets[P];
          BURLAB_UNROLL
          for (int j = 0; j < P; ++j) {
            if (Full || j + 1 < P) load(packets[j], y + j * W);
            else last.load(packets[j], y + j * W);
          }
          BURLAB_UNROLL
          for (int i = 0; i < Rows; ++i) {
            const T factor = x[a_rows[i]];
            BURLAB_UNROLL
            for (int j = 0; j < P; ++j) add_multiple(sums[i][j], factor, packets[j]);
          }
        }
      }
      BURLAB_UNROLL
      for (int i = 0; i < Rows; ++i) {
        if (i >= count) break;
        BURLAB_UNROLL
        for (int j = 0; j < P; ++j) {
          if (Full || j + 1 < P) store(c + c_rows[i] + j * W, sums[i][j]);
          else last.store(c + c_rows[i] + j * W, sums[i][j]);
        }
      }
    }
  };
};

}  // namespace burlab::kernels
BURLAB_END
