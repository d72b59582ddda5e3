#pragma once
// Products of one row with many, contiguous in both: the tuned version of `Contract` for sums in 16 lanes.
#include "contraction.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// 16 running sums with the errors of their steps, each as `CompensatedSum` has it.
template <class T> class CompensatedSum16 {
 public:
  using A = Accumulator<T, false>;

  BURLAB_INLINE void add(const Packet<T, 16>& parts) {
    T part[16];
    store(part, parts);
    BURLAB_LANES
    for (int i = 0; i < 16; ++i) {
      const A next = sum_[i] + static_cast<A>(part[i]), x = sum_[i], y = static_cast<A>(part[i]);
      const bool larger = (x < 0 ? -x : x) >= (y < 0 ? -y : y);
      carry_[i] += (larger ? x - next : y - next) + (larger ? y : x);
      sum_[i] = next;
    }
  }

  A& start(int i) { return sum_[i]; }
  T value(int i) const {
    const A total = sum_[i] + carry_[i];
    return static_cast<T>(total - total == 0 ? total : sum_[i]);
  }

 private:
  A sum_[16] = {}, carry_[16] = {};
};

/// c[j] = the sum of a[k] * b[j, k], Rows <= 16 rows of b at once.
template <class T, int Rows> struct Dots {
  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    return walk(d, d.rank, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
                [&](const T* a, const T* b, T* c, bool adds, StopCheck& stop) {
                  BURLAB_ONE_BY_ONE
                  for (Int j = 0; j < d.n; j += Rows) {
                    if (stop.after((d.n - j < Rows ? d.n - j : Rows) * d.k)) return;
                    block(d, a, b + j * d.b_n, c + j * d.c_n, d.n - j, adds);
                  }
                });
  }

 private:
  /// The first of `rows`: as many as there are; missing ones are computed as copies of the last.
  static BURLAB_INLINE void block(const Contraction& d, const T* a, const T* b, T* c, Int rows, bool adds) {
    Int at[Rows];
    place_rows(at, rows, d.b_n);
    Packet<T, 16> sums;
    T results[16];
    if (d.k <= kDotBlock && !adds) {
      add_in_lanes<T, Rows>(sums, a, b, at, d.k);
      store(results, sums + T(0));  // like a sum that starts at 0
    } else {
      CompensatedSum16<T> totals;
      BURLAB_ONE_BY_ONE
      for (int j = 0; adds && j < Rows; ++j) totals.start(j) = c[(j < rows ? j : 0) * d.c_n];
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < d.k; k += kDotBlock) {
        add_in_lanes<T, Rows>(sums, a + k, b + k, at, d.k - k < kDotBlock ? d.k - k : kDotBlock);
        totals.add(sums);
      }
      BURLAB_ONE_BY_ONE
      for (int j = 0; j < Rows; ++j) results[j] = totals.value(j);
    }
    BURLAB_ONE_BY_ONE
    for (int j = 0; j < Rows && j < rows; ++j) c[j * d.c_n] = results[j];
  }
};

}  // namespace burlab::kernels
BURLAB_END
