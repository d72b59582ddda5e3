#pragma once
// The functions of Values, with the names of the C++ library if it has them, so that a template for double accepts a
// Value; and the operations over sequences of Values.
#include <iterator>

#include "record.hpp"
#include "value.hpp"
#include "wide.hpp"

BURLAB_BEGIN
namespace burlab {

#define BURLAB_VALUE_FUNCTION(name, Op)                                                   \
  BURLAB_ANYWHERE Value name(Value x) { return record(code_of<ops::Op>, x, Value(0.0)); } \
  BURLAB_ANYWHERE Value32 name(Value32 x) { return record(code_of<ops::Op>, x, Value32(0.0)); }
#define BURLAB_VALUE_FUNCTION_OF_TWO(name, Op)                                            \
  BURLAB_ANYWHERE Value name(Value x, Value y) { return record(code_of<ops::Op>, x, y); } \
  BURLAB_ANYWHERE Value32 name(Value32 x, Value32 y) { return record(code_of<ops::Op>, x, y); }
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
template <class T> BURLAB_ANYWHERE ValueOf<T> power_of(ValueOf<T> x, ValueOf<T> y) {
  const T exponent = y.is_constant() ? y.data() : 0;
  return exponent == 2 ? square(x) : exponent == 3 ? cube(x) : record(code_of<ops::Power>, x, y);
}
BURLAB_ANYWHERE Value pow(Value x, Value y) { return power_of(x, y); }
BURLAB_ANYWHERE Value32 pow(Value32 x, Value32 y) { return power_of(x, y); }

/// The operands of an operation over a sequence, while they are collected.
template <class T> struct Gathering {
  TapeOf<T>* tape = nullptr;
  Block<EdgeOf<T>> edges;
  Status status = Ok;

  BURLAB_NOINLINE void add(ValueOf<T> x) {
    if (x.tape() && !tape) tape = x.tape();
    if (!x.held() && !x.is_constant()) status = StaleValue;
    else if (x.tape() && x.tape() != tape) status = TwoTapes;
    else if (!edges.reserve(1)) status = OutOfMemory;
    else edges[edges.size++] = {x.data(), x.index()};
  }
  BURLAB_NOINLINE ValueOf<T> record(std::uint32_t code) {
    if (!tape && status == Ok) return WideRule<T>{nullptr, edges.at, edges.size}.evaluate(code);
    if (!tape) return {};
    return ValueOf<T>::at(*tape, status == Ok ? tape->record_wide(code, edges.at, edges.size) : tape->fail(status));
  }
};

template <class Range> using Item = std::decay_t<decltype(*std::begin(std::declval<const Range&>()))>;
/// The number type of ranges of Values and constants: float if one holds float32 Values.
template <class... Ranges>
using NumberIn = std::conditional_t<(std::is_same_v<Item<Ranges>, Value32> || ...), float, double>;

template <class Values> ValueOf<NumberIn<Values>> reduce(std::uint32_t code, const Values& xs) {
  Gathering<NumberIn<Values>> operands;
  for (const auto& x : xs) operands.add(x);
  return operands.record(code);
}

/// Operations over any range of Values: one node each. The mean of an empty range is nan.
template <class Values> auto reduce_sum(const Values& xs) { return reduce(ReduceSum, xs); }
template <class Values> auto reduce_mean(const Values& xs) { return reduce(ReduceMean, xs); }
template <class Values> auto negative_mean(const Values& xs) { return reduce(NegativeMean, xs); }
template <class Values> auto sum_of_squares(const Values& xs) { return reduce(SumOfSquares, xs); }
template <class Values> auto mean_of_squares(const Values& xs) { return reduce(MeanOfSquares, xs); }
template <class Values> auto reduce_prod(const Values& xs) { return reduce(ReduceProd, xs); }
template <class Values> auto logsumexp(const Values& xs) { return reduce(LogSumExp, xs); }
template <class Values> auto variance(const Values& xs, int ddof = 0) {
  Gathering<NumberIn<Values>> operands;
  for (const auto& x : xs) operands.add(x);
  operands.add(static_cast<double>(operands.edges.size) - ddof);
  return operands.record(Variance);
}
/// sum x_i w_i + bias; both ranges of one length.
template <class Values, class Weights>
auto dot(const Values& xs, const Weights& ws, ValueOf<NumberIn<Values, Weights>> bias = 0.0) {
  Gathering<NumberIn<Values, Weights>> operands;
  auto w = std::begin(ws);
  for (const auto& x : xs) {
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
