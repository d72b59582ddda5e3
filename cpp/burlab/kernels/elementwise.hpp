#pragma once
// Scalar operations over dense arrays, element by element. The compiled gear generates fused loops; these serve the
// replay gear, one per operation and dtype, and operations too long to inline in a generated loop.
#include "../numbers/lane.hpp"
#include "../numbers/narrow.hpp"
#include "../ops/activation.hpp"
#include "../ops/arithmetic.hpp"
#include "../ops/choice.hpp"
#include "../ops/derivative.hpp"
#include "../ops/transcendental.hpp"
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// out[i] = Op(a[i], b[i], ...). Descriptor: number of elements. Lanes: whether Op works on SIMD lanes, as arithmetic
/// and `Own` functions do; out may be one of the operands.
template <bool Lanes, class Op, class R, class X, class... Xs> struct Map {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const* more) noexcept {
    const void* operands[2 + sizeof...(Xs)] = {a, b};
    for (std::size_t k = 1; k < sizeof...(Xs); ++k) operands[k + 1] = more[k - 1];
    return in_chunks(d[0], [&](Int begin, Int n) {
      each(begin, n, static_cast<R*>(out) + begin, operands, std::make_index_sequence<sizeof...(Xs)>());
    });
  }

 private:
  template <std::size_t... K>
  static void each(Int begin, Int n, R* r, const void* const* operands, std::index_sequence<K...>) {
    const X* x = static_cast<const X*>(operands[0]) + begin;
    if constexpr (Lanes) {
      BURLAB_LANES
      for (Int i = 0; i < n; ++i) r[i] = Op::primal(x[i], static_cast<const Xs*>(operands[K + 1])[begin + i]...);
    } else {
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < n; ++i) r[i] = Op::primal(x[i], static_cast<const Xs*>(operands[K + 1])[begin + i]...);
    }
  }
};

/// out[i] = R(a[i]), as NumPy's astype (`numbers/whole.hpp`). Descriptor: number of elements.
template <class R, class X> struct Convert {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    return in_chunks(d[0], [&](Int begin, Int n) {
      R* r = static_cast<R*>(out) + begin;
      const X* x = static_cast<const X*>(a) + begin;
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < n; ++i) r[i] = converted<R>(x[i]);
    });
  }
};

}  // namespace burlab::kernels
BURLAB_END
