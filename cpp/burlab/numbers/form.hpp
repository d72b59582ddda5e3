#pragma once
// A number type that only remembers what it is: a constant, an argument, or something that must be computed. Running a
// partial derivative on it tells the graph which partials need no arithmetic: those of x + y are 1, those of x * y are y
// and x. On dual numbers of this type it tells which second derivatives vanish.
#include <type_traits>

#include "mask.hpp"

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
  constexpr bool is(double c) const { return kind == Constant && value == c; }
  constexpr bool same(Form other) const {
    return kind != Computed && kind == other.kind && value == other.value && index == other.index;
  }
};

/// What a comparison of forms gives: known to be a mask, and no more.
struct FormMask {};
template <>
inline constexpr bool is_mask<FormMask> = true;

constexpr Form operator-(Form x) { return x.kind == Form::Constant ? Form(-x.value) : Form(); }
constexpr Form operator+(Form x, Form y) {
  if (x.is(0)) return y;
  if (y.is(0)) return x;
  return x.kind == Form::Constant && y.kind == Form::Constant ? Form(x.value + y.value) : Form();
}
constexpr Form operator-(Form x, Form y) {
  if (x.is(0)) return -y;
  if (y.is(0)) return x;
  return x.kind == Form::Constant && y.kind == Form::Constant ? Form(x.value - y.value) : Form();
}
constexpr Form operator*(Form x, Form y) {
  if (x.is(0) || y.is(0)) return Form(0);
  if (x.is(1)) return y;
  if (y.is(1)) return x;
  return x.kind == Form::Constant && y.kind == Form::Constant ? Form(x.value * y.value) : Form();
}
constexpr Form operator/(Form x, Form y) { return x.is(0) ? Form(0) : y.is(1) ? x : Form(); }
constexpr Form select(FormMask, Form x, Form y) { return x.same(y) ? x : Form(); }

#define BURLAB_FORM_UNARY(name) \
  constexpr Form name(Form) { return {}; }
#define BURLAB_FORM_COMPARE(name) \
  constexpr FormMask name(Form, Form) { return {}; }
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
BURLAB_FORM_COMPARE(operator<)
BURLAB_FORM_COMPARE(operator<=)
BURLAB_FORM_COMPARE(operator>)
BURLAB_FORM_COMPARE(operator>=)
BURLAB_FORM_COMPARE(operator==)
BURLAB_FORM_COMPARE(operator!=)
#undef BURLAB_FORM_UNARY
#undef BURLAB_FORM_COMPARE
constexpr Form pow(Form, Form) { return {}; }
constexpr Form atan2(Form, Form) { return {}; }
constexpr FormMask is_zero(Form) { return {}; }
constexpr FormMask either(FormMask, FormMask) { return {}; }
constexpr FormMask both(FormMask, FormMask) { return {}; }
constexpr FormMask negate(FormMask) { return {}; }

}  // namespace burlab
BURLAB_END
