#pragma once
// The functions of one number that types share which hand a call on to the number inside of them: each applies a macro
// of its own to all names.
#define BURLAB_FUNCTION_NAMES(apply)                                                                           \
  apply(sqrt) apply(cbrt) apply(exp) apply(exp2) apply(expm1) apply(log) apply(log2) apply(log10) apply(log1p) \
      apply(sin) apply(cos) apply(tan) apply(asin) apply(acos) apply(atan) apply(sinh) apply(cosh) apply(tanh) \
          apply(asinh) apply(acosh) apply(atanh) apply(erf) apply(erfc)
