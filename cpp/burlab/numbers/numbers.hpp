#pragma once
// All number types with the same words: arithmetic among themselves and with plain numbers, assignments such as x += y,
// comparisons, and the functions of `function_names.hpp` with fabs, max, min, pow and atan2.
#include "../ops/elementary.hpp"
#include "counted.hpp"
#include "double_double_inverse.hpp"
#include "dual.hpp"
#include "interval.hpp"
#include "rounded.hpp"

BURLAB_BEGIN
namespace burlab {

// What operations of the further tables are for types whose functions have names (`ops/call.hpp`), and their chain
// rule.
#define BURLAB_FUNCTION_OF(Op, name)                                                 \
  inline DoubleDouble through(ops::Op, DoubleDouble x) { return name(x); }           \
  template <class T> Interval<T> through(ops::Op, Interval<T> x) { return name(x); } \
  template <class T> BURLAB_CONSTEXPR Dual<T> name(Dual<T> x) { return chain<ops::Op>(x); }
BURLAB_FUNCTION_OF(Arcsin, asin)
BURLAB_FUNCTION_OF(Arccos, acos)
BURLAB_FUNCTION_OF(Arcsinh, asinh)
BURLAB_FUNCTION_OF(Arccosh, acosh)
BURLAB_FUNCTION_OF(Cbrt, cbrt)
BURLAB_FUNCTION_OF(Exp2, exp2)
BURLAB_FUNCTION_OF(Log2, log2)
BURLAB_FUNCTION_OF(Log10, log10)
#undef BURLAB_FUNCTION_OF

}  // namespace burlab
BURLAB_END
