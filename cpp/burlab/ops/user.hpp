#pragma once
// What makes an operation of a struct with `primal` and `partial` that a user wrote: `transforms/operations.py`
// includes this before the text and derives from the struct.
#include "../kernels/elementwise.hpp"
#include "../kernels/replay/apply.hpp"
#include "table.hpp"

BURLAB_BEGIN
namespace burlab::ops::users {

/// How many numbers `Op::primal` takes; 0 where it takes no count from 1 to 4.
template <class Op> constexpr int arity_of() {
  if constexpr (requires(double x) { Op::primal(x); }) return 1;
  else if constexpr (requires(double x) { Op::primal(x, x); }) return 2;
  else if constexpr (requires(double x) { Op::primal(x, x, x); }) return 3;
  else if constexpr (requires(double x) { Op::primal(x, x, x, x); }) return 4;
  else return 0;
}

}  // namespace burlab::ops::users
BURLAB_END
