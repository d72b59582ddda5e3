#pragma once
// Exponentials, logarithms, circular and hyperbolic functions, and the error functions.
#include <cmath>

#include "../numbers/mask.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct Exp {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "exp";
  static constexpr int arity = 1;
  static constexpr auto doc = "y = e^x. Partial y.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::exp;
    return exp(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T, T y) { return y; }
};

struct Expm1 {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "expm1";
  static constexpr int arity = 1;
  static constexpr auto doc = "y = e^x - 1. Partial y + 1.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::expm1;
    return expm1(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T, T y) { return y + T(1); }
};

struct Log {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "log";
  static constexpr int arity = 1;
  static constexpr auto doc = "Natural logarithm. Partial 1 / x.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::log;
    return log(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return T(1) / x; }
};

struct Log1p {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "log1p";
  static constexpr int arity = 1;
  static constexpr auto doc = "log(1 + x). Partial 1 / (1 + x).";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::log1p;
    return log1p(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return T(1) / (T(1) + x); }
};

struct Sin {
  using of_floats = void;
  using own_lanes = void;
  using long_chain = void;
  static constexpr auto name = "sin";
  static constexpr int arity = 1;
  static constexpr auto doc = "Partial cos x.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::sin;
    return sin(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    using std::cos;
    return cos(x);
  }
};

struct Cos {
  using of_floats = void;
  using own_lanes = void;
  using long_chain = void;
  static constexpr auto name = "cos";
  static constexpr int arity = 1;
  static constexpr auto doc = "Partial -sin x.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::cos;
    return cos(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    using std::sin;
    return -sin(x);
  }
};

struct Tan {
  using of_floats = void;
  using own_lanes = void;
  using long_chain = void;
  static constexpr auto name = "tan";
  static constexpr int arity = 1;
  static constexpr auto doc = "y = tan x. Partial 1 + y^2.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::tan;
    return tan(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T, T y) { return T(1) + y * y; }
};

struct Arctan {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "arctan";
  static constexpr int arity = 1;
  static constexpr auto doc = "Partial 1 / (1 + x^2).";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::atan;
    return atan(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return T(1) / (T(1) + x * x); }
};

struct Arctan2 {
  using of_floats = void;
  using own_lanes = void;
  using called_partials = void;
  static constexpr auto name = "arctan2";
  static constexpr int arity = 2;
  static constexpr auto doc =
      "The angle of (x, y), y first. Partials x / (x^2 + y^2) and -y / (x^2 + y^2), in units of the larger one where "
      "these squares are beyond the range of floats.";
  template <class T> BURLAB_RULE T primal(T y, T x) {
    using std::atan2;
    return atan2(y, x);
  }
  template <int K, class T> BURLAB_RULE T partial(T y, T x, T) {
    const T width = select(x < T(0), -x, x), height = select(y < T(0), -y, y);
    const T size = select(width < height, height, width);
    const auto plain = both(size > T(1e-15), size < T(1e15));
    const T part = T(1) / select(either(plain, size == T(0)), T(1), size), u = x * part, v = y * part;
    return (K == 0 ? u : -v) / (x * u + y * v);
  }
};

struct Sinh {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "sinh";
  static constexpr int arity = 1;
  static constexpr auto doc = "Partial cosh x.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::sinh;
    return sinh(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    using std::cosh;
    return cosh(x);
  }
};

struct Cosh {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "cosh";
  static constexpr int arity = 1;
  static constexpr auto doc = "Partial sinh x.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::cosh;
    return cosh(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    using std::sinh;
    return sinh(x);
  }
};

struct Tanh {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "tanh";
  static constexpr int arity = 1;
  static constexpr auto doc = "y = tanh x. Partial 1 - y^2, from the result: the reverse sweep calls no libm.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::tanh;
    return tanh(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T, T y) { return T(1) - y * y; }
};

struct Arctanh {
  using of_floats = void;
  using own_lanes = void;
  using called_partials = void;
  static constexpr auto name = "arctanh";
  static constexpr int arity = 1;
  static constexpr auto doc = "Partial 1 / ((1 - x) (1 + x)), exact near 1.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::atanh;
    return atanh(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return T(1) / ((T(1) - x) * (T(1) + x)); }
};

struct Erf {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "erf";
  static constexpr int arity = 1;
  static constexpr auto doc = "The error function. Partial 2 / sqrt(pi) e^(-x^2).";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::erf;
    return erf(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    using std::exp;
    return of_digits<T>(1.1283791670955126, 1.533545961316588e-17) * exp(-(x * x));
  }
};

struct Erfc {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "erfc";
  static constexpr int arity = 1;
  static constexpr auto doc = "1 - erf x, accurate for large x. Partial -2 / sqrt(pi) e^(-x^2).";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::erfc;
    return erfc(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return -Erf::partial<0>(x, x); }
};

}  // namespace burlab::ops
BURLAB_END
