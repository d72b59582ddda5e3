#pragma once
// The sum of the rows of a matrix, each times a number: the tuned version of `Contract` for sums in order of one row of
// c. Each addition waits for the one before, so as many columns as there are registers are summed together.
#include "contraction.hpp"
#include "tile.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// c[j] = the sum of a[k] * b[k, j], k in order, with rows of b contiguous. Bytes: of a register; Packets: at once.
template <class T, int Bytes, int Packets> struct RowSums {
  static constexpr int W = Bytes / static_cast<int>(sizeof(T));

  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    return walk(d, d.rank, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
                [&](const T* a, const T* b, T* c, bool adds, StopCheck& stop) {
                  BURLAB_ONE_BY_ONE
                  for (Int j = 0; j < d.n; j += Packets * W) {
                    const Int width = d.n - j < Packets * W ? d.n - j : Packets * W;
                    if (stop.after(width * d.k)) return;
                    columns<Packets>({a, 0, d.a_k, b + j, d.b_k, c + j, 0, d.k, adds}, width);
                  }
                });
  }

 private:
  /// In as few packets as they fill.
  template <int P> static BURLAB_INLINE void columns(const Factors<T>& f, Int width) {
    if constexpr (P > 1) {
      if (width <= (P - 1) * W) return columns<P - 1>(f, width);
    }
    multiply_panel<T, W, 1, P, false>(f, 1, width - (P - 1) * W);
  }
};

}  // namespace burlab::kernels
BURLAB_END
