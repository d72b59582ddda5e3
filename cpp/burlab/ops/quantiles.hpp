#pragma once
// Inverses of the incomplete gamma and beta functions and of Student's distribution function: derivatives by the
// theorem of the implicit function, at the result y. Floats go through double.
#include <cmath>

#include "../numbers/quantiles.hpp"
#include "incomplete.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct Gammaincinv {
  using of_floats = void;
  static constexpr auto name = "gammaincinv";
  static constexpr auto no_lanes = "steps towards a root, as many as it needs";
  static constexpr int arity = 2;
  static constexpr auto doc = "y with P(a, y) = p. Partials: by p 1 / P_y, by a -P_a / P_y.";
  template <class T> BURLAB_RULE T primal(T a, T p) { return call<Gammaincinv>(a, p); }
  template <class T> static T number(T a, T p) { return static_cast<T>(math::gamma_quantile(a, p, false)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T, T y) {
    const T slope = Gammainc::partial<1>(a, y, y);
    if constexpr (K == 0) return -call<GammaincBy>(T(1), a, y) / slope;
    else return T(1) / slope;
  }
};

struct Gammainccinv {
  using of_floats = void;
  static constexpr auto name = "gammainccinv";
  static constexpr auto no_lanes = "steps towards a root, as many as it needs";
  static constexpr int arity = 2;
  static constexpr auto doc = "y with Q(a, y) = p. Partials: by p 1 / Q_y, by a -Q_a / Q_y.";
  template <class T> BURLAB_RULE T primal(T a, T p) { return call<Gammainccinv>(a, p); }
  template <class T> static T number(T a, T p) { return static_cast<T>(math::gamma_quantile(a, p, true)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T p, T y) {
    return K == 0 ? Gammaincinv::partial<0>(a, p, y) : -Gammaincinv::partial<1>(a, p, y);
  }
};

struct Betaincinv {
  using of_floats = void;
  static constexpr auto name = "betaincinv";
  static constexpr auto no_lanes = "steps towards a root, as many as it needs";
  static constexpr int arity = 3;
  static constexpr auto doc = "y with I_y(a, b) = p. Partials: by p 1 / I_y', by a and b minus theirs times that.";
  template <class T> BURLAB_RULE T primal(T a, T b, T p) { return call<Betaincinv>(a, b, p); }
  template <class T> static T number(T a, T b, T p) { return static_cast<T>(math::beta_quantile(a, b, p, false)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T b, T, T y) {
    const T slope = Betainc::partial<2>(a, b, y, y);
    if constexpr (K == 2) return T(1) / slope;
    else return -Betainc::partial<K>(a, b, y, y) / slope;
  }
};

struct Betainccinv {
  using of_floats = void;
  static constexpr auto name = "betainccinv";
  static constexpr auto no_lanes = "steps towards a root, as many as it needs";
  static constexpr int arity = 3;
  static constexpr auto doc = "y with 1 - I_y(a, b) = p. Partials: those of betaincinv, by p with the other sign.";
  template <class T> BURLAB_RULE T primal(T a, T b, T p) { return call<Betainccinv>(a, b, p); }
  template <class T> static T number(T a, T b, T p) { return static_cast<T>(math::beta_quantile(a, b, p, true)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T b, T p, T y) {
    const T share = Betaincinv::partial<K>(a, b, p, y);
    return K == 2 ? -share : share;
  }
};

struct Stdtrit {
  using of_floats = void;
  static constexpr auto name = "stdtrit";
  static constexpr auto no_lanes = "steps towards a root, as many as it needs";
  static constexpr int arity = 2;
  static constexpr auto doc =
      "y with stdtr(df, y) = p. Partials: by p 1 / the density, by df minus that of stdtr times it.";
  template <class T> BURLAB_RULE T primal(T df, T p) { return call<Stdtrit>(df, p); }
  template <class T> static T number(T df, T p) { return static_cast<T>(math::student_quantile(df, p)); }
  template <int K, class T> BURLAB_RULE T partial(T df, T, T y) {
    const T slope = Stdtr::density(df, y);
    if constexpr (K == 1) return T(1) / slope;
    else return -Stdtr::partial<0>(df, y, y) / slope;
  }
};

using Quantiles = List<Gammaincinv, Gammainccinv, Betaincinv, Betainccinv, Stdtrit>;

}  // namespace burlab::ops
BURLAB_END
