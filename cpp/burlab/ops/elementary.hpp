#pragma once
// Inverse circular and hyperbolic functions, the cube root, powers and logarithms of other bases, and sinc.
#include <cmath>

#include "../numbers/bases.hpp"
#include "../numbers/inverse.hpp"
#include "call.hpp"
#include "table.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct Arcsin {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "arcsin";
  static constexpr int arity = 1;
  static constexpr auto doc = "Partial 1 / sqrt((1 - x) (1 + x)), exact near 1.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Arcsin>(x); }
  template <class T> BURLAB_RULE T number(T x) { return math::asin(x); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return T(1) / Sqrt::primal((T(1) - x) * (T(1) + x)); }
};

struct Arccos {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "arccos";
  static constexpr int arity = 1;
  static constexpr auto doc = "Partial -1 / sqrt((1 - x) (1 + x)), exact near 1.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Arccos>(x); }
  template <class T> BURLAB_RULE T number(T x) { return math::acos(x); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return T(-1) / Sqrt::primal((T(1) - x) * (T(1) + x)); }
};

struct Arcsinh {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "arcsinh";
  static constexpr int arity = 1;
  static constexpr auto doc = "Partial 1 / sqrt(1 + x^2); where the square may overflow, 1 / |x|, the same number.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Arcsinh>(x); }
  template <class T> BURLAB_RULE T number(T x) { return math::asinh(x); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    const T size = select(x < T(0), -x, x), near = select(size > T(1e15), T(0), x);
    return T(1) / select(size > T(1e15), size, Sqrt::primal(T(1) + near * near));
  }
};

struct Arccosh {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "arccosh";
  static constexpr int arity = 1;
  static constexpr auto doc =
      "Partial 1 / sqrt((x - 1) (x + 1)), exact near 1; where the product may overflow, 1 / x, the same number.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Arccosh>(x); }
  template <class T> BURLAB_RULE T number(T x) { return math::acosh(x); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    const T near = select(x > T(1e15), T(2), x);
    return T(1) / select(x > T(1e15), x, Sqrt::primal((near - T(1)) * (near + T(1))));
  }
};

struct Cbrt {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "cbrt";
  static constexpr int arity = 1;
  static constexpr auto doc = "y = cube root of x. Partial 1 / (3 y^2), from the result: infinite at 0.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Cbrt>(x); }
  template <class T> BURLAB_RULE T number(T x) { return math::cbrt(x); }
  template <int K, class T> BURLAB_RULE T partial(T, T y) { return T(1) / (T(3) * (y * y)); }
};

struct Exp2 {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "exp2";
  static constexpr int arity = 1;
  static constexpr auto doc = "y = 2^x, exact for whole x. Partial y log 2.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Exp2>(x); }
  template <class T> BURLAB_RULE T number(T x) { return math::exp2(x); }
  template <int K, class T> BURLAB_RULE T partial(T, T y) {
    return y * of_digits<T>(0.6931471805599453, 2.3190468138462996e-17);
  }
};

struct Log2 {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "log2";
  static constexpr int arity = 1;
  static constexpr auto doc = "Logarithm of base 2, exact at powers of 2. Partial 1 / (x log 2).";
  template <class T> BURLAB_RULE T primal(T x) { return call<Log2>(x); }
  template <class T> BURLAB_RULE T number(T x) { return math::log2(x); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    return of_digits<T>(1.4426950408889634, 2.0355273740931033e-17) / x;
  }
};

struct Log10 {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "log10";
  static constexpr int arity = 1;
  static constexpr auto doc = "Logarithm of base 10, exact at powers of 10. Partial 1 / (x log 10).";
  template <class T> BURLAB_RULE T primal(T x) { return call<Log10>(x); }
  template <class T> BURLAB_RULE T number(T x) { return math::log10(x); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    return of_digits<T>(0.4342944819032518, 1.098319650216765e-17) / x;
  }
};

struct Sinc {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "sinc";
  static constexpr int arity = 1;
  static constexpr auto doc = "sin(pi x) / (pi x), 1 at 0. Partial (cos(pi x) - sinc x) / x, by its series near 0.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::sin;
    const T u = T(3.141592653589793) * x, away = select(u == T(0), T(1), u);
    return select(u == T(0), T(1), sin(away) / away);
  }
  /// Both branches are differentiated, one after the other: each holds where it is chosen, to every order.
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    using std::cos;
    using std::sin;
    const T pi = T(3.141592653589793), u = pi * x;
    const auto near = both(u<T(1), u> T(-1));
    const T z = select(near, u * u, T(0)), v = select(near, T(1), u);
    T series = T(-20.0 / 5.109094217170944e19);  // -2k (-z)^(k - 1) / (2k + 1)!, backwards
    series = T(18.0 / 1.21645100408832e17) + z * series;
    series = T(-16.0 / 355687428096000.0) + z * series;
    series = T(14.0 / 1307674368000.0) + z * series;
    series = T(-12.0 / 6227020800.0) + z * series;
    series = T(10.0 / 39916800.0) + z * series;
    series = T(-8.0 / 362880.0) + z * series;
    series = T(6.0 / 5040.0) + z * series;
    series = T(-4.0 / 120.0) + z * series;
    series = T(2.0 / 6.0) + z * series;
    return pi * select(near, -(u * series), (cos(v) - sin(v) / v) / v);
  }
};

using Elementary = List<Arcsin, Arccos, Arcsinh, Arccosh, Cbrt, Exp2, Log2, Log10, Sinc>;

}  // namespace burlab::ops
BURLAB_END
