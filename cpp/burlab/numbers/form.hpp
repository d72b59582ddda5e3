#pragma once
// A number type that only remembers what it is: a constant, an argument, or something that must be computed. Running a
// partial derivative on it tells the graph which partials need no arithmetic: those of x + y are 1, those of x * y are y and x.
#include <type_traits>

#include "simd.hpp"

BURLAB_BEGIN
namespace burlab {

struct Form {
  enum Kind : int { Computed, Constant, Argument };
  Kind kind = Computed;
  double value = 0;  // of a constant
  int index = 0;     // of an argument
  constexpr Form() = default;
  template <class S>
    requires std::is_arithmetic_v<S>
  constexpr explicit Form(S c) : kind(Constant), value(static_cast<double>(c)) {}
  static constexpr Form argument(int k) {
    Form form;
    form.kind = Argument;
    form.index = k;
    return form;
  }
};

#define BURLAB_FORM(name) \
  constexpr Form name(Form, Form) { return {}; }
#define BURLAB_FORM_UNARY(name) \
  constexpr Form name(Form) { return {}; }
BURLAB_FORM(operator+)
BURLAB_FORM(operator-)
BURLAB_FORM(operator*)
BURLAB_FORM(operator/)
BURLAB_FORM(operator<)
BURLAB_FORM(operator<=)
BURLAB_FORM(operator>)
BURLAB_FORM(operator>=)
BURLAB_FORM(operator==)
BURLAB_FORM(operator!=)
BURLAB_FORM(pow)
BURLAB_FORM(atan2)
BURLAB_FORM(either)
BURLAB_FORM(both)
BURLAB_FORM_UNARY(negate)
BURLAB_FORM_UNARY(operator-)
BURLAB_FORM_UNARY(sqrt)
BURLAB_FORM_UNARY(exp)
BURLAB_FORM_UNARY(expm1)
BURLAB_FORM_UNARY(log)
BURLAB_FORM_UNARY(log1p)
BURLAB_FORM_UNARY(sin)
BURLAB_FORM_UNARY(cos)
BURLAB_FORM_UNARY(tan)
BURLAB_FORM_UNARY(atan)
BURLAB_FORM_UNARY(sinh)
BURLAB_FORM_UNARY(cosh)
BURLAB_FORM_UNARY(tanh)
BURLAB_FORM_UNARY(erf)
BURLAB_FORM_UNARY(erfc)
#undef BURLAB_FORM
#undef BURLAB_FORM_UNARY
constexpr Form select(Form, Form, Form) { return {}; }

}  // namespace burlab
BURLAB_END
