#pragma once
// burlab::Value: write a formula, and it is recorded. The eager gear for C++.
#include <bit>

#include "record.hpp"
#include "sweep.hpp"

BURLAB_BEGIN
namespace burlab {

/// A number on a tape, or a constant: two words, passed in registers. It owns nothing: it is valid while its tape holds
/// its node. An unset value is neither. Operations on it, or on a value whose node the tape has dropped, have no value,
/// and set the error status of the tape. A constant is rounded to T.
template <class T> class ValueOf {
 public:
  BURLAB_ANYWHERE ValueOf() = default;
  /// A constant: it has no gradient and needs no tape.
  BURLAB_ANYWHERE ValueOf(double constant) : name_(std::bit_cast<std::uint64_t>(constant)) {}
  /// A new leaf on a tape.
  BURLAB_ANYWHERE ValueOf(TapeOf<T>& tape, double data) : ValueOf(&tape, tape.leaf(static_cast<T>(data))) {}
  /// The node with this number on a tape; for `no_node`, a value that is not held.
  BURLAB_ANYWHERE static ValueOf at(TapeOf<T>& tape, std::uint32_t index) { return ValueOf(&tape, index); }

  BURLAB_ANYWHERE TapeOf<T>* tape() const { return tape_; }
  /// Return true if the tape holds the node. (The name includes the number of renumberings, so one comparison is
  /// enough.)
  BURLAB_ANYWHERE bool held() const { return tape_ && name_ - tape_->numbering < tape_->nodes.size; }
  BURLAB_ANYWHERE bool is_constant() const { return !tape_ && name_ != nothing; }
  /// The number of the node; 0, which represents constants, if there is none.
  BURLAB_ANYWHERE std::uint32_t index() const { return tape_ ? static_cast<std::uint32_t>(name_) : 0; }
  BURLAB_ANYWHERE NodeOf<T>& node() const { return tape_->nodes[static_cast<std::uint32_t>(name_)]; }

  BURLAB_ANYWHERE T data() const {
    return held() ? node().value : static_cast<T>(is_constant() ? std::bit_cast<double>(name_) : __builtin_nan(""));
  }
  BURLAB_ANYWHERE T grad() const {
    return held() ? node().gradient : static_cast<T>(is_constant() ? 0 : __builtin_nan(""));
  }
  BURLAB_ANYWHERE void set_data(T x) const {
    if (held()) node().value = x;
  }
  /// Gradients of this value by everything that it depends on.
  Status backward(bool accumulate = false) const {
    if (!tape_) return is_constant() ? Ok : StaleValue;
    return tape_->backward(held() ? index() : no_node, accumulate);
  }

 private:
  static constexpr std::uint64_t nothing = ~std::uint64_t(0);
  BURLAB_ANYWHERE ValueOf(TapeOf<T>* tape, std::uint32_t index) : tape_(tape), name_(tape->numbering | index) {}

  TapeOf<T>* tape_ = nullptr;
  std::uint64_t name_ = nothing;  // the index and above it the tape's numbering, or the bits of the constant
};
using Value = ValueOf<double>;
using Value32 = ValueOf<float>;

/// Record any operation: with constant operands, a full tape, or operands of different tapes.
template <class T> BURLAB_NOINLINE ValueOf<T> record(std::uint32_t code, ValueOf<T> x, ValueOf<T> y) {
  TapeOf<T>* tape = x.tape() ? x.tape() : y.tape();
  const bool fit = (x.held() || x.is_constant()) && (y.held() || y.is_constant());
  if (!tape) return fit ? ValueOf<T>(evaluate(code, x.data(), y.data(), true, true).value) : ValueOf<T>();
  if (!fit) return ValueOf<T>::at(*tape, tape->fail(StaleValue));
  if (x.tape() && y.tape() && x.tape() != y.tape()) return ValueOf<T>::at(*tape, tape->fail(TwoTapes));
  return ValueOf<T>::at(*tape, tape->record(code, {x.index(), x.data()}, {y.index(), y.data()}));
}

/// Record a scalar operation of one or two values, or of a value and a constant: the fast paths.
template <Recordable Op, class T> BURLAB_ANYWHERE ValueOf<T> apply(ValueOf<T> x) {
  if (BURLAB_UNLIKELY(!x.held() || x.tape()->full())) return record(code_of<Op>, x, ValueOf<T>(0.0));
  return ValueOf<T>::at(*x.tape(), x.tape()->put(code_of<Op>, evaluate<Op>(x.node().value, T(0)), x.index(), 0));
}
template <Recordable Op, class T> BURLAB_ANYWHERE ValueOf<T> apply(ValueOf<T> x, ValueOf<T> y) {
  if (BURLAB_UNLIKELY(x.tape() != y.tape() || !x.held() || !y.held() || x.tape()->full()))
    return record(code_of<Op>, x, y);
  const OutcomeOf<T> z = evaluate<Op>(x.node().value, y.node().value);
  return ValueOf<T>::at(*x.tape(), x.tape()->put(code_of<Op>, z, x.index(), y.index()));
}
template <Recordable Op, class T> BURLAB_ANYWHERE ValueOf<T> apply(ValueOf<T> x, double y) {
  if (BURLAB_UNLIKELY(!x.held() || x.tape()->full())) return record(code_of<Op>, x, ValueOf<T>(y));
  const OutcomeOf<T> z = evaluate<Op>(x.node().value, static_cast<T>(y), true, false);
  return ValueOf<T>::at(*x.tape(), x.tape()->put(code_of<Op>, z, x.index(), 0));
}
template <Recordable Op, class T> BURLAB_ANYWHERE ValueOf<T> apply(double x, ValueOf<T> y) {
  if (BURLAB_UNLIKELY(!y.held() || y.tape()->full())) return record(code_of<Op>, ValueOf<T>(x), y);
  const OutcomeOf<T> z = evaluate<Op>(static_cast<T>(x), y.node().value, false, true);
  return ValueOf<T>::at(*y.tape(), y.tape()->put(code_of<Op>, z, 0, y.index()));
}

#define BURLAB_VALUE_OPERATOR(op, Op)                                                                                  \
  template <class T> BURLAB_ANYWHERE ValueOf<T> operator op(ValueOf<T> x, ValueOf<T> y) {                              \
    return apply<ops::Op>(x, y);                                                                                       \
  }                                                                                                                    \
  template <class T> BURLAB_ANYWHERE ValueOf<T> operator op(ValueOf<T> x, double y) { return apply<ops::Op>(x, y); }   \
  template <class T> BURLAB_ANYWHERE ValueOf<T> operator op(double x, ValueOf<T> y) { return apply<ops::Op>(x, y); }   \
  template <class T> BURLAB_ANYWHERE ValueOf<T>& operator op## = (ValueOf<T> & x, ValueOf<T> y) { return x = x op y; } \
  template <class T> BURLAB_ANYWHERE ValueOf<T>& operator op## = (ValueOf<T> & x, double y) { return x = x op y; }
BURLAB_VALUE_OPERATOR(+, Add)
BURLAB_VALUE_OPERATOR(-, Sub)
BURLAB_VALUE_OPERATOR(*, Mul)
BURLAB_VALUE_OPERATOR(/, Div)
#undef BURLAB_VALUE_OPERATOR
template <class T> BURLAB_ANYWHERE ValueOf<T> operator+(ValueOf<T> x) { return x; }
template <class T> BURLAB_ANYWHERE ValueOf<T> operator-(ValueOf<T> x) { return apply<ops::Neg>(x); }
template <class T> BURLAB_ANYWHERE ValueOf<T> square(ValueOf<T> x) { return apply<ops::Square>(x); }
template <class T> BURLAB_ANYWHERE ValueOf<T> cube(ValueOf<T> x) { return apply<ops::Cube>(x); }
/// Order is by data.
#define BURLAB_VALUE_COMPARISON(op)                                                   \
  BURLAB_ANYWHERE bool operator op(Value x, Value y) { return x.data() op y.data(); } \
  BURLAB_ANYWHERE bool operator op(Value32 x, Value32 y) { return x.data() op y.data(); }
BURLAB_VALUE_COMPARISON(<)
BURLAB_VALUE_COMPARISON(>)
BURLAB_VALUE_COMPARISON(<=)
BURLAB_VALUE_COMPARISON(>=)
#undef BURLAB_VALUE_COMPARISON

}  // namespace burlab
BURLAB_END
