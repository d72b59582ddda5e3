#pragma once
// The field operations and powers. One struct per operation: the value (`primal`) and, next to it, the partial
// derivative by argument K (`partial<K>`), which is handed the arguments and the result, so that what primal computed
// is not paid twice.
#include <cmath>
#include <type_traits>

#include "../numbers/mask.hpp"
#include "../numbers/whole.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct Add {
  using cheap = void;
  static constexpr auto linear_in = "all";
  static constexpr auto name = "add";
  static constexpr int arity = 2;
  static constexpr auto doc = "x + y. Partials 1 and 1.";
  template <class T> BURLAB_RULE T primal(T x, T y) {
    if constexpr (wraps<T>) return T(Ring<T>(x) + Ring<T>(y));
    else return x + y;
  }
  template <int K, class T> BURLAB_RULE T partial(T, T, T) { return T(1); }
};

struct Sub {
  using cheap = void;
  static constexpr auto linear_in = "all";
  static constexpr auto name = "sub";
  static constexpr int arity = 2;
  static constexpr auto doc = "x - y. Partials 1 and -1.";
  template <class T> BURLAB_RULE T primal(T x, T y) {
    if constexpr (wraps<T>) return T(Ring<T>(x) - Ring<T>(y));
    else return x - y;
  }
  template <int K, class T> BURLAB_RULE T partial(T, T, T) { return K == 0 ? T(1) : T(-1); }
};

struct Mul {
  using cheap = void;
  static constexpr auto linear_in = "each";
  static constexpr auto name = "mul";
  static constexpr int arity = 2;
  static constexpr auto doc = "x * y. Partials y and x.";
  template <class T> BURLAB_RULE T primal(T x, T y) {
    if constexpr (wraps<T>) return T(Ring<T>(x) * Ring<T>(y));
    else return x * y;
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T) { return K == 0 ? y : x; }
};

struct Div {
  using of_floats = void;
  static constexpr auto linear_in = "first";
  static constexpr auto name = "div";
  static constexpr int arity = 2;
  static constexpr auto doc = "z = x / y. Partials 1 / y and -z (1 / y), which share their division.";
  template <class T> BURLAB_RULE T primal(T x, T y) { return x / y; }
  template <int K, class T> BURLAB_RULE T partial(T, T y, T z) {
    if constexpr (K == 0) return T(1) / y;
    else return -z * (T(1) / y);
  }
};

struct Neg {
  using cheap = void;
  static constexpr auto linear_in = "all";
  static constexpr auto name = "neg";
  static constexpr int arity = 1;
  static constexpr auto doc = "-x. Partial -1.";
  template <class T> BURLAB_RULE T primal(T x) {
    if constexpr (wraps<T>) return T(Ring<T>(0) - Ring<T>(x));
    else return -x;
  }
  template <int K, class T> BURLAB_RULE T partial(T, T) { return T(-1); }
};

struct Square {
  using cheap = void;
  static constexpr auto name = "square";
  static constexpr int arity = 1;
  static constexpr auto doc = "x * x. Partial 2 x.";
  template <class T> BURLAB_RULE T primal(T x) { return Mul::primal(x, x); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return T(2) * x; }
};

struct Cube {
  static constexpr auto name = "cube";
  static constexpr int arity = 1;
  static constexpr auto doc = "x * x * x. Partial 3 x^2.";
  template <class T> BURLAB_RULE T primal(T x) { return Mul::primal(Mul::primal(x, x), x); }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return T(3) * (x * x); }
};

struct Sqrt {
  using of_floats = void;
  static constexpr auto name = "sqrt";
  static constexpr int arity = 1;
  static constexpr auto doc = "y = sqrt(x). Partial 1 / (2 y), infinite at 0.";
  template <class T> BURLAB_RULE T primal(T x) {
    if constexpr (std::is_same_v<T, double>) return burlab_sqrt(x);
    else if constexpr (std::is_same_v<T, float>) return burlab_sqrtf(x);
    else return sqrt(x);
  }
  template <int K, class T> BURLAB_RULE T partial(T, T y) { return T(0.5) * (T(1) / y); }  // the bits of 0.5 / y
};

/// The derivative of order M by x and N by y of x^y: x^(y - M) times a polynomial of log x. At x = 0 it is the limit
/// from above, for which a coefficient of 0 takes its power of log x away.
template <int M, int N>
struct PowerBy {
  static constexpr auto name = "power_by";
  template <class T> BURLAB_RULE T primal(T x, T y) {
    using std::pow;
    if constexpr (is_dual<T>) return through(PowerBy(), x, y);
    else return product_of_zeros(polynomial(x, y), pow(x, y - T(M)));
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T) {
    return PowerBy<M + (K == 0), N + (K == 1)>::primal(x, y);
  }
  template <class T> BURLAB_RULE T polynomial(T x, T y) {
    using std::log;
    if constexpr (N == 0) return falling<M, 0>(y);
    else return terms<N>(y, log(x));
  }

 private:
  /// The k-th Taylor coefficient of y (y - 1) ... (y - m + 1).
  template <int m, int k, class T> BURLAB_RULE T falling(T y) {
    if constexpr (k < 0 || k > m) return T(0);
    else if constexpr (m == 0) return T(1);
    else return falling<m - 1, k>(y) * (y - T(m - 1)) + falling<m - 1, k - 1>(y);
  }
  /// The terms of log^N x down to log^(N - k) x, over the last of these powers.
  template <int k, class T> BURLAB_RULE T terms(T y, T logarithm) {
    if constexpr (k == 0) return falling<M, 0>(y);
    else {
      constexpr int weight = N * (k > 1 ? N - 1 : 1) * (k > 2 ? N - 2 : 1) * (k > 3 ? N - 3 : 1);
      return product_of_zeros(terms<k - 1>(y, logarithm), logarithm) + T(weight) * falling<M, k>(y);
    }
  }
};

struct Power {
  using own_lanes = void;
  static constexpr auto name = "power";
  static constexpr int arity = 2, literal = 1;
  static constexpr auto doc =
      "z = x^y. Partials y x^(y-1) (0 where y is 0) and z log x (0 where z is 0: the limit for y > 0).";
  template <class T> BURLAB_RULE T primal(T x, T y) {
    if constexpr (std::is_integral_v<T>) return integer(x, y);
    else {
      using std::pow;
      return pow(x, y);
    }
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T z) {
    using std::log;
    using std::pow;
    if constexpr (is_dual<T>)
      return PowerBy<K == 0, K == 1>::primal(x, y);  // z has a tangent of its own: it is one of x and y
    else if constexpr (K == 0) return select(y == T(0), T(0), y * pow(x, y - T(1)));
    else return derived_with(select(z == T(0), T(0), z * log(x)), y);
  }

 private:
  template <class T> static T integer(T x, T y) {  // wraps like NumPy's; a negative exponent was refused before
    Ring<T> result = 1, base = static_cast<Ring<T>>(x);
    for (; y > 0; y = T(y / 2), base *= base)
      if (y % 2 == 1) result *= base;
    return static_cast<T>(result);
  }
};

}  // namespace burlab::ops
BURLAB_END
