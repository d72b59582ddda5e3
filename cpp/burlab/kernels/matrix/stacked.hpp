#pragma once
// Stacks of matrix products in packets that hold one number each of W products: the tuned version of `Contract` for
// sums in order, c[i, j, t] = sum over k of a[i, k, t] * b[k, j, t], if products follow each other in the result or in
// an operand.
#include "contraction.hpp"
#include "pack.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// In the descriptor, n counts the products, m their rows, and the last further axis, which only b and c have, their
/// columns. c is contiguous along products, or along columns if nothing is added to it. Bytes: of a register; Rows,
/// Columns: of a whole block of packets.
template <class T, int Bytes, int Rows, int Columns> struct Stacked {
  static constexpr int W = Bytes / static_cast<int>(sizeof(T));
  static constexpr int kPackets = 64 / Bytes;  // of a line of the cache: all of them are read or written together
  static constexpr Int kLine = kPackets * W;
  static constexpr Int kSliver = Columns * kPackets;   // columns that are packed together
  static constexpr int kHalf = Columns - Columns / 3;  // columns of a smaller block
  // Of panels of a and of c, which stay in the second cache; columns in whole fours.
  static constexpr Int kDepth = 32, kRows = 8 * Rows, kColumns = 16 * Columns / 2;

  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    const OuterAxis columns = outer_axes(d)[d.rank - 1];
    alignas(64) T left_panel[kRows * kDepth * kLine], right_panel[kSliver * kDepth * kLine],
        result[kRows * kColumns * kLine];
    const Panels panels{left_panel, right_panel, d.c_n == 1 ? nullptr : result};
    return walk(d, d.rank - 1, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
                [&](const T* a, const T* b, T* c, bool adds, StopCheck& stop) {
                  BURLAB_ONE_BY_ONE
                  for (Int t = 0; t < d.n; t += kLine) {
                    const Products some{d, columns, a + t * d.a_n, b + t * d.b_n, c + t * d.c_n, least(d.n - t, kLine)};
                    some.multiply(adds, panels, stop);
                  }
                });
  }

 private:
  static BURLAB_INLINE Int least(Int x, Int y) { return x < y ? x : y; }

  /// result: nullptr if packets are stored in c as they are.
  struct Panels {
    T *left, *right, *result;
  };

  /// Line (i, k) begins at `at` + i * own + k * depth.
  struct Lines {
    const T* at;
    Int own, depth;
  };

  /// Up to a line of products at once.
  struct Products {
    const Contraction& d;
    const OuterAxis& columns;
    const T *a, *b;
    T* c;
    Int lanes;

    BURLAB_NOINLINE BURLAB_WIDE void multiply(bool adds, const Panels& panels, StopCheck& stop) const {
      const Int wide = panels.result ? kColumns : columns.size;
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < d.m; i += kRows) {
        BURLAB_ONE_BY_ONE
        for (Int j = 0; j < columns.size; j += wide) {
          const Int rows = least(d.m - i, kRows), width = least(columns.size - j, wide);
          if (stop.after(rows * width * d.k * lanes)) return;
          const Results whole{c + i * d.c_m + j * columns.c, d.c_m, columns.c, rows, width};
          if (panels.result) {
            const Results near{panels.result, kColumns * kLine, kLine, rows, width};
            all_depths(a + i * d.a_m, b + j * columns.b, near, adds, panels);
            BURLAB_ONE_BY_ONE
            for (Int row = 0; row < rows; row += 1) transpose_row(whole, near.at + row * near.row, row);
          } else {
            all_depths(a + i * d.a_m, b + j * columns.b, whole, adds, panels);
          }
        }
      }
    }

    /// Line (i, j) of `width` columns and `rows` rows begins at `at` + i * row + j * column.
    struct Results {
      T* at;
      Int row, column, rows, width;
    };

    /// Stores a row of packets in each of the products.
    BURLAB_INLINE void transpose_row(const Results& whole, const T* from, Int row) const {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < whole.width; j += W) {
        store_transposed<T, W>(whole.at + row * whole.row + j, from + j * kLine,
                               {1, lanes, least(whole.width - j, W), 0, d.c_n, 0, kLine});
      }
    }

    BURLAB_INLINE void all_depths(const T* x, const T* y, const Results& to, bool adds, const Panels& panels) const {
      Int k = 0;
      do {
        const Int depth = least(d.k - k, kDepth);
        const Lines left = packed(x + k * d.a_k, {d.a_n, d.a_m, d.a_k}, to.rows, depth,
                                  kPackets == 1 && to.width <= kSliver, panels.left);
        BURLAB_ONE_BY_ONE
        for (Int j = 0; j < to.width;) {
          const Int width = least(to.width - j, kSliver);
          const Lines right = packed(y + j * columns.b + k * d.b_k, {d.b_n, columns.b, d.b_k}, width, depth,
                                     kPackets == 1 && to.rows <= Rows, panels.right);
          const Results some{to.at + j * to.column, to.row, to.column, to.rows, width};
          all_rows(left, right, some, depth, adds || k > 0);
          j += width;
        }
        k += depth;
      } while (k < d.k);
    }

    /// How many of `left` columns are next.
    static BURLAB_INLINE Int block_width(Int left) {
      if (left <= Columns) return left;
      return left <= 2 * kHalf ? kHalf : Columns;
    }

    struct Strides {
      Int lane, own, depth;
    };

    /// An operand as whole lines: where it lies, if it is made of them and read once, else copied to the panel, in its
    /// own order. Several packets of a line are not read once.
    BURLAB_INLINE Lines packed(const T* x, Strides s, Int count, Int depth, bool once, T* panel) const {
      if (s.lane == 1 && lanes == kLine && once) return {x, s.own, s.depth};
      const bool by_depth = s.own == 1 && s.depth != 1;
      Int outer = by_depth ? depth : count, inner = by_depth ? count : depth;
      const Int outer_step = by_depth ? s.depth : s.own, inner_step = by_depth ? s.own : s.depth;
      const Lines to{panel, by_depth ? kLine : depth * kLine, by_depth ? count * kLine : kLine};
      if (outer_step == inner * inner_step) inner *= outer, outer = 1;
      if (s.lane == 1) {
        copy(panel, x, outer, outer_step, inner, inner_step);
        return to;
      }
      BURLAB_ONE_BY_ONE
      for (Int t = 0; t < lanes; t += W, x += W * s.lane, panel += W) {
        Int places[W];
        place_rows(places, lanes - t, s.lane);
        BURLAB_ONE_BY_ONE
        for (Int i = 0; i < outer; ++i)
          pack_columns<T, W>(panel + i * inner * kLine, kLine, x + i * outer_step, places, inner_step, inner);
      }
      return to;
    }

    BURLAB_NOINLINE BURLAB_WIDE void copy(T* to, const T* from, Int outer, Int outer_step, Int inner,
                                          Int inner_step) const {
      const bool whole = lanes == kLine;
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < outer; ++i, from += outer_step) {
        const T* x = from;
        BURLAB_ONE_BY_ONE
        for (Int k = 0; k < inner; ++k, x += inner_step, to += kLine) {
          BURLAB_PREFETCH(x + kLine);  // for the next products
          if (whole) {
            Packet<T, W> numbers[kPackets];
            BURLAB_UNROLL
            for (int p = 0; p < kPackets; ++p) load(numbers[p], x + p * W);
            BURLAB_UNROLL
            for (int p = 0; p < kPackets; ++p) store(to + p * W, numbers[p]);
          } else {
            BURLAB_ONE_BY_ONE
            for (Int t = 0; t < lanes; t += W) {
              Packet<T, W> numbers;
              First<T, W>(least(lanes - t, W)).load(numbers, x + t);
              store(to + t, numbers);
            }
          }
        }
      }
    }

    /// Some columns, whose part of y stays in the nearest cache.
    BURLAB_INLINE void all_rows(Lines x, const Lines& y, Results to, Int depth, bool adds) const {
      BURLAB_ONE_BY_ONE
      for (; to.rows > 0; to.rows -= Rows, x.at += Rows * x.own, to.at += Rows * to.row) {
        BURLAB_ONE_BY_ONE
        for (Int j = 0; j < to.width;) {
          const Int width = block_width(to.width - j);
          some_columns(x, {y.at + j * y.own, y.own, y.depth},
                       {to.at + j * to.column, to.row, to.column, to.rows, width}, depth, adds);
          j += width;
        }
      }
    }

    BURLAB_INLINE void some_columns(const Lines& x, const Lines& y, const Results& to, Int depth, bool adds) const {
      if (to.width == 1) return all_packets<1>(x, y, to, depth, adds);
      if constexpr (kHalf > 2) {
        if (to.width == 2) return all_packets<2>(x, y, to, depth, adds);
      }
      if (to.width <= kHalf) return all_packets<kHalf>(x, y, to, depth, adds);
      if constexpr (kHalf < Columns) all_packets<Columns>(x, y, to, depth, adds);
    }

    template <int P>
    BURLAB_NOINLINE BURLAB_WIDE void all_packets(const Lines& x, const Lines& y, const Results& to, Int depth,
                                                 bool adds) const {
      Int x_places[Rows], y_places[P];
      place_rows(x_places, to.rows, x.own);
      place_rows(y_places, to.width, y.own);
      BURLAB_ONE_BY_ONE
      for (Int t = 0; t < lanes; t += W) {
        const Lines left{x.at + t, x.own, x.depth}, right{y.at + t, y.own, y.depth};
        const Results some{to.at + t, to.row, to.column, to.rows, to.width};
        block<P>(left, right, x_places, y_places, some, depth, First<T, W>(least(lanes - t, W)), adds);
      }
    }

    /// Missing rows and columns are computed as copies of the last and not stored.
    template <int P>
    BURLAB_INLINE void block(const Lines& x, const Lines& y, const Int (&x_places)[Rows], const Int (&y_places)[P],
                             const Results& to, Int depth, const First<T, W>& some, bool adds) const {
      Packet<T, W> sums[Rows][P] = {};
      if (adds) {
        Int i_places[Rows], j_places[P];
        place_rows(i_places, to.rows, to.row);
        place_rows(j_places, to.width, to.column);
        BURLAB_UNROLL
        for (int i = 0; i < Rows; ++i) {
          BURLAB_UNROLL
          for (int j = 0; j < P; ++j) some.load(sums[i][j], to.at + i_places[i] + j_places[j]);
        }
      }
      const T *u = x.at, *v = y.at;
      const Int x_depth = x.depth, y_depth = y.depth;
      BURLAB_ONE_BY_ONE
      for (Int k = depth; k > 0; --k, u += x_depth, v += y_depth) {
        Packet<T, W> factors[P], factor;
        BURLAB_UNROLL
        for (int j = 0; j < P; ++j) load(factors[j], v + y_places[j]);
        BURLAB_UNROLL
        for (int i = 0; i < Rows; ++i) {
          load(factor, u + x_places[i]);
          BURLAB_UNROLL
          for (int j = 0; j < P; ++j) add_product<false>(sums[i][j], factor, factors[j]);
        }
      }
      BURLAB_UNROLL
      for (int i = 0; i < Rows; ++i) {
        if (i >= to.rows) break;
        BURLAB_UNROLL
        for (int j = 0; j < P; ++j) {
          if (j >= to.width) break;
          some.store(to.at + i * to.row + j * to.column, sums[i][j]);
        }
      }
    }
  };
};

}  // namespace burlab::kernels
BURLAB_END
