#pragma once
// The activation functions of neural networks, each written so that no intermediate value overflows.
#include <cmath>

#include "transcendental.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct Relu {
  using activation = void;
  static constexpr auto name = "relu";
  static constexpr int arity = 1;
  static constexpr auto doc = "y = max(x, 0); nan stays nan. Partial 1 where y > 0, else 0: relu'(0) = 0.";
  template <class T> BURLAB_RULE T primal(T x) { return select(x < T(0), T(0), x); }
  // from the result, so that x need not be kept for the reverse sweep
  template <int K, class T> BURLAB_RULE T partial(T, T y) { return select(y > T(0), T(1), T(0)); }
};

struct Sigmoid {
  using activation = void;
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "sigmoid";
  static constexpr int arity = 1;
  static constexpr auto doc = "y = 1 / (1 + e^-x), through e^-|x|. Partial y (1 - y).";
  template <class T> BURLAB_RULE T primal(T x) {
    if constexpr (requires { sigmoid(x); }) {
      return sigmoid(x);
    } else {
      using std::exp;
      const T e = exp(select(x < T(0), x, -x));
      return select(x < T(0), e, T(1)) / (T(1) + e);
    }
  }
  template <int K, class T> BURLAB_RULE T partial(T, T y) { return y * (T(1) - y); }
};

struct Softplus {
  using activation = void;
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "softplus";
  static constexpr int arity = 1;
  static constexpr auto doc = "log(1 + e^x) = max(x, 0) + log1p(e^-|x|). Partial sigmoid x.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::exp;
    using std::log1p;
    return select(x < T(0), T(0), x) + log1p(exp(select(x < T(0), x, -x)));
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return Sigmoid::primal(x); }
};

struct Gelu {
  using activation = void;
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "gelu";
  static constexpr int arity = 1;
  static constexpr auto doc =
      "x Phi(x), Phi the normal distribution function (the exact form). Partial Phi(x) + x phi(x).";
  template <class T> BURLAB_RULE T primal(T x) { return x * distribution(x); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    using std::exp;
    return distribution(x) + x * (T(0.3989422804014327) * exp(T(-0.5) * (x * x)));
  }

 private:
  // By erfc, not 1 + erf: for x far below 0 the sum would cancel.
  template <class T> BURLAB_RULE T distribution(T x) {
    using std::erfc;
    return T(0.5) * erfc(x * T(-0.7071067811865476));
  }
};

struct Silu {
  using activation = void;
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "silu";
  static constexpr int arity = 1;
  static constexpr auto doc = "x s, s = sigmoid x. Partial s (1 + x (1 - s)).";
  template <class T> BURLAB_RULE T primal(T x) { return x * Sigmoid::primal(x); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    const T s = Sigmoid::primal(x);
    return s * (T(1) + x * (T(1) - s));
  }
};

}  // namespace burlab::ops
BURLAB_END
