#pragma once
// A number type that writes down what is computed with it: running an operation or its partial derivative on it gives
// the formula as text, for people to read and for Python to build graphs of. Rules are stated once, in the operation's
// struct.
#include <cstdio>
#include <string>
#include <type_traits>

#include "mask.hpp"

BURLAB_BEGIN
namespace burlab {

/// Text, and how tightly its outermost operation binds: what binds less than its surroundings gets parentheses.
struct Formula {
  enum Binding : int { Choice, Or, And, Not, Comparison, Sum, Product, Sign, Power, Atom };
  std::string text;
  Binding binding = Atom;

  Formula() = default;
  Formula(std::string words, Binding outermost) : text(static_cast<std::string&&>(words)), binding(outermost) {}
  explicit Formula(const char* name) : text(name) {}
  template <class S>
    requires std::is_arithmetic_v<S>
  explicit Formula(S c) : binding(c < 0 ? Sign : Atom) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17g", static_cast<double>(c < 0 ? -c : c));
    text = (c < 0 ? "-" : "") + std::string(digits);
  }
  std::string within(Binding least) const { return binding < least ? "(" + text + ")" : text; }
  Formula with(const char* operation, const Formula& y, Binding own, Binding right) const {
    return {within(own) + operation + y.within(right), own};
  }
};

/// What a comparison of formulas gives.
struct FormulaMask : Formula {};
template <>
inline constexpr bool is_mask<FormulaMask> = true;

inline Formula operator-(const Formula& x) { return {"-" + x.within(Formula::Sign), Formula::Sign}; }
inline Formula operator+(const Formula& x, const Formula& y) { return x.with(" + ", y, Formula::Sum, Formula::Sum); }
inline Formula operator-(const Formula& x, const Formula& y) {
  return x.with(" - ", y, Formula::Sum, Formula::Product);
}
inline Formula operator*(const Formula& x, const Formula& y) {
  if (x.text == y.text) return {x.within(Formula::Atom) + "**2", Formula::Power};
  return x.with(" * ", y, Formula::Product, Formula::Product);
}
inline Formula operator/(const Formula& x, const Formula& y) {
  return x.with(" / ", y, Formula::Product, Formula::Sign);
}
inline Formula select(const FormulaMask& mask, const Formula& yes, const Formula& no) {
  return {yes.within(Formula::Or) + " if " + mask.within(Formula::Or) + " else " + no.text, Formula::Choice};
}

#define BURLAB_FORMULA_CALL(name, word) \
  inline Formula name(const Formula& x) { return {word "(" + x.text + ")", Formula::Atom}; }
#define BURLAB_FORMULA_COMPARE(operation, word)                                       \
  inline FormulaMask operator operation(const Formula& x, const Formula& y) {         \
    return {{x.with(word, y, Formula::Sum, Formula::Sum).text, Formula::Comparison}}; \
  }
BURLAB_FORMULA_CALL(sqrt, "sqrt")
BURLAB_FORMULA_CALL(exp, "exp")
BURLAB_FORMULA_CALL(expm1, "expm1")
BURLAB_FORMULA_CALL(log, "log")
BURLAB_FORMULA_CALL(log1p, "log1p")
BURLAB_FORMULA_CALL(sin, "sin")
BURLAB_FORMULA_CALL(cos, "cos")
BURLAB_FORMULA_CALL(tan, "tan")
BURLAB_FORMULA_CALL(atan, "arctan")
BURLAB_FORMULA_CALL(sinh, "sinh")
BURLAB_FORMULA_CALL(cosh, "cosh")
BURLAB_FORMULA_CALL(tanh, "tanh")
BURLAB_FORMULA_CALL(atanh, "arctanh")
BURLAB_FORMULA_CALL(erf, "erf")
BURLAB_FORMULA_CALL(erfc, "erfc")
BURLAB_FORMULA_CALL(sigmoid, "sigmoid")
BURLAB_FORMULA_COMPARE(<, " < ")
BURLAB_FORMULA_COMPARE(<=, " <= ")
BURLAB_FORMULA_COMPARE(>, " > ")
BURLAB_FORMULA_COMPARE(>=, " >= ")
BURLAB_FORMULA_COMPARE(==, " == ")
BURLAB_FORMULA_COMPARE(!=, " != ")
#undef BURLAB_FORMULA_CALL
#undef BURLAB_FORMULA_COMPARE
inline Formula pow(const Formula& x, const Formula& y) {
  return {x.within(Formula::Atom) + "**" + y.within(Formula::Sign), Formula::Power};
}
inline Formula atan2(const Formula& y, const Formula& x) {
  return {"arctan2(" + y.text + ", " + x.text + ")", Formula::Atom};
}
template <class Op, class... Xs>
Formula through(Op, const Formula& x, const Xs&... xs) {
  return {std::string(Op::name) + "(" + (x.text + ... + (", " + xs.text)) + ")", Formula::Atom};
}
inline FormulaMask either(const FormulaMask& a, const FormulaMask& b) {
  return {{a.within(Formula::Or) + " or " + b.within(Formula::Or), Formula::Or}};
}
inline FormulaMask both(const FormulaMask& a, const FormulaMask& b) {
  return {{a.within(Formula::And) + " and " + b.within(Formula::And), Formula::And}};
}
inline FormulaMask is_zero(const Formula& x) { return x == Formula(0); }
inline FormulaMask negate(const FormulaMask& a) { return {{"not " + a.within(Formula::Not), Formula::Not}}; }

}  // namespace burlab
BURLAB_END
