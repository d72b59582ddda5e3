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

/// x - n y where that is a number, for n the whole part of x / y, or the whole number below it.
BURLAB_ANYWHERE double less_product(double x, double n, double y) {
#if defined(BURLAB_PLAIN)
  const double whole = n * y;
  return (x - whole) - rest(n, y, whole);
#else
  return __builtin_fma(-n, y, x);
#endif
}
BURLAB_ANYWHERE float less_product(float x, float n, float y) {
#if defined(BURLAB_PLAIN)
  return static_cast<float>(static_cast<double>(x) - static_cast<double>(n) * static_cast<double>(y));
#else
  return __builtin_fmaf(-n, y, x);
#endif
}
/// Whether `less_product` is exact: a product in parts may not end below the smallest number.
template <class T> BURLAB_CONSTEXPR bool exact_products([[maybe_unused]] T x, [[maybe_unused]] T y) {
#if defined(BURLAB_PLAIN)
  return std::is_same_v<T, float> | ((magnitude(x) < T(1e300)) & (magnitude(y) > T(1e-200)));
#else
  return true;
#endif
}

}  // namespace burlab::math
BURLAB_END
