#pragma once
// Rounding to the numbers of a narrower format.
#include "../numbers/format.hpp"
#include "call.hpp"
#include "table.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct RoundTo {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "round_to";
  static constexpr int arity = 5, literal = 2;
  static constexpr auto doc =
      "x, rounded by a rule to a format with a least normal and a largest number; arguments x, threshold, rule, least, "
      "largest. Partials 0.";
  template <class T> BURLAB_RULE T primal(T x, T threshold, T rule, T least, T largest) {
    return call<RoundTo>(x, threshold, rule, least, largest);
  }
  template <class T> BURLAB_RULE T number(T x, T threshold, T rule, T least, T largest) {
    return math::round_to(x, threshold, rule, least, largest);
  }
  template <int K, class T> BURLAB_RULE T partial(T, T, T, T, T, T) { return T(0); }
};

using Formats = List<RoundTo>;

}  // namespace burlab::ops
BURLAB_END
