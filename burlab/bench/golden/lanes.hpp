#pragma once
// Golden: packets of 64 bytes in plain C++, with what the kernels written by hand need of them.
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "burlab/numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::bench {

using Int = std::int64_t;
// The arrays of a kernel, in the order of their names.
using In = const double* const*;
using Out = double* const*;

/// Packs go by reference only: by value, their binary interface would depend on the instruction set.
template <class T>
struct Lanes {
  typedef T Pack __attribute__((vector_size(64)));
  typedef T Loose __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));  // as it lies in memory
  using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef Int IntPack __attribute__((vector_size(64)));
  static constexpr int W = 64 / sizeof(T);

  BURLAB_INLINE BURLAB_WIDE static const Loose& load(const T* p) { return *reinterpret_cast<const Loose*>(p); }
  BURLAB_INLINE BURLAB_WIDE static void store(T* p, const Loose& v) { std::memcpy(p, &v, 64); }
  BURLAB_INLINE static T sum(const Pack& v) {
    T s = v[0];
    BURLAB_UNROLL
    for (int k = 1; k < W; ++k) s += v[k];
    return s;
  }
  BURLAB_INLINE static T most(const Pack& v) {
    T s = v[0];
    BURLAB_UNROLL
    for (int k = 1; k < W; ++k) s = v[k] > s ? v[k] : s;
    return s;
  }
  /// Sums of neighbours, first of a and then of b.
  template <std::size_t... I>
  BURLAB_INLINE static void pairs(Pack& to, const Pack& a, const Pack& b, std::index_sequence<I...>) {
    to = __builtin_shufflevector(a, b, (2 * I)...) + __builtin_shufflevector(a, b, (2 * I + 1)...);
  }
  /// Stores the sums of as many packs as a pack has lanes, as one pack.
  BURLAB_INLINE static void store_sums(T* p, Pack (&v)[W]) {
    BURLAB_UNROLL
    for (int n = W / 2; n > 0; n /= 2) {
      BURLAB_UNROLL
      for (int i = 0; i < n; ++i) pairs(v[i], v[2 * i], v[2 * i + 1], std::make_index_sequence<W>{});
    }
    const Pack all = v[0];  // else the packs stay in memory
    store(p, all);
  }

  /// v becomes exp(v) = 2^n exp(r), |r| <= ln(2) / 2, by Taylor's series to rounding.
  BURLAB_INLINE static void exp(Pack& v) {
    BURLAB_FUSED
    constexpr int terms = sizeof(T) == 4 ? 8 : 14, mantissa = sizeof(T) == 4 ? 23 : 52,
                  bias = sizeof(T) == 4 ? 127 : 1023;
    const T most = T(sizeof(T) == 4 ? 87 : 708);
    v = v > most ? Pack{} + most : v;
    v = v < -most ? Pack{} - most : v;
    const Pack scaled = v * T(1.4426950408889634);
    const auto n = __builtin_convertvector(scaled + (scaled < 0 ? Pack{} - T(0.5) : Pack{} + T(0.5)), IntPack);
    const Pack whole = __builtin_convertvector(n, Pack);
    const Pack r = (v - whole * T(0.693145751953125)) - whole * T(1.4286068203094172e-06);
    Pack y = Pack{} + T(1);
    BURLAB_UNROLL
    for (int k = terms; k > 0; --k) y = y * (r * T(1.0 / k)) + T(1);
    const auto power = (n + bias) << mantissa;
    Pack two;
    std::memcpy(&two, &power, 64);
    v = y * two;
  }
};

}  // namespace burlab::bench
BURLAB_END
