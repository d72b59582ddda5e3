#pragma once
// The table of scalar operations: the one list. Python reads names, arities, partials and documentation from it.
#include <array>
#include <utility>

#include "../numbers/form.hpp"
#include "activation.hpp"
#include "arithmetic.hpp"
#include "choice.hpp"
#include "derivative.hpp"
#include "transcendental.hpp"

BURLAB_BEGIN
namespace burlab::ops {

template <class... Ops>
struct List {};

using Scalar =
    List<Add, Sub, Mul, Div, Neg, Square, Cube, Sqrt, Power,                                            //
         Exp, Expm1, Log, Log1p, Sin, Cos, Tan, Arctan, Arctan2, Sinh, Cosh, Tanh, Arctanh, Erf, Erfc,  //
         Relu, Sigmoid, Softplus, Gelu, Silu,                                                           //
         Abs, Sign, Maximum, Minimum, Where,                                                            //
         Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, IsFinite, IsNan, LogicalAnd, LogicalOr, LogicalNot>;

/// What Python needs to know of an operation before anything is differentiated. Mirrored in Python.
struct Entry {
  const char *name, *doc;
  int arity;
  bool differentiable;
};

template <class Op>
inline constexpr bool differentiable = !requires { typename Op::no_derivative; };
template <class Op>
inline constexpr bool chooses = false;  // its first argument is a mask
template <>
inline constexpr bool chooses<Where> = true;
template <class Op, int K>
inline constexpr bool chooses<D<Op, K>> = chooses<Op>;

template <class Op>
inline constexpr bool of_masks =
    std::is_same_v<Op, LogicalAnd> || std::is_same_v<Op, LogicalOr> || std::is_same_v<Op, LogicalNot>;
template <class Op, int K>
inline constexpr bool takes_mask = of_masks<Op> || (chooses<Op> && K == 0);  // as argument K

/// The text of an operation in kernels, where its struct cannot be run on `Spelling`.
template <class Op>
inline constexpr const char* spelling = nullptr;

template <class... Ops>
constexpr auto entries(List<Ops...>) {
  return std::array<Entry, sizeof...(Ops)>{Entry{Ops::name, Ops::doc, Ops::arity, differentiable<Ops>}...};
}

/// The forms of an operation's partials, given its arguments (a mask first where it chooses) and, last, its result.
/// Mirrored in Python.
struct Forms {
  Form partial[8];
};

template <class Op, int K, int... I>
constexpr Form form(std::integer_sequence<int, I...>) {
  if constexpr (!chooses<Op>) return Op::template partial<K>(Form::argument(0), Form::argument(I + 1)...);
  else if constexpr (K > 0) return Op::template partial<K>(FormMask(), Form::argument(I + 1)...);
  else return Form(0);
}

template <class Op, int... K>
constexpr Forms forms(std::integer_sequence<int, K...> arguments) {
  return {{form<Op, K>(arguments)...}};
}

template <class... Ops>
constexpr auto forms(List<Ops...>) {
  return std::array<Forms, sizeof...(Ops)>{forms<Ops>(std::make_integer_sequence<int, Ops::arity>())...};
}

}  // namespace burlab::ops
BURLAB_END
