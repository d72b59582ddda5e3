#pragma once
// Products of rows with rows, long and contiguous in both: the tuned twin of `Contract` for sums in 16 lanes.
#include <utility>

#include "contraction.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Groups of G lanes, of x and then of y: each becomes the sums of its first and second half.
template <int G, class P, int... Lane> BURLAB_INLINE void halve(P& x, const P& y, std::integer_sequence<int, Lane...>) {
  x = __builtin_shufflevector(x, y, (Lane / (G / 2) * G + Lane % (G / 2))...) +
      __builtin_shufflevector(x, y, (Lane / (G / 2) * G + Lane % (G / 2) + G / 2)...);
}

/// Lane i of x[0] becomes the sum of x[i], i < N, added as `sum_lanes` does.
template <int N, int G = 16, class P> BURLAB_INLINE void sum_packets(P* x) {
  constexpr auto kLanes = std::make_integer_sequence<int, 16>();
  BURLAB_UNROLL
  for (int i = 0; i < (N + 1) / 2; ++i) {
    P sum = x[2 * i];
    halve<G>(sum, x[N > 1 ? 2 * i + 1 : 0], kLanes);
    x[i] = sum;
  }
  if constexpr (G > 2) sum_packets<(N + 1) / 2, G / 2>(x);
}

/// 16 running sums with the errors of their steps, each as `Carried` has it.
template <class T> class Carried16 {
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

/// Blocks of M rows of a by N rows of b, M * N <= 16, or of 1 by `Single` where a has one row.
template <class T, int M, int N, int Single> struct Dots {
  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* left, const void* right,
                                const void* const*) noexcept {
    const auto& d = *reinterpret_cast<const Contraction*>(descriptor);
    walk(d, d.rank, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(out),
         [&](const T* a, const T* b, T* c, bool adds) {
           if (d.m == 1) blocks<1, Single>(d, a, b, c, adds);
           else blocks<M, N>(d, a, b, c, adds);
         });
    return Ok;
  }

 private:
  /// All blocks of as many rows of a as stay in the cache, before the next ones.
  template <int R, int C>
  static BURLAB_INLINE void blocks(const Contraction& d, const T* a, const T* b, T* c, bool adds) {
    const Int cached = (Int(1) << 19) / (d.k * static_cast<Int>(sizeof(T))) / R * R, chunk = cached > 0 ? cached : R;
    BURLAB_ONE_BY_ONE
    for (Int first = 0; first < d.m; first += chunk) {
      const Int end = d.m - first < chunk ? d.m : first + chunk;
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < d.n; j += C) {
        BURLAB_ONE_BY_ONE
        for (Int i = first; i < end; i += R)
          block<R, C>(d, a + i * d.a_m, b + j * d.b_n, c + i * d.c_m + j * d.c_n, end - i, d.n - j, adds);
      }
    }
  }

  /// The first of `rows` by `columns`: as many as there are; missing ones are computed as copies of the last.
  template <int R, int C>
  static BURLAB_NOINLINE BURLAB_WIDE void block(const Contraction& d, const T* a, const T* b, T* c, Int rows,
                                                Int columns, bool adds) {
    const T *x[R], *y[C];
    BURLAB_UNROLL
    for (int i = 0; i < R; ++i) x[i] = a + (i < rows ? i : rows - 1) * d.a_m;
    BURLAB_UNROLL
    for (int j = 0; j < C; ++j) y[j] = b + (j < columns ? j : columns - 1) * d.b_n;
    Carried16<T> totals;
    if (adds) {
      BURLAB_ONE_BY_ONE
      for (int i = 0; i < R && i < rows; ++i) {
        BURLAB_ONE_BY_ONE
        for (int j = 0; j < C && j < columns; ++j) totals.start(i * C + j) = c[i * d.c_m + j * d.c_n];
      }
    }
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < d.k; k += kDotBlock) {
      Packet<T, 16> sums[16];
      products<R, C>(sums, x, y, k, d.k - k < kDotBlock ? d.k - k : kDotBlock);
      sum_packets<R * C>(sums);
      totals.add(sums[0]);
    }
    BURLAB_ONE_BY_ONE
    for (int i = 0; i < R && i < rows; ++i) {
      BURLAB_ONE_BY_ONE
      for (int j = 0; j < C && j < columns; ++j) c[i * d.c_m + j * d.c_n] = totals.value(i * C + j);
    }
  }

  /// In 16 lanes; the last packet overlaps the one before, with zeros for what is counted.
  template <int R, int C>
  static BURLAB_INLINE void products(Packet<T, 16> (&sums)[16], const T* const (&x)[R], const T* const (&y)[C], Int k,
                                     Int n) {
    BURLAB_UNROLL
    for (int i = 0; i < R * C; ++i) sums[i] = Packet<T, 16>{};
    const Int end = k + n;
    BURLAB_ONE_BY_ONE
    for (; k + 16 <= end; k += 16) {
      Packet<T, 16> u, v[C];
      BURLAB_UNROLL
      for (int j = 0; j < C; ++j) load(v[j], y[j] + k);
      BURLAB_UNROLL
      for (int i = 0; i < R; ++i) {
        load(u, x[i] + k);
        BURLAB_UNROLL
        for (int j = 0; j < C; ++j) add_product<false>(sums[i * C + j], u, v[j]);
      }
    }
    if (k < end) {
      using Bits = Packet<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>, 16>;
      Bits fresh;
      BURLAB_UNROLL
      for (int lane = 0; lane < 16; ++lane) fresh[lane] = lane < 16 - (end - k) ? 0 : -1;
      Packet<T, 16> u, v[C];
      BURLAB_UNROLL
      for (int j = 0; j < C; ++j) {
        load(v[j], y[j] + end - 16);
        v[j] = reinterpret_cast<Packet<T, 16>>(reinterpret_cast<Bits>(v[j]) & fresh);
      }
      BURLAB_UNROLL
      for (int i = 0; i < R; ++i) {
        load(u, x[i] + end - 16);
        u = reinterpret_cast<Packet<T, 16>>(reinterpret_cast<Bits>(u) & fresh);
        BURLAB_UNROLL
        for (int j = 0; j < C; ++j) add_product<false>(sums[i * C + j], u, v[j]);
      }
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
