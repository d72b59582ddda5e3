#pragma once
// x log y and its kin, for which 0 times an infinite logarithm is 0, and what their partials are made of.
#include <cmath>

#include "arithmetic.hpp"
#include "call.hpp"

BURLAB_BEGIN
namespace burlab::ops {

/// z = x / y, 0 for 0 / 0: the limit for a y that goes to 0 alone. Partials 1 / y and -z / y, this quotient too.
struct Ratio {
  static constexpr auto name = "ratio";
  template <class T> BURLAB_RULE T primal(T x, T y) { return call<Ratio>(x, y); }
  template <class T> BURLAB_RULE T number(T x, T y) { return both(x == T(0), y == T(0)) ? T(0) : x / y; }
  template <int K, class T> BURLAB_RULE T partial(T, T y, T z) {
    if constexpr (K == 0) return T(1) / y;
    else return -primal(z, y);
  }
};

/// log(x / y), which does not cancel. Partials 1 / x and -1 / y, not by way of the quotient: it may be 0.
struct LogRatio {
  static constexpr auto name = "log_ratio";
  template <class T> BURLAB_RULE T primal(T x, T y) {
    using std::log;
    if constexpr (is_dual<T>) return through(LogRatio(), x, y);
    else return log(x / (y + T(0)));  // of -0 it is that of 0
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T) { return K == 0 ? T(1) / x : T(-1) / y; }
};

/// x f(y), f a logarithm of y + Shift, and 0 where x is 0 and y no nan.
template <class Op, int Shift> struct TimesLog {
  static constexpr int arity = 2;
  template <class T> BURLAB_RULE T primal(T x, T y) {
    if constexpr (is_dual<T>) return through(Op(), x, y);
    else return select(both(x == T(0), y == y), T(0), x * logarithm(y));
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T) {
    if constexpr (K == 0) return logarithm(y);
    else if constexpr (Shift == 0) return Ratio::primal(x, y);
    else return Ratio::primal(x, T(Shift) + y);
  }

 private:
  template <class T> BURLAB_RULE T logarithm(T y) {
    using std::log, std::log1p;
    if constexpr (Shift == 0) return log(y);
    else return log1p(y);
  }
};

struct Xlogy : TimesLog<Xlogy, 0> {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "xlogy";
  static constexpr auto doc = "x log y, 0 where x is 0 and y no nan. Partials log y and x / y, 0 where both are 0.";
};

struct Xlog1py : TimesLog<Xlog1py, 1> {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "xlog1py";
  static constexpr auto doc =
      "x log(1 + y), 0 where x is 0 and y no nan. Partials log(1 + y) and x / (1 + y), 0 where both are 0.";
};

struct RelEntr {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "rel_entr";
  static constexpr int arity = 2;
  static constexpr auto doc =
      "x log(x / y), 0 where x is 0; infinite where one is negative. Partials log(x / y) + 1 and -x / y, 0 where both "
      "are 0; 0 where one is negative.";
  template <class T> BURLAB_RULE T primal(T x, T y) {
    if constexpr (is_dual<T>) return through(RelEntr(), x, y);
    else {
      const T outside = select(both(x == x, y == y), T(__builtin_inf()), x + y);
      const T inside = select(both(x == T(0), y == y), T(0), x * LogRatio::primal(x, y));
      return select(negative(x, y), outside, inside);
    }
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T) {
    if constexpr (K == 0) return select(negative(x, y), T(0), LogRatio::primal(x, y) + T(1));
    else return select(negative(x, y), T(0), -Ratio::primal(x, y));
  }

 private:
  template <class T> BURLAB_RULE auto negative(T x, T y) { return either(x < T(0), y < T(0)); }
};

/// The derivative of order M by x and N by y of x^y e^z: that of the power, as it is computed here.
template <int M, int N>
struct PowerExpBy {
  static constexpr auto name = "power_exp_by";
  static constexpr int parameters = 0;
  template <class T> BURLAB_RULE T primal(T x, T y, T z) {
    using std::exp;
    if constexpr (is_dual<T>) return through(PowerExpBy(), x, y, z);
    else return product_of_zeros(PowerBy<M, N>::polynomial(x, y), exp(Xlogy::primal(y - T(M), x) + z));
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T z, T) {
    return PowerExpBy<M + (K == 0), N + (K == 1)>::primal(x, y, z);
  }
};

struct PowerExp {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "power_exp";
  static constexpr int arity = 3, parameters = 0;
  static constexpr auto doc =
      "w = x^y e^z, by e^(y log x + z). Partials y x^(y - 1) e^z, w log x and w; at x = 0 their limits from above.";
  template <class T> BURLAB_RULE T primal(T x, T y, T z) {
    using std::exp;
    if constexpr (is_dual<T>) return through(PowerExp(), x, y, z);
    else return exp(Xlogy::primal(y, x) + z);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T z, T w) {
    using std::log;
    if constexpr (K == 2) return w;
    else if constexpr (K == 0 || is_dual<T>) return PowerExpBy<K == 0, K == 1>::primal(x, y, z);
    else return derived_with(derived_with(product_of_zeros(log(x), w), y), z);
  }
};

}  // namespace burlab::ops
BURLAB_END
