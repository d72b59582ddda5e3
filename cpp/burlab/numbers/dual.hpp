#pragma once
// Dual numbers: forward mode by type. A dual number goes through the same operation structs as a double: its arithmetic
// and its functions are one line each, `chain<Op>`, so nothing here repeats a derivative but those of sums.
#include <utility>

#include "../ops/activation.hpp"
#include "../ops/arithmetic.hpp"
#include "../ops/choice.hpp"
#include "assignment.hpp"

BURLAB_BEGIN
namespace burlab {

/// value + tangent * epsilon, epsilon^2 = 0. T may itself be dual: Dual<Dual<double>> carries second derivatives.
template <class T>
struct Dual {
  T value, tangent;
  Dual() = default;
  BURLAB_CONSTEXPR explicit Dual(T v, T t) : value(v), tangent(t) {}
  template <class S>
    requires(std::is_arithmetic_v<S> || std::is_same_v<S, T>)
  BURLAB_CONSTEXPR explicit Dual(S constant) : value(T(constant)), tangent(T(0)) {}
  static BURLAB_CONSTEXPR Dual of_digits(double high, double low) {
    return Dual(burlab::of_digits<T>(high, low), T(0));
  }
};

template <class T>
inline constexpr bool is_number<Dual<T>> = true;

template <class T>
BURLAB_CONSTEXPR Dual<T> operator+(Dual<T> x, Dual<T> y) {
  return Dual<T>(x.value + y.value, x.tangent + y.tangent);
}
template <class T>
BURLAB_CONSTEXPR Dual<T> operator-(Dual<T> x, Dual<T> y) {
  return Dual<T>(x.value - y.value, x.tangent - y.tangent);
}
template <class T>
BURLAB_CONSTEXPR Dual<T> operator-(Dual<T> x) {
  return Dual<T>(-x.value, -x.tangent);
}

template <class T>
BURLAB_CONSTEXPR Dual<T> product_of_zeros(Dual<T> x, Dual<T> y) {
  return Dual<T>(product_of_zeros(x.value, y.value),
                 product_of_zeros(x.tangent, y.value) + product_of_zeros(x.value, y.tangent));
}
/// The product rule term by term: a tangent of zero may itself have a tangent.
template <class T>
BURLAB_CONSTEXPR Dual<T> weighted(Dual<T> partial, Dual<T> tangent) {
  return Dual<T>(weighted(partial.value, tangent.value),
                 weighted(partial.value, tangent.tangent) + product_of_zeros(partial.tangent, tangent.value));
}

/// The chain rule: the one place where a tangent is propagated.
template <class Op, class T>
BURLAB_CONSTEXPR Dual<T> chain(Dual<T> x) {
  const T y = Op::primal(x.value);
  return Dual<T>(y, weighted(Op::template partial<0>(x.value, y), x.tangent));
}
template <class Op, class T>
BURLAB_CONSTEXPR Dual<T> chain(Dual<T> x, Dual<T> y) {
  const T z = Op::primal(x.value, y.value);
  return Dual<T>(z, weighted(Op::template partial<0>(x.value, y.value, z), x.tangent) +
                        weighted(Op::template partial<1>(x.value, y.value, z), y.tangent));
}

#define BURLAB_DUAL_BINARY(name, Op) \
  template <class T> BURLAB_CONSTEXPR Dual<T> name(Dual<T> x, Dual<T> y) { return chain<ops::Op>(x, y); }
#define BURLAB_DUAL_UNARY(name, Op) \
  template <class T> BURLAB_CONSTEXPR Dual<T> name(Dual<T> x) { return chain<ops::Op>(x); }
#define BURLAB_DUAL_COMPARE(op) \
  template <class T> BURLAB_CONSTEXPR auto operator op(Dual<T> x, Dual<T> y) { return x.value op y.value; }
BURLAB_DUAL_BINARY(operator*, Mul)
BURLAB_DUAL_BINARY(operator/, Div)
BURLAB_DUAL_BINARY(pow, Power)
BURLAB_DUAL_BINARY(atan2, Arctan2)
BURLAB_DUAL_BINARY(max, Maximum)
BURLAB_DUAL_BINARY(min, Minimum)
BURLAB_DUAL_UNARY(fabs, Abs)
BURLAB_DUAL_UNARY(sqrt, Sqrt)
BURLAB_DUAL_UNARY(exp, Exp)
BURLAB_DUAL_UNARY(expm1, Expm1)
BURLAB_DUAL_UNARY(log, Log)
BURLAB_DUAL_UNARY(log1p, Log1p)
BURLAB_DUAL_UNARY(sin, Sin)
BURLAB_DUAL_UNARY(cos, Cos)
BURLAB_DUAL_UNARY(tan, Tan)
BURLAB_DUAL_UNARY(atan, Arctan)
BURLAB_DUAL_UNARY(sinh, Sinh)
BURLAB_DUAL_UNARY(cosh, Cosh)
BURLAB_DUAL_UNARY(tanh, Tanh)
BURLAB_DUAL_UNARY(atanh, Arctanh)
BURLAB_DUAL_UNARY(erf, Erf)
BURLAB_DUAL_UNARY(erfc, Erfc)
BURLAB_DUAL_COMPARE(<)
BURLAB_DUAL_COMPARE(<=)
BURLAB_DUAL_COMPARE(>)
BURLAB_DUAL_COMPARE(>=)
BURLAB_DUAL_COMPARE(==)
BURLAB_DUAL_COMPARE(!=)
#define BURLAB_DUAL_AND_PLAIN(op)                     \
  template <class T, class S>                         \
    requires std::is_arithmetic_v<S>                  \
  BURLAB_CONSTEXPR auto operator op(Dual<T> x, S y) { \
    return x op Dual<T>(y);                           \
  }                                                   \
  template <class T, class S>                         \
    requires std::is_arithmetic_v<S>                  \
  BURLAB_CONSTEXPR auto operator op(S x, Dual<T> y) { \
    return Dual<T>(x) op y;                           \
  }
BURLAB_DUAL_AND_PLAIN(+)
BURLAB_DUAL_AND_PLAIN(-)
BURLAB_DUAL_AND_PLAIN(*)
BURLAB_DUAL_AND_PLAIN(/)
BURLAB_DUAL_AND_PLAIN(<)
BURLAB_DUAL_AND_PLAIN(<=)
BURLAB_DUAL_AND_PLAIN(>)
BURLAB_DUAL_AND_PLAIN(>=)
BURLAB_DUAL_AND_PLAIN(==)
BURLAB_DUAL_AND_PLAIN(!=)
#undef BURLAB_DUAL_AND_PLAIN
#undef BURLAB_DUAL_BINARY
#undef BURLAB_DUAL_UNARY
#undef BURLAB_DUAL_COMPARE

template <class T>
BURLAB_CONSTEXPR Dual<T> unknown_along(Dual<T> tangent) {
  const T by_value = unknown_along(tangent.value);
  return Dual<T>(by_value, by_value + unknown_along(tangent.tangent));
}
template <class M, class T>
BURLAB_CONSTEXPR Dual<T> select(M mask, Dual<T> yes, Dual<T> no) {
  return Dual<T>(select(mask, yes.value, no.value), select(mask, yes.tangent, no.tangent));
}

template <class T>
BURLAB_CONSTEXPR auto is_zero(Dual<T> x) {
  return both(is_zero(x.value), is_zero(x.tangent));
}

template <class T>
inline constexpr bool knows_zeros<Dual<T>> = knows_zeros<T>;

/// What an argument adds to the tangent of an operation with `parameters`: the first ones have no partial, and what has
/// no tangent adds nothing, whatever the partial is.
template <class Op, int K, class T, class... Ts>
BURLAB_CONSTEXPR T share_of(T tangent, Ts... xs_and_result) {
  if constexpr (K < Op::parameters) return unknown_along(tangent);
  else return weighted(Op::template partial<K>(xs_and_result...), tangent);
}
template <class Op, int... K, class T, class... Ts>
BURLAB_CONSTEXPR Dual<T> chain(std::integer_sequence<int, K...>, Dual<T> x, Ts... xs) {
  const T y = Op::primal(x.value, xs.value...);
  const T first = share_of<Op, 0>(x.tangent, x.value, xs.value..., y);
  return Dual<T>(y, (first + ... + share_of<Op, K + 1>(xs.tangent, x.value, xs.value..., y)));
}

/// An operation of the further tables (`ops/call.hpp`).
template <class Op, class T, class... Ts>
BURLAB_CONSTEXPR Dual<T> through(Op, Dual<T> x, Ts... xs) {
  if constexpr (requires { Op::parameters; })
    return chain<Op>(std::make_integer_sequence<int, sizeof...(Ts)>(), x, xs...);
  else return chain<Op>(x, xs...);
}

}  // namespace burlab
BURLAB_END
