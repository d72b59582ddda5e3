#pragma once
// Rounding to whole numbers without a branch, a call or an instruction that only some CPUs have: exact, zeros keep
// their sign, nan and infinities pass.
#include "polynomial.hpp"

BURLAB_BEGIN
namespace burlab::math {

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

}  // namespace burlab::math
BURLAB_END
