#pragma once
// Operations over a sequence, as one node with n edges: n partial derivatives, and no chain of n nodes. Their parts are
// the structs of ops/; this file only adds the folds over a sequence.
#include "tape.hpp"

BURLAB_BEGIN
namespace burlab {

/// The operations over sequences, by code.
enum Wide : std::uint32_t {
  ReduceSum = first_wide_code,  // sum x_i
  ReduceMean,                   // sum x_i / n
  NegativeMean,                 // -sum x_i / n
  SumOfSquares,                 // sum x_i^2
  MeanOfSquares,                // sum x_i^2 / n
  ReduceProd,                   // product x_i
  Dot,                          // sum x_i w_i + b; the operands are x_0 w_0 x_1 w_1 ... b
  Variance,                     // sum (x_i - mean)^2 / c; the operands are x_0 x_1 ... and the constant c
  LogSumExp,                    // log sum e^x_i, shifted by the largest
  wide_end
};
constexpr const char* wide_names[] = {"sum",  "mean", "negative_mean", "sum_of_squares", "mean_of_squares",
                                      "prod", "dot",  "variance",      "logsumexp"};

/// The name of an operation, as in the tables.
constexpr const char* operation_name(std::uint32_t code) {
  return code == leaf_code        ? "leaf"
         : code < first_wide_code ? scalar_rows[code - 1].name
                                  : wide_names[code - first_wide_code];
}

/// One evaluation: the operands, and the place of their partials. Sums are in double, so that the one result of a
/// float32 node is rounded once.
template <class T> struct WideRule {
  const NodeOf<T>* nodes;
  EdgeOf<T>* edges;
  std::uint32_t count;

  BURLAB_ANYWHERE double operand(std::uint32_t i) const {
    return edges[i].parent ? nodes[edges[i].parent].value : edges[i].partial;
  }
  BURLAB_ANYWHERE void set_partial(std::uint32_t i, double partial) const {
    if (edges[i].parent) edges[i].partial = static_cast<T>(partial);  // a constant operand keeps its constant
  }

  double sum(bool squares, double divisor) const {
    double total = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const double x = operand(i), y = squares ? ops::Square::primal(x) : x;
      total += y;
      set_partial(i, (squares ? ops::Square::partial<0>(x, y) : 1) / divisor);
    }
    return total / divisor;
  }

  double product() const {  // a partial is the product of the factors before and after: correct if factors are 0
    double before = 1, behind = 1;
    for (std::uint32_t i = 0; i < count; ++i) {
      const double x = operand(i);
      set_partial(i, before);
      before *= x;
    }
    for (std::uint32_t i = count; i-- > 0;) {
      const double x = operand(i);
      set_partial(i, edges[i].partial * behind);
      behind *= x;
    }
    return before;
  }

  double dot() const {
    double total = operand(count - 1);
    set_partial(count - 1, 1);
    for (std::uint32_t i = 0; i + 1 < count; i += 2) {
      const double x = operand(i), w = operand(i + 1), y = ops::Mul::primal(x, w);
      total += y;
      set_partial(i, ops::Mul::partial<0>(x, w, y));
      set_partial(i + 1, ops::Mul::partial<1>(x, w, y));
    }
    return total;
  }

  double variance() const {  // the mean changes too, but sum (x_i - mean) = 0, so its part of the derivative is 0
    const std::uint32_t n = count - 1;
    const double divisor = operand(n);
    double mean = 0, total = 0;
    for (std::uint32_t i = 0; i < n; ++i) mean += operand(i);
    mean /= n;
    for (std::uint32_t i = 0; i < n; ++i) {
      const double x = operand(i) - mean, y = ops::Square::primal(x);
      total += y;
      set_partial(i, ops::Square::partial<0>(x, y) / divisor);
    }
    return total / divisor;
  }

  double logsumexp() const {
    if (count == 0) return -__builtin_inf();
    double shift = operand(0), total = 0;
    for (std::uint32_t i = 1; i < count; ++i) shift = ops::Maximum::primal(shift, operand(i));
    if (shift - shift != 0) shift = 0;  // an infinity must not become nan by subtracting itself
    for (std::uint32_t i = 0; i < count; ++i) total += ops::Exp::primal(operand(i) - shift);
    const double divisor = total == 0 ? 1 : total;  // if all operands are -inf, all partials are 0
    for (std::uint32_t i = 0; i < count; ++i) set_partial(i, ops::Exp::primal(operand(i) - shift) / divisor);
    return shift + ops::Log::primal(total);
  }

  BURLAB_NOINLINE double evaluate(std::uint32_t code) const {
    switch (code) {
      case ReduceProd:
        return product();
      case Dot:
        return dot();
      case Variance:
        return variance();
      case LogSumExp:
        return logsumexp();
      default:
        return sum(code == SumOfSquares || code == MeanOfSquares, divisor(code));
    }
  }
  double divisor(std::uint32_t code) const {
    return code == ReduceSum || code == SumOfSquares ? 1 : code == NegativeMean ? -double(count) : double(count);
  }
};

/// Record an operation over `count` operands: edges with their node; or with 0, and their constant as the partial.
template <class T>
BURLAB_NOINLINE std::uint32_t TapeOf<T>::record_wide(std::uint32_t code, const Edge* operands, std::uint32_t count) {
  if (!edges.reserve(count)) return fail(OutOfMemory);
  if (full() && !grow()) return no_node;
  const std::uint32_t first = edges.size;
  std::memcpy(static_cast<void*>(edges.at + first), operands, count * sizeof(Edge));
  edges.size += count;
  const double value = WideRule<T>{nodes.at, edges.at + first, count}.evaluate(code);
  return put(code, Outcome{static_cast<T>(value), {0, 0}}, first, count);
}

}  // namespace burlab
BURLAB_END
