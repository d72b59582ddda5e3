#pragma once
// Bessel functions of whole order n, for which there is no derivative by n; floats go through double.
#include "../numbers/bessel.hpp"
#include "call.hpp"
#include "table.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct Jv {
  static constexpr auto name = "jv";
  static constexpr int arity = 2, parameters = 1;
  static constexpr auto doc = "J_n(x), n whole. Partials: by n none, by x (J_(n-1)(x) - J_(n+1)(x)) / 2.";
  template <class T> BURLAB_RULE T primal(T n, T x) { return call<Jv>(n, x); }
  template <class T> static T number(T n, T x) { return static_cast<T>(math::bessel_j(n, x)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T x, T) {
    return K == 0 ? T(kUnknown) : T(0.5) * (call<Jv>(n - T(1), x) - call<Jv>(n + T(1), x));
  }
};

struct Iv {
  static constexpr auto name = "iv";
  static constexpr int arity = 2, parameters = 1;
  static constexpr auto doc = "I_n(x), n whole. Partials: by n none, by x (I_(n-1)(x) + I_(n+1)(x)) / 2.";
  template <class T> BURLAB_RULE T primal(T n, T x) { return call<Iv>(n, x); }
  template <class T> static T number(T n, T x) { return static_cast<T>(math::bessel_i(n, x, false)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T x, T) {
    return K == 0 ? T(kUnknown) : T(0.5) * (call<Iv>(n - T(1), x) + call<Iv>(n + T(1), x));
  }
};

struct Ive {
  static constexpr auto name = "ive";
  static constexpr int arity = 2, parameters = 1;
  static constexpr auto doc =
      "y = e^-|x| I_n(x), n whole. Partials: by n none, by x (y_(n-1) + y_(n+1)) / 2 - sign(x) y.";
  template <class T> BURLAB_RULE T primal(T n, T x) { return call<Ive>(n, x); }
  template <class T> static T number(T n, T x) { return static_cast<T>(math::bessel_i(n, x, true)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T x, T y) {
    if constexpr (K == 0) return T(kUnknown);
    const T sign = select(x > T(0), T(1), select(x < T(0), T(-1), T(0)));
    return T(0.5) * (call<Ive>(n - T(1), x) + call<Ive>(n + T(1), x)) - sign * y;
  }
};

using Bessel = List<Jv, Iv, Ive>;

}  // namespace burlab::ops
BURLAB_END
