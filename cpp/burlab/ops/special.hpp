#pragma once
// Functions of scipy.special about gamma, some of which become lanes (`numbers/gamma_function.hpp`); floats go through
// double.
#include <cmath>

#include "../numbers/gamma.hpp"
#include "call.hpp"
#include "entropy.hpp"
#include "table.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct Polygamma {
  using of_floats = void;
  static constexpr auto name = "polygamma";
  static constexpr auto no_lanes = "derivatives of order 2 and more are sums of powers";
  static constexpr int arity = 2, parameters = 1, literal = 0, max_own_order = 1;
  static constexpr auto doc = "The derivative of order n of digamma at x. Partials: by n none, by x that of n + 1.";
  template <class T> BURLAB_RULE T primal(T n, T x) { return call<Polygamma>(n, x); }
  template <class T> BURLAB_RULE T number(T n, T x) { return static_cast<T>(math::polygamma(n, x)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T x, T) {
    return K == 0 ? T(kUnknown) : call<Polygamma>(n + T(1), x);
  }
};

struct Digamma {
  using of_floats = void;
  static constexpr auto name = "digamma";
  static constexpr int arity = 1, first_own = 0, last_own = 1;
  static constexpr auto doc = "The derivative of log gamma. Partial polygamma(1, x).";
  template <class T> BURLAB_RULE T primal(T x) { return call<Digamma>(x); }
  template <class T> BURLAB_RULE T number(T x) { return static_cast<T>(math::digamma(x)); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return call<Polygamma>(T(1), x); }
};

struct Gammaln {
  using of_floats = void;
  using common_lanes = void;
  static constexpr auto name = "gammaln";
  static constexpr int arity = 1, first_own = 1, last_own = 2;
  static constexpr auto doc = "log |gamma x|. Partial digamma x.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Gammaln>(x); }
  template <class T> static T number(T x) { return static_cast<T>(math::lgamma(x)); }
  template <class T, class... Result> BURLAB_RULE bool fits(T x, Result...) { return !(x <= T(0)); }
  template <class T> BURLAB_RULE T common(T x) { return static_cast<T>(math::lgamma_above(x)); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return call<Digamma>(x); }
};

struct Gamma {
  using of_floats = void;
  static constexpr auto name = "gamma";
  static constexpr int arity = 1, first_own = 0, last_own = 1;
  static constexpr auto doc = "y = gamma x. Partial y digamma x.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Gamma>(x); }
  template <class T> BURLAB_RULE T number(T x) { return static_cast<T>(math::gamma(x)); }
  template <int K, class T> BURLAB_RULE T partial(T x, T y) { return y * call<Digamma>(x); }
};

struct Betaln {
  using of_floats = void;
  static constexpr auto name = "betaln";
  static constexpr auto no_lanes = "where beta is near 1, its logarithm is a sum in long double";
  static constexpr int arity = 2, first_own = 1, last_own = 2;
  static constexpr auto doc = "log |beta(a, b)|. Partials digamma a - digamma(a + b), and the same of b.";
  template <class T> BURLAB_RULE T primal(T a, T b) { return call<Betaln>(a, b); }
  template <class T> static T number(T a, T b) { return static_cast<T>(math::betaln(a, b)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T b, T) {
    return call<Digamma>(K == 0 ? a : b) - call<Digamma>(a + b);
  }
};

struct Beta {
  using of_floats = void;
  using common_lanes = void;
  static constexpr auto name = "beta";
  static constexpr int arity = 2, first_own = 1, last_own = 1;
  static constexpr auto doc =
      "y = gamma a gamma b / gamma(a + b). Partials y (digamma a - digamma(a + b)), the same of b.";
  template <class T> BURLAB_RULE T primal(T a, T b) { return call<Beta>(a, b); }
  template <class T> static T number(T a, T b) { return static_cast<T>(math::beta(a, b)); }
  template <class T, class... Result> BURLAB_RULE bool fits(T a, T b, Result...) {
    return (a > T(0)) & (b > T(0)) & (static_cast<double>(a) + static_cast<double>(b) < math::kInfinity<double>);
  }
  template <class T> BURLAB_RULE T common(T a, T b) { return static_cast<T>(math::beta_above(a, b)); }
  template <int K, class T> BURLAB_RULE T partial(T a, T b, T y) { return y * Betaln::partial<K>(a, b, y); }
};

struct Exprel {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "exprel";
  static constexpr int arity = 1;
  static constexpr auto doc = "y = (e^x - 1) / x, 1 at 0. Partial (e^x - y) / x, by its series near 0.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Exprel>(x); }
  template <class T> BURLAB_RULE T number(T single) {
    const double x = static_cast<double>(single), y = math::expm1(x) / x, large = x == x ? math::kInfinity<double> : x;
    const double within = x == 0 ? 1.0 : y;
    return static_cast<T>(x < 717 ? within : large);
  }
  /// Both branches are differentiated, one after the other: each holds where it is chosen, to every order.
  template <int K, class T> BURLAB_RULE T partial(T x, T y) {
    using std::exp;
    const auto near = both(x<T(1), x> T(-1));
    const T z = select(near, x, T(0)), v = select(near, T(1), x);
    T series = T(0);                            // z^(k - 1) k / (k + 1)!, backwards
    double factor = 1 / 2432902008176640000.0;  // 1 / (k + 1)!
    BURLAB_UNROLL
    for (int k = 19; k > 0; factor *= k + 1, --k) series = T(k * factor) + z * series;
    return select(near, series, (exp(v) - y) / v);
  }
};

struct ZetaDerivative {
  using of_floats = void;
  static constexpr auto name = "zeta_derivative";
  static constexpr auto no_lanes = "a sum in long double, whose length depends on s";
  static constexpr int arity = 3, parameters = 1;
  static constexpr auto doc =
      "z_n(s, q), the derivative of order n by s of zeta(s, q), n <= 4. Partials: by n none, by s z_(n + 1)(s, q), by "
      "q "
      "-s z_n(s + 1, q) - n z_(n - 1)(s + 1, q).";
  template <class T> BURLAB_RULE T primal(T n, T s, T q) { return call<ZetaDerivative>(n, s, q); }
  template <class T> static T number(T n, T s, T q) { return static_cast<T>(math::hurwitz_derivative(n, s, q)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T s, T q, T) {
    if constexpr (K == 0) return T(kUnknown);
    else if constexpr (K == 1) return call<ZetaDerivative>(n + T(1), s, q);
    else return -(s * call<ZetaDerivative>(n, s + T(1), q)) - n * call<ZetaDerivative>(n - T(1), s + T(1), q);
  }
};

struct Zeta {
  using of_floats = void;
  static constexpr auto name = "zeta";
  static constexpr auto no_lanes = "a sum in long double where q is negative";
  static constexpr int arity = 2;
  static constexpr auto doc = "sum over k >= 0 of (q + k)^-s. Partials: by s z_1(s, q), by q -s zeta(s + 1, q).";
  template <class T> BURLAB_RULE T primal(T s, T q) { return call<Zeta>(s, q); }
  template <class T> static T number(T s, T q) { return static_cast<T>(math::hurwitz_zeta(s, q)); }
  template <int K, class T> BURLAB_RULE T partial(T s, T q, T) {
    return K == 0 ? call<ZetaDerivative>(T(1), s, q) : -(s * call<Zeta>(s + T(1), q));
  }
};

struct RiemannZeta {
  using of_floats = void;
  static constexpr auto name = "riemann_zeta";
  static constexpr auto no_lanes = "a sum in long double, whose length depends on s";
  static constexpr int arity = 2, parameters = 1;
  static constexpr auto doc = "The derivative of order n <= 4 of zeta(s). Partials: by n none, by s that of n + 1.";
  template <class T> BURLAB_RULE T primal(T n, T s) { return call<RiemannZeta>(n, s); }
  template <class T> static T number(T n, T s) { return static_cast<T>(math::riemann_zeta(n, s)); }
  template <int K, class T> BURLAB_RULE T partial(T n, T s, T) {
    return K == 0 ? T(kUnknown) : call<RiemannZeta>(n + T(1), s);
  }
};

using Special = List<Polygamma, Digamma, Gammaln, Gamma, Betaln, Beta, Exprel, ZetaDerivative, Zeta, RiemannZeta, Xlogy,
                     Xlog1py, RelEntr, PowerExp>;

}  // namespace burlab::ops
BURLAB_END
