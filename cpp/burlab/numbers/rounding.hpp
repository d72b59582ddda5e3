#pragma once
// Rounding to whole numbers, without a branch or a call: exact, zeros keep their sign, nan and infinities pass.
#include "polynomial.hpp"

BURLAB_BEGIN
namespace burlab::math {

#if defined(BURLAB_PLAIN)
/// To the nearest, halves to even: what a number whose last bit counts 1 leaves of x. From there on all are whole.
template <class T> BURLAB_CONSTEXPR T rint(T x) {
  constexpr T top = T(Bits<T>(1) << Real<T>::kMantissa);
  const T a = magnitude(x), y = (a + top) - top;
  return with_sign_of(a < top ? y : a, x);
}
template <class T> BURLAB_CONSTEXPR T floor(T x) {
  const T y = rint(x), below = y - T(1);
  return y > x ? below : y;
}
template <class T> BURLAB_CONSTEXPR T ceil(T x) { return -floor(-x); }
template <class T> BURLAB_CONSTEXPR T trunc(T x) { return with_sign_of(floor(magnitude(x)), x); }
#else
BURLAB_ANYWHERE float rint(float x) { return __builtin_rintf(x); }
BURLAB_ANYWHERE float floor(float x) { return __builtin_floorf(x); }
BURLAB_ANYWHERE float ceil(float x) { return __builtin_ceilf(x); }
BURLAB_ANYWHERE float trunc(float x) { return __builtin_truncf(x); }
BURLAB_ANYWHERE double rint(double x) { return __builtin_rint(x); }
BURLAB_ANYWHERE double floor(double x) { return __builtin_floor(x); }
BURLAB_ANYWHERE double ceil(double x) { return __builtin_ceil(x); }
BURLAB_ANYWHERE double trunc(double x) { return __builtin_trunc(x); }
#endif

}  // namespace burlab::math
BURLAB_END
