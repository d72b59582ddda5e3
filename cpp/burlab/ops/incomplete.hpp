#pragma once
// The regularized incomplete gamma and beta functions, with derivatives by their parameters of order 4 at most; floats
// go through double.
#include <cmath>

#include "../numbers/density.hpp"
#include "special.hpp"

BURLAB_BEGIN
namespace burlab::ops {

// The densities read no result: what reads no order would get another number for it, and 0 times its nan.
template <int I>
struct GammaDensity {
  static constexpr auto name = "gamma_density";
  static constexpr int arity = 3, parameters = 1;
  template <class T> BURLAB_RULE T primal(T n, T a, T x) { return call<GammaDensity>(n, a, x); }
  template <class T> static T number(T n, T a, T x) { return static_cast<T>(math::gamma_density(n, I, a, x)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T a, T x, T) {
    if constexpr (K == 0) return T(kUnknown);
    else if constexpr (K == 1) return primal(n + T(1), a, x);
    else return GammaDensity<I + 1>::primal(n, a, x) - primal(n, a, x);
  }
};
struct GammaDensityBy : GammaDensity<0> {
  using of_floats = void;
  static constexpr auto name = "gamma_density_by";
  static constexpr auto no_lanes = "a series or a continued fraction, whose length depends on the arguments";
  static constexpr auto doc =
      "p_n(a, x), the derivative of order n by a of x^(a - 1) e^-x / gamma a. Partials: by n none, by a p_(n + 1), by "
      "x "
      "that of order n by a of (a - 1) / x p_0 - p_0.";
};

struct GammaincBy {
  using of_floats = void;
  static constexpr auto name = "gammainc_by";
  static constexpr auto no_lanes = "a series or a continued fraction, whose length depends on the arguments";
  static constexpr int arity = 3, parameters = 1;
  static constexpr auto doc =
      "The derivative of order n by a of P(a, x). Partials: by n none, by a that of n + 1, by x that of the density.";
  template <class T> BURLAB_RULE T primal(T n, T a, T x) { return call<GammaincBy>(n, a, x); }
  template <class T> static T number(T n, T a, T x) { return static_cast<T>(math::gamma_derivative(n, a, x)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T a, T x, T) {
    if constexpr (K == 0) return T(kUnknown);
    else if constexpr (K == 1) return call<GammaincBy>(n + T(1), a, x);
    else return GammaDensityBy::primal(n, a, x);
  }
};

struct Gammainc {
  using of_floats = void;
  static constexpr auto name = "gammainc";
  static constexpr auto no_lanes = "a series or a continued fraction, whose length depends on the arguments";
  static constexpr int arity = 2;
  static constexpr auto doc = "P(a, x). Partials: by a gammainc_by(1, a, x), by x x^(a - 1) e^-x / gamma a.";
  template <class T> BURLAB_RULE T primal(T a, T x) { return call<Gammainc>(a, x); }
  template <class T> static T number(T a, T x) { return static_cast<T>(math::gamma_inc(a, x, false)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T x, T) {
    using std::exp;
    if constexpr (K == 0) return call<GammaincBy>(T(1), a, x);
    else if constexpr (is_dual<T>) return GammaDensityBy::primal(T(0), a, x);
    else {
      const T finite = select(x == T(__builtin_inf()), T(1), x);  // the exponential wins against the power
      return exp(Xlogy::primal(a - T(1), finite) - x - call<Gammaln>(a));
    }
  }
};

struct Gammaincc {
  using of_floats = void;
  static constexpr auto name = "gammaincc";
  static constexpr auto no_lanes = "a series or a continued fraction, whose length depends on the arguments";
  static constexpr int arity = 2;
  static constexpr auto doc = "Q(a, x) = 1 - P(a, x). Partials: those of gammainc with the other sign.";
  template <class T> BURLAB_RULE T primal(T a, T x) { return call<Gammaincc>(a, x); }
  template <class T> static T number(T a, T x) { return static_cast<T>(math::gamma_inc(a, x, true)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T x, T) { return -Gammainc::partial<K>(a, x, x); }
};

template <int I, int J>
struct BetaDensity {
  static constexpr auto name = "beta_density";
  static constexpr int arity = 5, parameters = 2;
  template <class T> BURLAB_RULE T primal(T m, T n, T a, T b, T x) { return call<BetaDensity>(m, n, a, b, x); }
  template <class T> static T number(T m, T n, T a, T b, T x) {
    return static_cast<T>(math::beta_density(m, n, I, J, a, b, x));
  }
  template <int K, class T> BURLAB_RULE T partial(T m, T n, T a, T b, T x, T) {
    if constexpr (K < 2) return T(kUnknown);
    else if constexpr (K < 4) return primal(K == 2 ? m + T(1) : m, K == 3 ? n + T(1) : n, a, b, x);
    else return BetaDensity<I + 1, J>::primal(m, n, a, b, x) - BetaDensity<I, J + 1>::primal(m, n, a, b, x);
  }
};
struct BetaDensityBy : BetaDensity<0, 0> {
  using of_floats = void;
  static constexpr auto name = "beta_density_by";
  static constexpr auto no_lanes = "a series or a continued fraction, whose length depends on the arguments";
  static constexpr auto doc =
      "p_mn(a, b, x), the derivative of orders m by a and n by b of x^(a - 1) (1 - x)^(b - 1) / beta(a, b). Partials: "
      "by m and n none, by a and b p of the next order, by x that of these orders of (a - 1) / x p_00 - (b - 1) / "
      "(1 - x) p_00.";
};

struct BetaincBy {
  using of_floats = void;
  static constexpr auto name = "betainc_by";
  static constexpr auto no_lanes = "a series or a continued fraction, whose length depends on the arguments";
  static constexpr int arity = 5, parameters = 2;
  static constexpr auto doc =
      "The derivative of orders m by a and n by b of I_x(a, b). Partials: by m and n none, by a and b that of the next "
      "order, by x that of the density.";
  template <class T> BURLAB_RULE T primal(T m, T n, T a, T b, T x) { return call<BetaincBy>(m, n, a, b, x); }
  template <class T> static T number(T m, T n, T a, T b, T x) {
    return static_cast<T>(math::beta_derivative(m, n, a, b, x));
  }
  template <int K, class T> BURLAB_RULE T partial(T m, T n, T a, T b, T x, T) {
    if constexpr (K < 2) return T(kUnknown);
    else if constexpr (K < 4) return call<BetaincBy>(K == 2 ? m + T(1) : m, K == 3 ? n + T(1) : n, a, b, x);
    else return BetaDensityBy::primal(m, n, a, b, x);
  }
};

struct Betainc {
  using of_floats = void;
  static constexpr auto name = "betainc";
  static constexpr auto no_lanes = "a series or a continued fraction, whose length depends on the arguments";
  static constexpr int arity = 3;
  static constexpr auto doc =
      "I_x(a, b). Partials: by a and b betainc_by(1, 0, a, b, x) and (0, 1, ...), by x x^(a - 1) (1 - x)^(b - 1) / "
      "beta(a, b).";
  template <class T> BURLAB_RULE T primal(T a, T b, T x) { return call<Betainc>(a, b, x); }
  template <class T> static T number(T a, T b, T x) { return static_cast<T>(math::beta_inc(a, b, x, false)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T b, T x, T) {
    using std::exp;
    if constexpr (K < 2) return call<BetaincBy>(T(K == 0), T(K == 1), a, b, x);
    else if constexpr (is_dual<T>) return BetaDensityBy::primal(T(0), T(0), a, b, x);
    else return exp(Xlogy::primal(a - T(1), x) + Xlog1py::primal(b - T(1), -x) - call<Betaln>(a, b));
  }
};

struct Betaincc {
  using of_floats = void;
  static constexpr auto name = "betaincc";
  static constexpr auto no_lanes = "a series or a continued fraction, whose length depends on the arguments";
  static constexpr int arity = 3;
  static constexpr auto doc = "1 - I_x(a, b). Partials: those of betainc with the other sign.";
  template <class T> BURLAB_RULE T primal(T a, T b, T x) { return call<Betaincc>(a, b, x); }
  template <class T> static T number(T a, T b, T x) { return static_cast<T>(math::beta_inc(a, b, x, true)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T b, T x, T) { return -Betainc::partial<K>(a, b, x, x); }
};

struct Stdtr {
  using of_floats = void;
  static constexpr auto name = "stdtr";
  static constexpr auto no_lanes = "a series or a continued fraction, whose length depends on the arguments";
  static constexpr int arity = 2;
  static constexpr auto doc =
      "The distribution function of Student's t, (1 + sign(t) I_z(1/2, df / 2)) / 2 at z = t^2 / (df + t^2). Partials: "
      "by "
      "df by those of betainc, by t the density.";
  template <class T> BURLAB_RULE T primal(T df, T t) { return call<Stdtr>(df, t); }
  template <class T> static T number(T df, T t) { return static_cast<T>(math::student(df, t)); }
  template <int K, class T> BURLAB_RULE T partial(T df, T t, T) {
    if constexpr (K == 1) return density(df, t);
    else {
      const T u =
          select(t * t < T(1e-36), t + T(2e-18), t);  // at 0 the density of z, by which t is derived, is not finite
      const T q = u * u / df, half = T(0.5) * df;
      const auto near = q < T(1);  // beyond by 1 - I of the exchanged arguments, whose last one is then small
      const T m = select(near, T(0), T(1)), n = select(near, T(1), T(0));
      const T first = select(near, T(0.5), half), second = select(near, half, T(0.5));
      const T by_shape = call<BetaincBy>(m, n, first, second, select(near, q, T(1)) / (T(1) + q));
      const T sign = select(u < T(0), T(-0.25), T(0.25));
      return select(near, sign, -sign) * by_shape - T(0.5) * t / df * density(df, t);
    }
  }
  template <class T> BURLAB_RULE T density(T df, T t) {
    using std::exp;
    using std::log1p;
    using std::sqrt;
    const T half = T(0.5) * df;
    return exp((T(-0.5) - half) * log1p(t * t / df) - call<Betaln>(half, T(0.5))) / sqrt(df);
  }
};

using Incomplete =
    List<GammaDensityBy, GammaincBy, Gammainc, Gammaincc, BetaDensityBy, BetaincBy, Betainc, Betaincc, Stdtr>;

}  // namespace burlab::ops
BURLAB_END
