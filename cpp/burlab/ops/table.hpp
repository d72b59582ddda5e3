#pragma once
// The table of scalar operations: the one list. Python reads names, arities, partials and documentation from it.
#include <array>

#include "../numbers/form.hpp"
#include "activation.hpp"
#include "arithmetic.hpp"
#include "choice.hpp"
#include "transcendental.hpp"

BURLAB_BEGIN
namespace burlab::ops {

template <class... Ops>
struct List {};

using Scalar = List<Add, Sub, Mul, Div, Neg, Square, Cube, Sqrt, Power,                                            //
                    Exp, Expm1, Log, Log1p, Sin, Cos, Tan, Arctan, Arctan2, Sinh, Cosh, Tanh, Erf, Erfc,           //
                    Relu, Sigmoid, Softplus, Gelu, Silu,                                                           //
                    Abs, Sign, Maximum, Minimum, Where,                                                            //
                    Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, IsFinite, IsNan, LogicalAnd, LogicalOr, LogicalNot>;

/// One row: what Python needs to know of an operation.
struct Row {
  const char *name, *doc;
  int arity = 0;
  bool differentiable = false;
  Form partial[3] = {};
};

template <class Op>
concept Differentiable = requires { &Op::template partial<1 - (Op::arity == 1), Form>; } ||
                         requires { &Op::template partial<1, Form, Form>; };

template <class Op>
constexpr Row row() {
  constexpr Form x = Form::argument(0), y = Form::argument(1), z = Form::argument(2), w = Form::argument(3);
  Row r{Op::name, Op::doc, Op::arity, Differentiable<Op>};
  if constexpr (!Differentiable<Op>) return r;
  else if constexpr (Op::arity == 1) r.partial[0] = Op::template partial<0>(x, y);
  else if constexpr (Op::arity == 2) {
    r.partial[0] = Op::template partial<0>(x, y, z);
    r.partial[1] = Op::template partial<1>(x, y, z);
  } else {
    r.partial[1] = Op::template partial<1>(x, y, z, w);  // argument 0 is a mask
    r.partial[2] = Op::template partial<2>(x, y, z, w);
  }
  return r;
}

template <class... Ops>
constexpr auto rows(List<Ops...>) {
  return std::array<Row, sizeof...(Ops)>{row<Ops>()...};
}

}  // namespace burlab::ops
BURLAB_END
