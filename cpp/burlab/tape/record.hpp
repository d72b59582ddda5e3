#pragma once
// Every operation by its code. A separate header, because compiling all of them takes time and not every program needs
// them.
#include "tape.hpp"

BURLAB_BEGIN
namespace burlab {

/// The operation with this code at x (and y).
template <class T>
BURLAB_NOINLINE OutcomeOf<T> evaluate(std::uint32_t code, T x, T y, bool by_x, bool by_y) {
  EvaluationOf<T> evaluation{code, x, y, by_x, by_y};
  evaluation.among(ops::Scalar{});
  return evaluation.result;
}

template <class T>
BURLAB_NOINLINE std::uint32_t TapeOf<T>::record(std::uint32_t code, Operand x, Operand y) {
  return append(code, evaluate(code, x.value, y.value, x.index != 0, y.index != 0), x.index, y.index);
}

}  // namespace burlab
BURLAB_END
