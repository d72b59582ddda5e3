#pragma once
// How operations of the further tables reach every number type: plain numbers and lanes are computed by the struct's
// `number`, the other types know by themselves what a function becomes (a chain rule, a form, a text).
#include <type_traits>

#include "../numbers/mask.hpp"

BURLAB_BEGIN
namespace burlab::ops {

/// Op at xs, for any number type; `through` is found in the namespace of the type.
template <class Op, class T, class... Ts>
BURLAB_CONSTEXPR auto call(T x, Ts... xs) {
  if constexpr (std::is_arithmetic_v<T>) return Op::number(x, xs...);
  else return through(Op(), x, xs...);
}

}  // namespace burlab::ops
BURLAB_END
