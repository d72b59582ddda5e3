#pragma once
// Stacks of matrix products some of whose arrays are interleaved: the numbers of several products lie next to each
// other. Blocks of such operands are copied, product by product, to memory that stays in the cache; `Gemm` computes the
// products of these, and if the result is interleaved, puts them into a block that is then copied there.
#include "gemm.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// In the descriptor, n counts the products, m their rows, and the last further axis, which only b and c have, their
/// columns. An array is interleaved if its stride along products is 1. Nothing is added to what c holds; c is
/// interleaved or contiguous along columns. Bytes, Rows, Packets: of `Gemm`.
template <class T, int Bytes, int Rows, int Packets> struct Interleaved {
  using Product = Gemm<T, Bytes, Rows, Packets>;
  static constexpr int W = Product::W;
  static constexpr Int kLine = 64 / static_cast<Int>(sizeof(T));             // products whose numbers share a line
  static constexpr Int kRows = 32, kDepth = 32, kColumns = Packets * kLine;  // of blocks

  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    const OuterAxis columns = outer_axes(d)[d.rank - 1];
    alignas(64) T a_block[kLine * (kRows * kDepth + W)], b_block[kLine * (kDepth * kColumns + W)],
        c_block[kLine * (kRows * kColumns + W)];
    const Blocks blocks{d.a_n == 1 ? a_block : nullptr, d.b_n == 1 ? b_block : nullptr, d.c_n == 1 ? c_block : nullptr};
    return walk(d, d.rank - 1, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
                [&](const T* a, const T* b, T* c, bool, StopCheck& stop) {
                  BURLAB_ONE_BY_ONE
                  for (Int t = 0; t < d.n; t += kLine) {
                    BURLAB_ONE_BY_ONE
                    for (Int i = 0; i < d.m; i += kRows) {
                      BURLAB_ONE_BY_ONE
                      for (Int j = 0; j < columns.size; j += kColumns) {
                        const Part part{d, columns, least(d.n - t, kLine), least(d.m - i, kRows),
                                        least(columns.size - j, kColumns)};
                        if (stop.after(part.products * part.rows * part.width * d.k)) return;
                        part.multiply(a + t * d.a_n + i * d.a_m, b + t * d.b_n + j * columns.b,
                                      c + t * d.c_n + i * d.c_m + j * columns.c, blocks);
                      }
                    }
                  }
                });
  }

 private:
  static BURLAB_INLINE Int least(Int x, Int y) { return x < y ? x : y; }

  /// Whole packets of so many numbers.
  static BURLAB_INLINE Int whole(Int count) { return (count + W - 1) / W * W; }

  /// nullptr for arrays that are not interleaved.
  struct Blocks {
    T *a, *b, *c;
  };

  struct Part {
    const Contraction& d;
    const OuterAxis& columns;
    Int products, rows, width;

    BURLAB_INLINE void multiply(const T* a, const T* b, T* c, const Blocks& blocks) const {
      const Int depths = least(d.k, kDepth), a_row = whole(depths), b_row = whole(width);
      // From one product to the next: no power of two, so that they do not compete for lines of the cache.
      const Int a_size = rows * a_row + W, b_size = depths * b_row + W, c_size = rows * b_row + W;
      struct {
        Contraction head;
        OuterAxis stack;
      } call{{rows, width, d.k, d.a_m, 0, d.a_k, 0, columns.b, d.b_k, d.c_m, 1, 0, SumOrder::in_order, 1},
             {products, d.c_n, d.a_n, d.b_n}};
      T* const result = blocks.c ? blocks.c : c;
      if (blocks.c) call.head.c_m = b_row, call.stack.c = c_size;
      if (blocks.a) call.head.a_m = a_row, call.head.a_k = 1, call.stack.a = a_size;
      if (blocks.b) call.head.b_n = 1, call.head.b_k = b_row, call.stack.b = b_size;
      const Int deep = blocks.a || blocks.b ? kDepth : d.k;
      Int k = 0;
      do {
        const Int depth = least(d.k - k, deep);
        const T *x = a + k * d.a_k, *y = b + k * d.b_k;
        if (blocks.a) x = copied(blocks.a, a_row, call.stack.a, x, d.a_m, rows, d.a_k, depth);
        if (blocks.b) y = copied(blocks.b, b_row, call.stack.b, y, d.b_k, depth, columns.b, width);
        call.head.k = depth;
        call.head.accumulate = k > 0;
        Product::run(reinterpret_cast<const Int*>(&call), result, x, y, nullptr);
        k += deep;
      } while (k < d.k);
      if (blocks.c) store_transposed<T, W>(c, blocks.c, {rows, width, products, d.c_m, columns.c, b_row, c_size});
    }

    /// to[t * size + u * row + v] = from[t + u * u_step + v * v_step]; rows are written in whole packets.
    BURLAB_INLINE const T* copied(T* to, Int row, Int size, const T* from, Int u_step, Int u_count, Int v_step,
                                  Int v_count) const {
      BURLAB_ONE_BY_ONE
      for (Int v = 0; v < v_count; v += W) {
        Int places[W];
        place_rows(places, v_count - v, v_step);
        BURLAB_ONE_BY_ONE
        for (Int u = 0; u < u_count; ++u) {
          const T* const at = from + u * u_step + v * v_step;
          BURLAB_UNROLL
          for (int j = 0; j < W; ++j) BURLAB_PREFETCH(at + places[j] + kLine);  // for the next products
          pack_columns<T, W>(to + u * row + v, size, at, places, 1, products);
        }
      }
      return to;
    }
  };
};

}  // namespace burlab::kernels
BURLAB_END
