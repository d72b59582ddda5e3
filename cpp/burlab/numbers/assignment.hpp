#pragma once
// x += y and its neighbours, once for all number types: x = x + y.

#include "mask.hpp"

BURLAB_BEGIN
namespace burlab {

/// Whether a type is a number type of burlab's, with values of its own.
template <class T>
inline constexpr bool is_number = false;

#define BURLAB_ASSIGNMENT(op)                                  \
  template <class T, class S>                                  \
    requires is_number<T> && requires(T x, S y) { T(x op y); } \
  constexpr T& operator op## = (T & x, const S& y) {           \
    return x = x op y;                                         \
  }
BURLAB_ASSIGNMENT(+)
BURLAB_ASSIGNMENT(-)
BURLAB_ASSIGNMENT(*)
BURLAB_ASSIGNMENT(/)
#undef BURLAB_ASSIGNMENT

}  // namespace burlab
BURLAB_END
