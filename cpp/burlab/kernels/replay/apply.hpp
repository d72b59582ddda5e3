#pragma once
// The operation structs as instructions: one interpreter per operation and dtypes, compiled when a graph first needs
// it.
#include <utility>

#include "../../numbers/lane.hpp"
#include "../../numbers/narrow.hpp"
#include "../../numbers/whole.hpp"
#include "../../ops/table.hpp"
#include "segment.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The number of words of an instruction with this many places: a multiple of four.
constexpr Int words_of(Int places) { return (places + 3) / 4 * 4; }

/// Op(x, ...). An instruction: result, x, ... Lanes: whether Op works on SIMD lanes, see `Map`.
template <bool Lanes, class Op, int W, class R, class... Xs> struct Apply {
  BURLAB_INLINE static void run(const Word* t, const Word* end, char* memory, Tables) noexcept {
    BURLAB_ONE_BY_ONE
    for (; t != end; t += words_of(1 + sizeof...(Xs))) apply(t, memory, std::index_sequence_for<Xs...>());
  }

 private:
  template <std::size_t... K>
  BURLAB_INLINE static void apply(const Word* t, char* memory, std::index_sequence<K...>) {
    R* const r = at<R>(memory, t[0]);
    if constexpr (W == 1) {
      *r = Op::primal(*at<const Xs>(memory, t[K + 1])...);
    } else if constexpr (Lanes) {
      BURLAB_LANES
      for (int k = 0; k < W; ++k) r[k] = Op::primal(at<const Xs>(memory, t[K + 1])[k]...);
    } else {
      BURLAB_ONE_BY_ONE
      for (int k = 0; k < W; ++k) r[k] = Op::primal(at<const Xs>(memory, t[K + 1])[k]...);
    }
  }
};

/// Conversion, as an operation.
template <class R> struct As {
  template <class X> BURLAB_RULE R primal(X x) { return converted<R>(x); }
};

}  // namespace burlab::kernels
BURLAB_END
