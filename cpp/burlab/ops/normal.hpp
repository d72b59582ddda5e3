#pragma once
// The normal distribution's functions of scipy.special; floats go through double.
#include <cmath>

#include "../numbers/normal.hpp"
#include "call.hpp"
#include "table.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct Erfinv {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "erfinv";
  static constexpr int arity = 1;
  static constexpr auto doc = "y with erf y = x. Partial sqrt(pi) / 2 e^(y^2), from the result.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Erfinv>(x); }
  template <class T> BURLAB_RULE T number(T x) { return static_cast<T>(math::erfinv(x)); }
  template <int K, class T> BURLAB_RULE T partial(T, T y) {
    using std::exp;
    return T(math::kHalfRootPi) * exp(y * y);
  }
};

struct Erfcinv {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "erfcinv";
  static constexpr int arity = 1;
  static constexpr auto doc = "y with erfc y = x. Partial -sqrt(pi) / 2 e^(y^2), from the result.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Erfcinv>(x); }
  template <class T> BURLAB_RULE T number(T x) { return static_cast<T>(math::erfcinv(x)); }
  template <int K, class T> BURLAB_RULE T partial(T, T y) {
    using std::exp;
    return T(-math::kHalfRootPi) * exp(y * y);
  }
};

struct Ndtri {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "ndtri";
  static constexpr int arity = 1;
  static constexpr auto doc = "y with Phi(y) = x. Partial sqrt(2 pi) e^(y^2 / 2), from the result.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Ndtri>(x); }
  template <class T> BURLAB_RULE T number(T x) { return static_cast<T>(math::ndtri(x)); }
  template <int K, class T> BURLAB_RULE T partial(T, T y) {
    using std::exp;
    return T(2.5066282746310002) * exp(T(0.5) * (y * y));
  }
};

/// e_n of `math::mills_term`. Partial n - e_n (e_n - x), which is e_n (e_(n + 1) - e_n): that does not cancel below
/// 0.
template <int N>
struct MillsTerm {
  static constexpr auto name = N == 1 ? "mills_excess" : "mills_term";
  static constexpr int arity = 1, first_own = 0, last_own = 0;
  template <class T> BURLAB_RULE T primal(T x) { return call<MillsTerm>(x); }
  template <class T> BURLAB_RULE T number(T x) {
    if constexpr (N == 1) return static_cast<T>(math::mills_excess(x));
    else return static_cast<T>(math::mills_term(N, x));
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T y) {
    return select(x < T(-4), y * (MillsTerm<N + 1>::primal(x) - y), T(N) - y * (y - x));
  }
};
struct MillsExcess : MillsTerm<1> {
  using of_floats = void;
  static constexpr auto name = "mills_excess";
  static constexpr auto no_lanes = "its derivative is a continued fraction far below 0";
  static constexpr auto doc = "y = x + phi(x) / Phi(x). Partial 1 - y (y - x), by a continued fraction far below 0.";
};

struct Mills {
  using of_floats = void;
  static constexpr auto name = "mills";
  static constexpr int arity = 1, first_own = 0, last_own = 1;
  static constexpr auto doc =
      "y = phi(x) / Phi(x), the derivative of log Phi. Partial -y (x + y), where the sum does not cancel.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Mills>(x); }
  template <class T> BURLAB_RULE T number(T x) { return static_cast<T>(math::mills(x)); }
  template <int K, class T> BURLAB_RULE T partial(T x, T y) { return -(y * MillsExcess::primal(x)); }
};

struct LogNdtr {
  using of_floats = void;
  static constexpr auto name = "log_ndtr";
  static constexpr int arity = 1, first_own = 0, last_own = 2;
  static constexpr auto doc = "log Phi(x), exact in both tails. Partial phi(x) / Phi(x).";
  template <class T> BURLAB_RULE T primal(T x) { return call<LogNdtr>(x); }
  template <class T> BURLAB_RULE T number(T x) { return static_cast<T>(math::log_ndtr(x)); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return call<Mills>(x); }
};

struct Erfcx {
  using of_floats = void;
  static constexpr auto name = "erfcx";
  static constexpr int arity = 1, first_own = 0, last_own = 1;
  static constexpr auto doc =
      "y = e^(x^2) erfc x, by phi / Phi at u = -sqrt(2) x. Partial -sqrt(2) y (u + phi / Phi), exact in both tails.";
  template <class T> BURLAB_RULE T primal(T x) {
    return T(0.7978845608028654) / call<Mills>(x * T(-1.4142135623730951));
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T y) {
    return T(-1.4142135623730951) * (y * MillsExcess::primal(x * T(-1.4142135623730951)));
  }
};

using Normal = List<Erfinv, Erfcinv, Ndtri, MillsExcess, Mills, LogNdtr, Erfcx>;

}  // namespace burlab::ops
BURLAB_END
