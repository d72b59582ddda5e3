#pragma once
// The functions of Values, under the names of the C++ library where it has them, so that a template written for double
// takes a Value; and the operations over sequences of Values.
#include "record.hpp"
#include "value.hpp"
#include "wide.hpp"

BURLAB_BEGIN
namespace burlab {

#define BURLAB_VALUE_FUNCTION(name, Op) \
  BURLAB_INLINE Value name(Value x) { return record_slowly(code_of<ops::Op>, x, Value::constant()); }
#define BURLAB_VALUE_FUNCTION_OF_TWO(name, Op)                                                                        \
  BURLAB_INLINE Value name(Value x, Value y) { return record_slowly(code_of<ops::Op>, x, y); }                        \
  BURLAB_INLINE Value name(Value x, double y) { return record_slowly(code_of<ops::Op>, x, Value::constant(), 0, y); } \
  BURLAB_INLINE Value name(double x, Value y) { return record_slowly(code_of<ops::Op>, Value::constant(), y, x); }
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
BURLAB_VALUE_FUNCTION_OF_TWO(power, Power)
#undef BURLAB_VALUE_FUNCTION
#undef BURLAB_VALUE_FUNCTION_OF_TWO

BURLAB_INLINE Value pow(Value x, Value y) { return power(x, y); }
BURLAB_INLINE Value pow(double x, Value y) { return power(x, y); }
/// x^y; the exponents 2 and 3 have operations of their own.
BURLAB_INLINE Value pow(Value x, double y) { return y == 2 ? square(x) : y == 3 ? cube(x) : power(x, y); }

/// Record an operation over Values (`count` of them, and as many `ws` if there are any) on the tape of the first;
/// `last` is one more operand, or `Value::constant()` for the number `constant`, where the operation has one.
BURLAB_COLD Value reduce(std::uint32_t code, const Value* xs, std::size_t count, const Value* ws = nullptr,
                         const Value* last = nullptr, double constant = 0) {
  Tape* tape = count ? xs[0].tape() : last ? last->tape() : nullptr;
  if (!tape) return {};
  Block<Edge> edges;
  const std::size_t total = count * (ws ? 2 : 1) + (last ? 1 : 0);
  if (total >= UINT32_MAX || !edges.resize(static_cast<std::uint32_t>(total)))
    return Value::at(*tape, tape->fail(OutOfMemory));
  const auto put = [&](const Value& x, bool may_be_constant) {
    const bool fits = (x.held() && x.tape() == tape) || (may_be_constant && x.is_constant());
    if (fits) edges[edges.size++] = {constant, x.index()};
    else tape->fail(x.held() ? TwoTapes : StaleValue);
    return fits;
  };
  for (std::size_t i = 0; i < count; ++i)
    if (!put(xs[i], false) || (ws && !put(ws[i], false))) return Value::at(*tape, no_node);
  if (last && !put(*last, true)) return Value::at(*tape, no_node);
  return Value::at(*tape, tape->record_wide(code, edges.at, edges.size));
}

/// Operations over anything with data() and size(): one node each.
template <class Values>
Value reduce_sum(const Values& xs) {
  return reduce(ReduceSum, xs.data(), xs.size());
}
template <class Values>
Value reduce_mean(const Values& xs) {
  return reduce(ReduceMean, xs.data(), xs.size());
}
template <class Values>
Value negative_mean(const Values& xs) {
  return reduce(NegativeMean, xs.data(), xs.size());
}
template <class Values>
Value sum_of_squares(const Values& xs) {
  return reduce(SumOfSquares, xs.data(), xs.size());
}
template <class Values>
Value mean_of_squares(const Values& xs) {
  return reduce(MeanOfSquares, xs.data(), xs.size());
}
template <class Values>
Value reduce_prod(const Values& xs) {
  return reduce(ReduceProd, xs.data(), xs.size());
}
template <class Values>
Value logsumexp(const Values& xs) {
  return reduce(LogSumExp, xs.data(), xs.size());
}
template <class Values>
Value variance(const Values& xs, int ddof = 0) {
  const Value divisor = Value::constant();
  return reduce(Variance, xs.data(), xs.size(), nullptr, &divisor, static_cast<double>(xs.size()) - ddof);
}
/// sum x_i w_i + bias; both sequences of one length.
template <class Values, class Weights>
Value dot(const Values& xs, const Weights& ws, Value bias = Value::constant()) {
  if (xs.size() != ws.size())
    return xs.size() ? Value::at(*xs[0].tape(), xs[0].tape()->fail(IndexOutOfRange)) : Value();
  return reduce(Dot, xs.data(), xs.size(), ws.data(), &bias);
}

}  // namespace burlab
BURLAB_END
