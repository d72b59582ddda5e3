#pragma once
// A number whose functions are our own, not libm's: what goes through the operation structs where a loop shall become
// SIMD code. A single number is served better by libm's tables: the eager gear uses doubles as they are.
#include <cmath>

#include "arc.hpp"
#include "error_function.hpp"
#include "hyperbolic.hpp"
#include "logarithm.hpp"
#include "mask.hpp"
#include "power.hpp"
#include "trigonometric.hpp"

BURLAB_BEGIN
namespace burlab {

template <class T> struct Lane {
  T value;
  Lane() = default;
  template <class S>
    requires std::is_arithmetic_v<S>
  BURLAB_CONSTEXPR explicit Lane(S number) : value(static_cast<T>(number)) {}
};

#define BURLAB_LANE_BINARY(op) \
  template <class T> BURLAB_CONSTEXPR Lane<T> operator op(Lane<T> x, Lane<T> y) { return Lane<T>(x.value op y.value); }
#define BURLAB_LANE_COMPARE(op) \
  template <class T> BURLAB_CONSTEXPR bool operator op(Lane<T> x, Lane<T> y) { return x.value op y.value; }
#define BURLAB_LANE_UNARY(name) \
  template <class T> BURLAB_CONSTEXPR Lane<T> name(Lane<T> x) { return Lane<T>(math::name(x.value)); }
BURLAB_LANE_BINARY(+)
BURLAB_LANE_BINARY(-)
BURLAB_LANE_BINARY(*)
BURLAB_LANE_BINARY(/)
BURLAB_LANE_COMPARE(<)
BURLAB_LANE_COMPARE(<=)
BURLAB_LANE_COMPARE(>)
BURLAB_LANE_COMPARE(>=)
BURLAB_LANE_COMPARE(==)
BURLAB_LANE_COMPARE(!=)
BURLAB_LANE_UNARY(exp)
BURLAB_LANE_UNARY(expm1)
BURLAB_LANE_UNARY(log)
BURLAB_LANE_UNARY(log1p)
BURLAB_LANE_UNARY(sin)
BURLAB_LANE_UNARY(cos)
BURLAB_LANE_UNARY(tan)
BURLAB_LANE_UNARY(sinh)
BURLAB_LANE_UNARY(cosh)
BURLAB_LANE_UNARY(tanh)
BURLAB_LANE_UNARY(atan)
BURLAB_LANE_UNARY(atanh)
BURLAB_LANE_UNARY(sigmoid)
BURLAB_LANE_UNARY(erf)
BURLAB_LANE_UNARY(erfc)
#undef BURLAB_LANE_BINARY
#undef BURLAB_LANE_COMPARE
#undef BURLAB_LANE_UNARY
template <class T> BURLAB_CONSTEXPR Lane<T> operator-(Lane<T> x) { return Lane<T>(-x.value); }
template <class T> BURLAB_CONSTEXPR Lane<T> pow(Lane<T> x, Lane<T> y) { return Lane<T>(math::pow(x.value, y.value)); }
template <class T> BURLAB_CONSTEXPR Lane<T> atan2(Lane<T> y, Lane<T> x) {
  return Lane<T>(math::atan2(y.value, x.value));
}
template <class T> BURLAB_CONSTEXPR Lane<T> select(bool mask, Lane<T> yes, Lane<T> no) {
  return Lane<T>(mask ? yes.value : no.value);
}
template <class T> BURLAB_CONSTEXPR bool is_zero(Lane<T> x) { return x.value == 0; }

template <class T> BURLAB_CONSTEXPR Lane<T> sqrt(Lane<T> x) {
  if constexpr (std::is_same_v<T, double>) return Lane<T>(burlab_sqrt(x.value));
  else return Lane<T>(burlab_sqrtf(x.value));
}
/// An operation of the further tables (`ops/call.hpp`).
template <class Op, class T, class... Ts> BURLAB_CONSTEXPR Lane<T> through(Op, Lane<T> x, Ts... xs) {
  return Lane<T>(Op::number(x.value, xs.value...));
}

template <class T> BURLAB_CONSTEXPR auto as_lane(T x) {
  if constexpr (std::is_floating_point_v<T>) return Lane<T>(x);
  else return x;
}

template <class T> BURLAB_CONSTEXPR T as_number(Lane<T> x) { return x.value; }
BURLAB_CONSTEXPR bool as_number(bool mask) { return mask; }

/// An operation struct on plain numbers that computes with our own functions.
template <class Op> struct Own {
  template <class... Xs> BURLAB_RULE auto primal(Xs... xs) { return as_number(Op::primal(as_lane(xs)...)); }
};

/// An operation that has lanes for common arguments only (`fits` says which), there.
template <class Op> struct Common {
  template <class... Xs> BURLAB_RULE auto primal(Xs... xs) { return Op::common(xs...); }
};

}  // namespace burlab
BURLAB_END
