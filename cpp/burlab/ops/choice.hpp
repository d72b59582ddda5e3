#pragma once
// Operations with kinks, comparisons and logic. Comparisons and logic give masks and have no derivative.
#include <cmath>
#include <type_traits>

#include "../numbers/mask.hpp"
#include "../numbers/whole.hpp"

BURLAB_BEGIN
namespace burlab::ops {

struct Abs {
  static constexpr auto name = "abs";
  static constexpr int arity = 1;
  static constexpr auto doc = "|x|. Partial sign x: abs'(0) = 0.";
  template <class T> BURLAB_RULE T primal(T x) {
    using std::fabs;
    if constexpr (has_fabs<T>) return fabs(x);
    else if constexpr (wraps<T>) return select(x < T(0), T(Ring<T>(0) - Ring<T>(x)), x);
    else return select(x < T(0), -x, x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) {
    return select(x > T(0), T(1), select(x < T(0), T(-1), T(0)));
  }
};

struct Sign {
  static constexpr auto name = "sign";
  static constexpr int arity = 1;
  static constexpr auto doc = "-1, 0 or 1; nan stays nan. Partial 0.";
  template <class T> BURLAB_RULE T primal(T x) { return select(x > T(0), T(1), select(x < T(0), T(-1), x)); }
  template <int K, class T> BURLAB_RULE T partial(T, T) { return T(0); }
};

struct Maximum {
  static constexpr auto name = "maximum";
  static constexpr int arity = 2;
  static constexpr auto doc = "The larger; nan wins. Partial 1 for the larger, 0 for the other; a tie shares equally.";
  template <class T> BURLAB_RULE T primal(T x, T y) { return select(either(x >= y, x != x), x, y); }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T) {
    return select(K == 0 ? x > y : y > x, T(1), select(x == y, T(0.5), T(0)));
  }
};

struct Minimum {
  static constexpr auto name = "minimum";
  static constexpr int arity = 2;
  static constexpr auto doc =
      "The smaller; nan wins. Partial 1 for the smaller, 0 for the other; a tie shares equally.";
  template <class T> BURLAB_RULE T primal(T x, T y) { return select(either(x <= y, x != x), x, y); }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T) {
    return select(K == 0 ? x < y : y < x, T(1), select(x == y, T(0.5), T(0)));
  }
};

struct Where {
  using cheap = void;
  static constexpr auto linear_in = "all";
  static constexpr auto name = "where";
  static constexpr int arity = 3;
  static constexpr auto doc = "x where the mask holds, else y. Partials 1 and 0 where the mask holds, else 0 and 1.";
  template <class M, class T> BURLAB_RULE T primal(M mask, T x, T y) { return select(mask, x, y); }
  template <int K, class M, class T> BURLAB_RULE T partial(M mask, T, T, T) {
    return K == 1 ? select(mask, T(1), T(0)) : select(mask, T(0), T(1));
  }
};

// clang-format off
#define BURLAB_MASK(Name, text, fact, formula, count, arguments, expression) \
  struct Name {                                                        \
    using no_derivative = void;                                        \
    using fact = void;                                                 \
    static constexpr auto name = text;                                 \
    static constexpr int arity = count;                                \
    static constexpr auto doc = formula " as a mask; no derivative.";  \
    template <class T> BURLAB_RULE auto primal arguments { return expression; } \
  }
BURLAB_MASK(Less, "less", cheap, "x < y", 2, (T x, T y), x < y);
BURLAB_MASK(LessEqual, "less_equal", cheap, "x <= y", 2, (T x, T y), x <= y);
BURLAB_MASK(Greater, "greater", cheap, "x > y", 2, (T x, T y), x > y);
BURLAB_MASK(GreaterEqual, "greater_equal", cheap, "x >= y", 2, (T x, T y), x >= y);
BURLAB_MASK(Equal, "equal", cheap, "x == y", 2, (T x, T y), x == y);
BURLAB_MASK(NotEqual, "not_equal", cheap, "x != y", 2, (T x, T y), x != y);
BURLAB_MASK(IsFinite, "isfinite", of_floats, "x neither infinite nor nan", 1, (T x), x - x == T(0));
BURLAB_MASK(IsNan, "isnan", of_floats, "x is nan", 1, (T x), x != x);
BURLAB_MASK(LogicalAnd, "logical_and", cheap, "x and y", 2, (T x, T y), both(x, y));
BURLAB_MASK(LogicalOr, "logical_or", cheap, "x or y", 2, (T x, T y), either(x, y));
BURLAB_MASK(LogicalNot, "logical_not", cheap, "not x", 1, (T x), negate(x));
#undef BURLAB_MASK
// clang-format on

}  // namespace burlab::ops
BURLAB_END
