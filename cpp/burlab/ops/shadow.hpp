#pragma once
// The errors of results, f(x + dx) - z: what `bl.digits` follows beside each number. Floats go through double.
#include "../numbers/shadow.hpp"
#include "call.hpp"
#include "table.hpp"

BURLAB_BEGIN
namespace burlab::ops {

// clang-format off
#define BURLAB_ERROR_OF_TWO(Name, text, symbol, formula, function, by_x, by_y)                                   \
  struct Name {                                                                                                  \
    using of_floats = void;                                                                                      \
    using own_lanes = void;                                                                                      \
    static constexpr auto name = text;                                                                           \
    static constexpr int arity = 5;                                                                              \
    static constexpr auto doc = "(x + dx) " symbol " (y + dy) - z, to some 100 bits of z; arguments x, dx, y, dy, z. " \
        "Partials by x and dx, and by y and dy, those of the " formula ", by z -1.";                             \
    template <class T> BURLAB_RULE T primal(T x, T dx, T y, T dy, T z) { return call<Name>(x, dx, y, dy, z); }   \
    template <class T> BURLAB_RULE T number(T x, T dx, T y, T dy, T z) {                                         \
      return static_cast<T>(math::function(double(x), double(dx), double(y), double(dy), double(z)));            \
    }                                                                                                            \
    template <int K, class T> BURLAB_RULE T partial(T x, T dx, T y, T dy, T, T) {                                \
      [[maybe_unused]] const T a = x + dx, b = y + dy;                                                           \
      if constexpr (K == 4) return T(-1);                                                                        \
      else if constexpr (K < 2) return by_x;                                                                     \
      else return by_y;                                                                                          \
    }                                                                                                            \
  }
BURLAB_ERROR_OF_TWO(SumError, "sum_error", "+", "sum", sum_error, T(1), T(1));
BURLAB_ERROR_OF_TWO(ProductError, "product_error", "*", "product", product_error, b, a);
BURLAB_ERROR_OF_TWO(QuotientError, "quotient_error", "/", "quotient", quotient_error, T(1) / b, -(a / (b * b)));
#undef BURLAB_ERROR_OF_TWO

#define BURLAB_ERROR_OF(Name, text, formula, function, by_x)                                                     \
  struct Name {                                                                                                  \
    using of_floats = void;                                                                                      \
    using own_lanes = void;                                                                                      \
    static constexpr auto name = text;                                                                           \
    static constexpr int arity = 3;                                                                              \
    static constexpr auto doc = formula " - z, to some 100 bits of z; arguments x, dx, z. Partials by x and dx " \
        "those of the function, by z -1.";                                                                       \
    template <class T> BURLAB_RULE T primal(T x, T dx, T z) { return call<Name>(x, dx, z); }                     \
    template <class T> BURLAB_RULE T number(T x, T dx, T z) {                                                    \
      return static_cast<T>(math::function(double(x), double(dx), double(z)));                                   \
    }                                                                                                            \
    template <int K, class T> BURLAB_RULE T partial(T x, T dx, T, T) {                                           \
      using std::exp, std::sin, std::cos;                                                                        \
      if constexpr (K == 2) return T(-1);                                                                        \
      else return by_x;                                                                                          \
    }                                                                                                            \
  }
BURLAB_ERROR_OF(ExpError, "exp_error", "e^(x + dx)", exp_error, exp(x + dx));
BURLAB_ERROR_OF(Expm1Error, "expm1_error", "e^(x + dx) - 1", expm1_error, exp(x + dx));
BURLAB_ERROR_OF(SinError, "sin_error", "sin(x + dx)", sin_error, cos(x + dx));
BURLAB_ERROR_OF(CosError, "cos_error", "cos(x + dx)", cos_error, -sin(x + dx));
#undef BURLAB_ERROR_OF
// clang-format on

using Shadow = List<SumError, ProductError, QuotientError, ExpError, Expm1Error, SinError, CosError>;

}  // namespace burlab::ops
BURLAB_END
