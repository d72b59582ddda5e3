#pragma once
// All matrix products: c[i, j] = sum over k of a[i, j, k] * b[i, j, k], with any strides, and loops over further axes,
// so that every Einstein summation of two arrays is one call.
//
// The order in which one number of c is summed depends on the summed axes alone. Products of floats are fused with the
// addition. A long sum with a vector, which has no row of its own, runs in 16 lanes and blocks of 256, the blocks added
// with their rounding errors, if both are contiguous along k (or one number); else in four phases, number k in phase
// k mod 4. All else runs through k in order. Further summed axes add to what c holds, in order. `Strict`:
// always in order, and products rounded.
//
// `Contract` is the general kernel; `gemm.hpp`, `dots.hpp`, `phases.hpp`, `row_dots.hpp`, `row_sums.hpp`, `stacked.hpp`
// and `interleaved.hpp` are tuned versions with the same bits.
#include "../reduce/compensated_sum.hpp"
#include "../reduce/lanes.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

enum SumOrder : Int { in_order, in_lanes, in_phases };
inline constexpr int kPhases = 4;

/// Mirrored by `burlab/compiler/lowering/contraction.py`: sizes m, n, k; strides of a along them, strides of b along
/// them, strides of c along m and n; whether to add to what c holds; how sums along k run; the number of further axes,
/// and size and strides of c, a and b for each, the summed ones last.
struct Contraction {
  Int m, n, k;
  Int a_m, a_n, a_k;
  Int b_m, b_n, b_k;
  Int c_m, c_n;
  Int accumulate, order;  // a SumOrder
  Int rank;
};

/// A further axis: its size, and strides of c, a and b along it. A summed one has none in c.
struct OuterAxis {
  Int size, c, a, b;
};

BURLAB_INLINE const OuterAxis* outer_axes(const Contraction& d) { return reinterpret_cast<const OuterAxis*>(&d + 1); }

/// Calls product(a, b, c, adds, stop) for every index of the first `rank` further axes, in row-major order, until
/// it has to stop: then Stopped.
template <class T, class F>
BURLAB_INLINE Status walk(const Contraction& d, Int rank, const T* a, const T* b, T* c, const F& product) {
  const OuterAxis* const axes = outer_axes(d);
  Int index[kMaxRank];
  BURLAB_ONE_BY_ONE
  for (Int axis = 0; axis < rank; ++axis) index[axis] = 0;
  bool adds = d.accumulate != 0;
  StopCheck stop;
  for (;;) {
    product(a, b, c, adds, stop);
    if (BURLAB_UNLIKELY(stop.stopped())) return Stopped;
    adds = d.accumulate != 0;
    Int axis = rank - 1;
    BURLAB_ONE_BY_ONE
    for (; axis >= 0; --axis) {
      const OuterAxis& x = axes[axis];
      const bool wraps = ++index[axis] == x.size;
      const Int steps = wraps ? 1 - x.size : 1;  // back to the first index
      c += steps * x.c;
      a += steps * x.a;
      b += steps * x.b;
      if (!wraps) break;
      index[axis] = 0;
    }
    if (axis < 0) return Ok;
    adds |= axes[axis].c == 0;  // the next index of a summed axis
  }
}

/// Vectors: whether it also serves sums in lanes and phases, which take time to compile.
template <class T, bool Strict, bool Vectors = false> struct Contract {
  static constexpr bool kPlain = Strict || std::is_integral_v<T>;

  static Status run(const Int* descriptor, void* out, const void* left, const void* right,
                    const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    const bool rows = d.a_n == 0 && d.b_n == 1 && d.c_n == 1 && d.n > 1;
    return walk(d, d.rank, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
                [&](const T* a, const T* b, T* c, bool adds, StopCheck& stop) {
                  if constexpr (Vectors) {
                    if (d.order == SumOrder::in_lanes) return add_by_lanes(d, a, b, c, adds, stop);
                    if (d.order == SumOrder::in_phases) return add_by_phases(d, a, b, c, adds, stop);
                  }
                  if (rows) in_rows(d, a, b, c, adds, stop);
                  else one_by_one(d, a, b, c, adds, stop);
                });
  }

 private:
  /// Row by row of c, along which b is contiguous, in pieces that stay in the cache.
  static BURLAB_SMALL BURLAB_WIDE void in_rows(const Contraction& d, const T* a, const T* b, T* c, bool adds,
                                               StopCheck& stop) {
    BURLAB_ONE_BY_ONE
    for (Int begin = 0; begin < d.n; begin += 512) {
      const Int n = d.n - begin < 512 ? d.n - begin : 512;
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < d.m; ++i) {
        T* y = c + i * d.c_m + begin;
        if (!adds) std::memset(y, 0, static_cast<std::size_t>(n) * sizeof(T));
        BURLAB_ONE_BY_ONE
        for (Int k = 0; k < d.k; ++k) {
          if (stop.after(n)) return;
          const T x = a[i * d.a_m + k * d.a_k], *z = b + i * d.b_m + begin + k * d.b_k;
          constexpr Int N = BURLAB_REGISTER / static_cast<Int>(sizeof(T));
          const auto factor = x - Packet<T, N>{};
          Packet<T, N> sums, numbers;
          Int j = 0;
          BURLAB_ONE_BY_ONE
          for (; j + N <= n; j += N) {
            load(sums, y + j);
            load(numbers, z + j);
            add_product<kPlain>(sums, factor, numbers);
            store(y + j, sums);
          }
          BURLAB_ONE_BY_ONE
          for (; j < n; ++j) add_product<kPlain>(y[j], x, z[j]);
        }
      }
    }
  }

  /// An operand that is one number along k is expanded.
  static BURLAB_SMALL void add_by_lanes(const Contraction& d, const T* a, const T* b, T* c, bool adds,
                                        StopCheck& stop) {
    Packet<T, 16> sum_of_block;
    T x[kDotBlock + 16], y[kDotBlock + 16];
    BURLAB_ONE_BY_ONE
    for (Int at = 0; at < d.m * d.n; ++at) {
      const Int i = at / d.n, j = at % d.n;
      const T *u = a + i * d.a_m + j * d.a_n, *v = b + i * d.b_m + j * d.b_n;
      if (d.a_k == 0) u = written_out(*u, x);
      if (d.b_k == 0) v = written_out(*v, y);
      T& result = c[i * d.c_m + j * d.c_n];
      CompensatedSum<T, kPlain> sum(adds ? result : T(0));
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < d.k; k += kDotBlock) {
        const Int size = d.k - k < kDotBlock ? d.k - k : kDotBlock;
        if (stop.after(size)) return;
        add_in_lanes<T, 1>(sum_of_block, u + k * d.a_k, v + k * d.b_k, {0}, size);
        sum.add(sum_of_block[0]);
      }
      result = sum.value();
    }
  }

  static BURLAB_SMALL void add_by_phases(const Contraction& d, const T* a, const T* b, T* c, bool adds,
                                         StopCheck& stop) {
    BURLAB_ONE_BY_ONE
    for (Int at = 0; at < d.m * d.n; ++at) {
      const Int i = at / d.n, j = at % d.n;
      const T *x = a + i * d.a_m + j * d.a_n, *y = b + i * d.b_m + j * d.b_n;
      T sums[kPhases] = {};
      BURLAB_ONE_BY_ONE
      for (Int k = 0, end = 0; k < d.k;) {
        end = end_of_chunk(k, d.k);
        if (stop.after(end - k)) return;
        BURLAB_ONE_BY_ONE
        for (; k < end; ++k) add_product<kPlain>(sums[k % kPhases], x[k * d.a_k], y[k * d.b_k]);
      }
      T& result = c[i * d.c_m + j * d.c_n];
      const T sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      result = adds ? result + sum : sum;
    }
  }

  static BURLAB_INLINE const T* written_out(T number, T* copies) {
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < kDotBlock + 16; ++k) copies[k] = number;
    return copies + 16;  // the last packet may begin before the block
  }

  static BURLAB_SMALL void one_by_one(const Contraction& d, const T* a, const T* b, T* c, bool adds, StopCheck& stop) {
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d.m; ++i) {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < d.n; ++j) {
        const T *x = a + i * d.a_m + j * d.a_n, *y = b + i * d.b_m + j * d.b_n;
        T& result = c[i * d.c_m + j * d.c_n];
        T sum = adds ? result : T(0);
        BURLAB_ONE_BY_ONE
        for (Int k = 0, end = 0; k < d.k;) {
          end = end_of_chunk(k, d.k);
          if (stop.after(end - k)) return;
          BURLAB_ONE_BY_ONE
          for (; k < end; ++k) add_product<kPlain>(sum, x[k * d.a_k], y[k * d.b_k]);
        }
        result = sum;
      }
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
