#pragma once
// A number type that writes the C++ text of what is computed with it: generated code holds the formulas of operations
// and of their partial derivatives as their structs state them. Of floats, or of integers, which wrap around.
// {0}, {1} ... are the arguments, {T} is the number type and {U} the unsigned type in which integers wrap around.
#include <cstdio>
#include <string>
#include <type_traits>

#include "mask.hpp"
#include "whole.hpp"

BURLAB_BEGIN
namespace burlab {

/// How tightly the outermost operation of a text binds: what binds less than its surroundings gets parentheses.
enum class Binds : int { Choice, Or, Comparison, Sum, Product, Sign, Atom };

/// Text; calls: it would have to call a function, so that no formula is short; constant: it is a number.
struct Spelled {
  std::string text;
  Binds binds = Binds::Atom;
  bool calls = false, constant = false;
  std::string within(Binds least) const { return binds < least ? "(" + text + ")" : text; }
  Spelled with(const char* operation, const Spelled& y, Binds own, Binds right) const {
    return {within(own) + operation + y.within(right), own, calls || y.calls};
  }
};

/// What a comparison gives. known: it is false of every integer; stored: a mask that an array holds.
struct SpelledMask : Spelled {
  bool never = false, stored = false;
};
template <>
inline constexpr bool is_mask<SpelledMask> = true;

/// An integer of an unsigned type, or of the type that C++ promotes it to: `Spelling<true>` cuts it to its own type.
struct SpelledRing;

template <bool Whole>
struct Spelling : Spelled {
  Spelling() = default;
  explicit Spelling(Spelled given) : Spelled(static_cast<Spelled&&>(given)) {}
  explicit Spelling(const SpelledRing& wide);
  template <class S>
    requires std::is_arithmetic_v<S>
  explicit Spelling(S c) {
    const long whole = static_cast<long>(c);
    text = std::to_string(whole < 0 ? -whole : whole);
    if (static_cast<double>(whole) == static_cast<double>(c)) {
      constant = true;
      if (c < S(0)) text = "-" + text, binds = Binds::Sign;
    } else {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.17g", static_cast<double>(c));
      text = "{T}(" + std::string(digits) + ")";
    }
  }
};

struct SpelledRing : Spelled {
  explicit SpelledRing(Spelled given) : Spelled(static_cast<Spelled&&>(given)) {}
  explicit SpelledRing(int c) : Spelled{"{U}(" + std::to_string(c) + ")"} {}
  /// What was cut to its own type is not cut before it wraps around once more: the lowest bits are the same.
  explicit SpelledRing(const Spelling<true>& x) : Spelled(x) {
    if (text.rfind("{T}(", 0) == 0) text = text.substr(4, text.size() - 5), binds = Binds::Product;
    else text = "{U}(" + text + ")", binds = Binds::Atom;
  }
};
template <bool Whole>
Spelling<Whole>::Spelling(const SpelledRing& wide) : Spelled{"{T}(" + wide.text + ")"} {}
template <>
inline constexpr bool wraps<Spelling<true>> = true;
template <>
struct RingOf<Spelling<true>> {
  using type = SpelledRing;
};
template <>
inline constexpr bool has_fabs<Spelling<false>> = true;

#define BURLAB_SPELLED(operation, own, right)                                         \
  template <bool W>                                                                   \
  Spelling<W> operator operation(const Spelling<W>& x, const Spelling<W>& y) {        \
    return Spelling<W>(x.with(" " #operation " ", y, Binds::own, Binds::right));      \
  }                                                                                   \
  inline SpelledRing operator operation(const SpelledRing& x, const SpelledRing& y) { \
    return SpelledRing(x.with(" " #operation " ", y, Binds::own, Binds::right));      \
  }
BURLAB_SPELLED(+, Sum, Sum)
BURLAB_SPELLED(-, Sum, Product)
BURLAB_SPELLED(*, Product, Sign)
BURLAB_SPELLED(/, Product, Sign)
#undef BURLAB_SPELLED
#define BURLAB_SPELLED(operation)                                                           \
  inline SpelledRing operator operation(const Spelling<true>& x, const Spelling<true>& y) { \
    return SpelledRing(x.with(" " #operation " ", y, Binds::Or, Binds::Or));                \
  }
BURLAB_SPELLED(&)
BURLAB_SPELLED(|)
BURLAB_SPELLED(^)
#undef BURLAB_SPELLED
inline SpelledRing operator~(const Spelling<true>& x) { return SpelledRing(Spelled{"~" + x.text}); }
template <bool W>
Spelling<W> operator-(const Spelling<W>& x) {
  return Spelling<W>(Spelled{"-" + x.within(Binds::Sign), Binds::Sign, x.calls});
}
#define BURLAB_SPELLED(operation)                                              \
  template <bool W>                                                            \
  SpelledMask operator operation(const Spelling<W>& x, const Spelling<W>& y) { \
    return {x.with(" " #operation " ", y, Binds::Comparison, Binds::Sum),      \
            W && std::string(#operation) == "!=" && x.text == y.text};         \
  }
BURLAB_SPELLED(<)
BURLAB_SPELLED(<=)
BURLAB_SPELLED(>)
BURLAB_SPELLED(>=)
BURLAB_SPELLED(==)
BURLAB_SPELLED(!=)
#undef BURLAB_SPELLED

/// What a choice names has a type: {T}(1), not 1.
template <bool W>
Spelled typed(const Spelling<W>& x) {
  return x.constant ? Spelled{"{T}(" + x.text + ")"} : static_cast<const Spelled&>(x);
}
template <bool W>
Spelling<W> select(const SpelledMask& mask, const Spelling<W>& yes, const Spelling<W>& no) {
  const Spelled a = typed(yes), b = typed(no);
  return Spelling<W>(Spelled{mask.text + " ? " + a.within(Binds::Or) + " : " + b.text, Binds::Choice,
                             mask.calls || a.calls || b.calls});
}
inline SpelledMask joined(const char* stored, const char* compared, const SpelledMask& a, const SpelledMask& b) {
  if (b.never) return a;
  return {a.with(a.stored && b.stored ? stored : compared, b, Binds::Or, Binds::Or)};
}
inline SpelledMask either(const SpelledMask& a, const SpelledMask& b) { return joined(" | ", " || ", a, b); }
inline SpelledMask both(const SpelledMask& a, const SpelledMask& b) { return joined(" & ", " && ", a, b); }
inline SpelledMask negate(const SpelledMask& a) { return {Spelled{"!" + a.text}}; }

inline Spelling<false> sqrt(const Spelling<false>& x) {
  return Spelling<false>(Spelled{"burlab_sqrt{suffix}(" + x.text + ")", Binds::Atom, x.calls});
}
inline Spelling<false> fabs(const Spelling<false>& x) {
  return Spelling<false>(Spelled{"std::fabs(" + x.text + ")", Binds::Atom, x.calls});
}
template <bool W>
Spelling<W> called() {
  return Spelling<W>(Spelled{"", Binds::Atom, true});
}
#define BURLAB_SPELLED(name)             \
  template <bool W>                      \
  Spelling<W> name(const Spelling<W>&) { \
    return called<W>();                  \
  }
BURLAB_SPELLED(exp)
BURLAB_SPELLED(expm1)
BURLAB_SPELLED(log)
BURLAB_SPELLED(log1p)
BURLAB_SPELLED(sin)
BURLAB_SPELLED(cos)
BURLAB_SPELLED(tan)
BURLAB_SPELLED(atan)
BURLAB_SPELLED(sinh)
BURLAB_SPELLED(cosh)
BURLAB_SPELLED(tanh)
BURLAB_SPELLED(atanh)
BURLAB_SPELLED(erf)
BURLAB_SPELLED(erfc)
BURLAB_SPELLED(sigmoid)
#undef BURLAB_SPELLED
template <bool W>
Spelling<W> pow(const Spelling<W>&, const Spelling<W>&) {
  return called<W>();
}
template <bool W>
Spelling<W> atan2(const Spelling<W>&, const Spelling<W>&) {
  return called<W>();
}
template <class Op, bool W, class... Xs>
Spelling<W> through(Op, const Spelling<W>&, const Xs&...) {
  return called<W>();
}

}  // namespace burlab
BURLAB_END
