#pragma once
// The regularized incomplete gamma and beta functions, with derivatives by x; floats go through double.
#include <cmath>

#include "../numbers/incomplete.hpp"
#include "special.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct Gammainc {
  static constexpr auto name = "gammainc";
  static constexpr int arity = 2, parameters = 1;
  static constexpr auto doc = "P(a, x). Partials: by a none, by x x^(a - 1) e^-x / gamma a.";
  template <class T> BURLAB_RULE T primal(T a, T x) { return call<Gammainc>(a, x); }
  template <class T> static T number(T a, T x) { return static_cast<T>(math::gamma_inc(a, x, false)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T x, T) {
    using std::exp;
    return K == 0 ? T(kUnknown) : exp(Xlogy::primal(a - T(1), x) - x - call<Gammaln>(a));
  }
};

struct Gammaincc {
  static constexpr auto name = "gammaincc";
  static constexpr int arity = 2, parameters = 1;
  static constexpr auto doc = "Q(a, x) = 1 - P(a, x). Partials: by a none, by x -x^(a - 1) e^-x / gamma a.";
  template <class T> BURLAB_RULE T primal(T a, T x) { return call<Gammaincc>(a, x); }
  template <class T> static T number(T a, T x) { return static_cast<T>(math::gamma_inc(a, x, true)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T x, T) { return -Gammainc::partial<K>(a, x, x); }
};

struct Betainc {
  static constexpr auto name = "betainc";
  static constexpr int arity = 3, parameters = 2;
  static constexpr auto doc = "I_x(a, b). Partials: by a and b none, by x x^(a - 1) (1 - x)^(b - 1) / beta(a, b).";
  template <class T> BURLAB_RULE T primal(T a, T b, T x) { return call<Betainc>(a, b, x); }
  template <class T> static T number(T a, T b, T x) { return static_cast<T>(math::beta_inc(a, b, x, false)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T b, T x, T) {
    using std::exp;
    return K < 2 ? T(kUnknown) : exp(Xlogy::primal(a - T(1), x) + Xlog1py::primal(b - T(1), -x) - call<Betaln>(a, b));
  }
};

struct Betaincc {
  static constexpr auto name = "betaincc";
  static constexpr int arity = 3, parameters = 2;
  static constexpr auto doc = "1 - I_x(a, b). Partials: by a and b none, by x minus that of betainc.";
  template <class T> BURLAB_RULE T primal(T a, T b, T x) { return call<Betaincc>(a, b, x); }
  template <class T> static T number(T a, T b, T x) { return static_cast<T>(math::beta_inc(a, b, x, true)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T b, T x, T) { return -Betainc::partial<K>(a, b, x, x); }
};

struct Stdtr {
  static constexpr auto name = "stdtr";
  static constexpr int arity = 2, parameters = 1;
  static constexpr auto doc =
      "The distribution function of Student's t. Partials: by the degrees of freedom none, by t the density.";
  template <class T> BURLAB_RULE T primal(T df, T t) { return call<Stdtr>(df, t); }
  template <class T> static T number(T df, T t) { return static_cast<T>(math::student(df, t)); }
  template <int K, class T> BURLAB_RULE T partial(T df, T t, T) {
    using std::exp;
    using std::log1p;
    using std::sqrt;
    const T half = T(0.5) * df;
    return K == 0 ? T(kUnknown) : exp((T(-0.5) - half) * log1p(t * t / df) - call<Betaln>(half, T(0.5))) / sqrt(df);
  }
};

using Incomplete = List<Gammainc, Gammaincc, Betainc, Betaincc, Stdtr>;

}  // namespace burlab::ops
BURLAB_END
