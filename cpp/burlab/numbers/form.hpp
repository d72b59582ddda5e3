#pragma once
// A number type that only remembers what it is: a constant, an argument, or something computed, and from which
// arguments. Running a partial derivative on it tells the graph which partials need no arithmetic (those of x + y are
// 1, those of x * y are y and x) and which arguments the others read (1 - y^2 needs the result of tanh, not its
// argument). On dual numbers of this type it tells which second derivatives vanish.
#include <type_traits>

#include "mask.hpp"

BURLAB_BEGIN
namespace burlab {

/// What a comparison of forms gives: a mask, made from the arguments in the bits of `reads`.
struct FormMask {
  unsigned reads = 0;
};
template <>
inline constexpr bool is_mask<FormMask> = true;

/// Mirrored in Python.
struct Form {
  enum Kind : int { Computed, Constant, Argument };
  Kind kind = Computed;
  double value = 0;    // of a constant
  int index = 0;       // of an argument
  unsigned reads = 0;  // bit k: argument k enters
  constexpr Form() = default;
  template <class S>
    requires std::is_arithmetic_v<S>
  constexpr explicit Form(S c) : kind(Constant), value(static_cast<double>(c)) {}
  static constexpr Form argument(int k) {
    Form form;
    form.kind = Argument;
    form.index = k;
    form.reads = 1u << k;
    return form;
  }
  static constexpr Form computed(unsigned reads) {
    Form form;
    form.reads = reads;
    return form;
  }
  constexpr bool is(double c) const { return kind == Constant && value == c; }
  constexpr bool same(Form other) const {
    return kind != Computed && kind == other.kind && value == other.value && index == other.index;
  }
};

constexpr bool constants(Form x, Form y) { return x.kind == Form::Constant && y.kind == Form::Constant; }

/// Whether a form is `kUnknown` or made of it: the constant that no partial is which has a rule.
constexpr bool is_unknown(Form x) { return x.kind == Form::Constant && x.value != x.value; }

constexpr Form operator-(Form x) { return x.kind == Form::Constant ? Form(-x.value) : Form::computed(x.reads); }
constexpr Form operator+(Form x, Form y) {
  if (x.is(0)) return y;
  if (y.is(0)) return x;
  if (is_unknown(x) || is_unknown(y)) return Form(kUnknown);
  return constants(x, y) ? Form(x.value + y.value) : Form::computed(x.reads | y.reads);
}
constexpr Form operator-(Form x, Form y) {
  if (x.is(0)) return -y;
  if (y.is(0)) return x;
  if (is_unknown(x) || is_unknown(y)) return Form(kUnknown);
  return constants(x, y) ? Form(x.value - y.value) : Form::computed(x.reads | y.reads);
}
constexpr Form operator*(Form x, Form y) {
  if (x.is(0) || y.is(0)) return Form(0);
  if (x.is(1)) return y;
  if (y.is(1)) return x;
  if (is_unknown(x) || is_unknown(y)) return Form(kUnknown);
  return constants(x, y) ? Form(x.value * y.value) : Form::computed(x.reads | y.reads);
}
constexpr Form operator/(Form x, Form y) {
  if (is_unknown(x) || is_unknown(y)) return Form(kUnknown);
  return x.is(0) ? Form(0) : y.is(1) ? x : Form::computed(x.reads | y.reads);
}
constexpr Form select(FormMask mask, Form x, Form y) {
  return x.same(y) ? x : Form::computed(mask.reads | x.reads | y.reads);
}

#define BURLAB_FORM_UNARY(name) \
  constexpr Form name(Form x) { return Form::computed(x.reads); }
#define BURLAB_FORM_COMPARE(name) \
  constexpr FormMask name(Form x, Form y) { return {x.reads | y.reads}; }
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
constexpr Form pow(Form x, Form y) { return Form::computed(x.reads | y.reads); }
constexpr Form atan2(Form y, Form x) { return Form::computed(x.reads | y.reads); }
template <class Op, class... Forms>
constexpr Form through(Op, Form x, Forms... xs) {
  return Form::computed((x.reads | ... | xs.reads));
}
constexpr Form derived_with(Form value, Form other) { return Form::computed(value.reads | other.reads); }
constexpr FormMask is_zero(Form x) { return {x.reads}; }
constexpr Form unknown_along(Form tangent) { return tangent.is(0) ? tangent : Form(kUnknown); }
template <>
inline constexpr bool knows_zeros<Form> = true;
constexpr FormMask either(FormMask a, FormMask b) { return {a.reads | b.reads}; }
constexpr FormMask both(FormMask a, FormMask b) { return {a.reads | b.reads}; }
constexpr FormMask negate(FormMask a) { return a; }

}  // namespace burlab
BURLAB_END
