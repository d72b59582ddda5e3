#pragma once
// Bessel functions of whole order n, for which there is no derivative by n; floats go through double.
#include "../numbers/bessel.hpp"
#include "call.hpp"
#include "table.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct Jv {
  using of_floats = void;
  static constexpr auto name = "jv";
  static constexpr auto no_lanes = "libm computes it";
  static constexpr int arity = 2, parameters = 1;
  static constexpr auto doc = "J_n(x), n whole. Partials: by n none, by x (J_(n-1)(x) - J_(n+1)(x)) / 2.";
  template <class T> BURLAB_RULE T primal(T n, T x) { return call<Jv>(n, x); }
  template <class T> static T number(T n, T x) { return static_cast<T>(math::bessel_j(n, x)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T x, T) {
    return K == 0 ? T(kUnknown) : T(0.5) * (call<Jv>(n - T(1), x) - call<Jv>(n + T(1), x));
  }
};

struct Iv {
  using of_floats = void;
  static constexpr auto name = "iv";
  static constexpr auto no_lanes = "orders above 2 are sums in long double";
  static constexpr int arity = 2, parameters = 1, literal = 0, max_own_order = 2;
  static constexpr auto doc = "I_n(x), n whole. Partials: by n none, by x (I_(n-1)(x) + I_(n+1)(x)) / 2.";
  template <class T> BURLAB_RULE T primal(T n, T x) { return call<Iv>(n, x); }
  template <class T> BURLAB_RULE T number(T n, T x) { return static_cast<T>(math::bessel_i<false>(n, x)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T x, T) {
    return K == 0 ? T(kUnknown) : T(0.5) * (call<Iv>(n - T(1), x) + call<Iv>(n + T(1), x));
  }
};

struct Ive {
  using of_floats = void;
  static constexpr auto name = "ive";
  static constexpr auto no_lanes = "orders above 2 are sums in long double";
  static constexpr int arity = 2, parameters = 1, literal = 0, max_own_order = 2;
  static constexpr auto doc =
      "y = e^-|x| I_n(x), n whole. Partials: by n none, by x (y_(n-1) + y_(n+1)) / 2 - sign(x) y.";
  template <class T> BURLAB_RULE T primal(T n, T x) { return call<Ive>(n, x); }
  template <class T> BURLAB_RULE T number(T n, T x) { return static_cast<T>(math::bessel_i<true>(n, x)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T x, T y) {
    if constexpr (K == 0) return T(kUnknown);
    const T sign = select(x > T(0), T(1), select(x < T(0), T(-1), T(0)));
    return T(0.5) * (call<Ive>(n - T(1), x) + call<Ive>(n + T(1), x)) - sign * y;
  }
};

struct Yv {
  using of_floats = void;
  static constexpr auto name = "yv";
  static constexpr auto no_lanes = "libm computes it";
  static constexpr int arity = 2, parameters = 1;
  static constexpr auto doc = "Y_n(x), n whole. Partials: by n none, by x (Y_(n-1)(x) - Y_(n+1)(x)) / 2.";
  template <class T> BURLAB_RULE T primal(T n, T x) { return call<Yv>(n, x); }
  template <class T> static T number(T n, T x) { return static_cast<T>(math::bessel_y(n, x)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T x, T) {
    return K == 0 ? T(kUnknown) : T(0.5) * (call<Yv>(n - T(1), x) - call<Yv>(n + T(1), x));
  }
};

struct Kv {
  using of_floats = void;
  static constexpr auto name = "kv";
  static constexpr auto no_lanes = "orders above 2 are recurrences";
  static constexpr int arity = 2, parameters = 1, literal = 0, max_own_order = 2;
  static constexpr auto doc = "K_n(x), n whole. Partials: by n none, by x -(K_(n-1)(x) + K_(n+1)(x)) / 2.";
  template <class T> BURLAB_RULE T primal(T n, T x) { return call<Kv>(n, x); }
  template <class T> BURLAB_RULE T number(T n, T x) { return static_cast<T>(math::bessel_k<false>(n, x)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T x, T) {
    return K == 0 ? T(kUnknown) : T(-0.5) * (call<Kv>(n - T(1), x) + call<Kv>(n + T(1), x));
  }
};

struct Kve {
  using of_floats = void;
  static constexpr auto name = "kve";
  static constexpr auto no_lanes = "orders above 2 are recurrences";
  static constexpr int arity = 2, parameters = 1, literal = 0, max_own_order = 2;
  static constexpr auto doc = "y = e^x K_n(x), n whole. Partials: by n none, by x y - (y_(n-1) + y_(n+1)) / 2.";
  template <class T> BURLAB_RULE T primal(T n, T x) { return call<Kve>(n, x); }
  template <class T> BURLAB_RULE T number(T n, T x) { return static_cast<T>(math::bessel_k<true>(n, x)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T x, T y) {
    if constexpr (K == 0) return T(kUnknown);
    else return y - T(0.5) * (call<Kve>(n - T(1), x) + call<Kve>(n + T(1), x));
  }
};

using Bessel = List<Jv, Iv, Ive, Yv, Kv, Kve>;

}  // namespace burlab::ops
BURLAB_END
