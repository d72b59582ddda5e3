#pragma once
// The functions of Values, with the names of the C++ library if it has them, so that a template for double accepts a
// Value; and the operations over sequences of Values.
#include "record.hpp"
#include "value.hpp"
#include "wide.hpp"

BURLAB_BEGIN
namespace burlab {

#define BURLAB_VALUE_FUNCTION(name, Op) \
  BURLAB_ANYWHERE Value name(Value x) { return record(code_of<ops::Op>, x, 0.0); }
#define BURLAB_VALUE_FUNCTION_OF_TWO(name, Op) \
  BURLAB_ANYWHERE Value name(Value x, Value y) { return record(code_of<ops::Op>, x, y); }
BURLAB_VALUE_FUNCTION(sqrt, Sqrt)
BURLAB_VALUE_FUNCTION(exp, Exp)
BURLAB_VALUE_FUNCTION(expm1, Expm1)
BURLAB_VALUE_FUNCTION(log, Log)
BURLAB_VALUE_FUNCTION(log1p, Log1p)
BURLAB_VALUE_FUNCTION(sin, Sin)
BURLAB_VALUE_FUNCTION(cos, Cos)
BURLAB_VALUE_FUNCTION(tan, Tan)
BURLAB_VALUE_FUNCTION(atan, Arctan)
BURLAB_VALUE_FUNCTION(sinh, Sinh)
BURLAB_VALUE_FUNCTION(cosh, Cosh)
BURLAB_VALUE_FUNCTION(tanh, Tanh)
BURLAB_VALUE_FUNCTION(erf, Erf)
BURLAB_VALUE_FUNCTION(erfc, Erfc)
BURLAB_VALUE_FUNCTION(relu, Relu)
BURLAB_VALUE_FUNCTION(sigmoid, Sigmoid)
BURLAB_VALUE_FUNCTION(softplus, Softplus)
BURLAB_VALUE_FUNCTION(gelu, Gelu)
BURLAB_VALUE_FUNCTION(silu, Silu)
BURLAB_VALUE_FUNCTION(abs, Abs)
BURLAB_VALUE_FUNCTION(fabs, Abs)
BURLAB_VALUE_FUNCTION(sign, Sign)
BURLAB_VALUE_FUNCTION_OF_TWO(atan2, Arctan2)
BURLAB_VALUE_FUNCTION_OF_TWO(maximum, Maximum)
BURLAB_VALUE_FUNCTION_OF_TWO(minimum, Minimum)
#undef BURLAB_VALUE_FUNCTION
#undef BURLAB_VALUE_FUNCTION_OF_TWO

/// x^y; the constant exponents 2 and 3 have their own operations.
BURLAB_ANYWHERE Value pow(Value x, Value y) {
  const double exponent = y.is_constant() ? y.data() : 0;
  return exponent == 2 ? square(x) : exponent == 3 ? cube(x) : record(code_of<ops::Power>, x, y);
}

/// The operands of an operation over a sequence, while they are collected.
struct Gathering {
  Tape* tape = nullptr;
  Block<Edge> edges;
  Status status = Ok;

  BURLAB_NOINLINE void add(Value x) {
    if (x.tape() && !tape) tape = x.tape();
    if (!x.held() && !x.is_constant()) status = StaleValue;
    else if (x.tape() && x.tape() != tape) status = TwoTapes;
    else if (!edges.reserve(1)) status = OutOfMemory;
    else edges[edges.size++] = {x.data(), x.index()};
  }
  BURLAB_NOINLINE Value record(std::uint32_t code) {
    if (!tape && status == Ok) return WideRule{nullptr, edges.at, edges.size}.evaluate(code);
    if (!tape) return {};
    return Value::at(*tape, status == Ok ? tape->record_wide(code, edges.at, edges.size) : tape->fail(status));
  }
};

template <class Values>
Value reduce(std::uint32_t code, const Values& xs) {
  Gathering operands;
  for (const Value x : xs) operands.add(x);
  return operands.record(code);
}

/// Operations over any range of Values: one node each. The mean of an empty range is nan.
template <class Values> Value reduce_sum(const Values& xs) { return reduce(ReduceSum, xs); }
template <class Values> Value reduce_mean(const Values& xs) { return reduce(ReduceMean, xs); }
template <class Values> Value negative_mean(const Values& xs) { return reduce(NegativeMean, xs); }
template <class Values> Value sum_of_squares(const Values& xs) { return reduce(SumOfSquares, xs); }
template <class Values> Value mean_of_squares(const Values& xs) { return reduce(MeanOfSquares, xs); }
template <class Values> Value reduce_prod(const Values& xs) { return reduce(ReduceProd, xs); }
template <class Values> Value logsumexp(const Values& xs) { return reduce(LogSumExp, xs); }
template <class Values> Value variance(const Values& xs, int ddof = 0) {
  Gathering operands;
  for (const Value x : xs) operands.add(x);
  operands.add(static_cast<double>(operands.edges.size) - ddof);
  return operands.record(Variance);
}
/// sum x_i w_i + bias; both ranges of one length.
template <class Values, class Weights> Value dot(const Values& xs, const Weights& ws, Value bias = 0.0) {
  Gathering operands;
  auto w = std::begin(ws);
  for (const Value x : xs) {
    operands.add(x);
    if (w == std::end(ws)) operands.status = IndexOutOfRange;
    else operands.add(*w++);
  }
  if (w != std::end(ws)) operands.status = IndexOutOfRange;
  operands.add(bias);
  return operands.record(Dot);
}

}  // namespace burlab
BURLAB_END
