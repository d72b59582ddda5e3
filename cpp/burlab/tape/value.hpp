#pragma once
// burlab::Value: write a formula, and it is recorded. The eager gear for C++.
#include <bit>

#include "record.hpp"
#include "sweep.hpp"

BURLAB_BEGIN
namespace burlab {

/// A number on a tape, or a constant: two words, passed in registers. It owns nothing: it is valid while its tape holds
/// its node. An unset value is neither. Operations on it, or on a value whose node the tape has dropped, have no value,
/// and set the error status of the tape.
class Value {
 public:
  BURLAB_ANYWHERE Value() = default;
  /// A constant: it has no gradient and needs no tape.
  BURLAB_ANYWHERE Value(double constant) : name_(std::bit_cast<std::uint64_t>(constant)) {}
  /// A new leaf on a tape.
  BURLAB_ANYWHERE Value(Tape& tape, double data) : Value(&tape, tape.leaf(data)) {}
  /// The node with this number on a tape; for `no_node`, a value that is not held.
  BURLAB_ANYWHERE static Value at(Tape& tape, std::uint32_t index) { return Value(&tape, index); }

  BURLAB_ANYWHERE Tape* tape() const { return tape_; }
  /// Return true if the tape holds the node. (The name includes the number of renumberings, so one comparison is
  /// enough.)
  BURLAB_ANYWHERE bool held() const { return tape_ && name_ - tape_->numbering < tape_->nodes.size; }
  BURLAB_ANYWHERE bool is_constant() const { return !tape_ && name_ != nothing; }
  /// The number of the node; 0, which represents constants, if there is none.
  BURLAB_ANYWHERE std::uint32_t index() const { return tape_ ? static_cast<std::uint32_t>(name_) : 0; }
  BURLAB_ANYWHERE Node& node() const { return tape_->nodes[static_cast<std::uint32_t>(name_)]; }

  BURLAB_ANYWHERE double data() const {
    return held() ? node().value : is_constant() ? std::bit_cast<double>(name_) : __builtin_nan("");
  }
  BURLAB_ANYWHERE double grad() const { return held() ? node().gradient : is_constant() ? 0 : __builtin_nan(""); }
  BURLAB_ANYWHERE void set_data(double x) const {
    if (held()) node().value = x;
  }
  /// Gradients of this value by everything that it depends on.
  Status backward(bool accumulate = false) const {
    if (!tape_) return is_constant() ? Ok : StaleValue;
    return tape_->backward(held() ? index() : no_node, accumulate);
  }

 private:
  static constexpr std::uint64_t nothing = ~std::uint64_t(0);
  BURLAB_ANYWHERE Value(Tape* tape, std::uint32_t index) : tape_(tape), name_(tape->numbering | index) {}

  Tape* tape_ = nullptr;
  std::uint64_t name_ = nothing;  // the index and above it the tape's numbering, or the bits of the constant
};

/// Record any operation: with constant operands, a full tape, or operands of different tapes.
BURLAB_NOINLINE Value record(std::uint32_t code, Value x, Value y) {
  Tape* tape = x.tape() ? x.tape() : y.tape();
  const bool fit = (x.held() || x.is_constant()) && (y.held() || y.is_constant());
  if (!tape) return fit ? Value(evaluate(code, x.data(), y.data(), true, true).value) : Value();
  if (!fit) return Value::at(*tape, tape->fail(StaleValue));
  if (x.tape() && y.tape() && x.tape() != y.tape()) return Value::at(*tape, tape->fail(TwoTapes));
  return Value::at(*tape, tape->record(code, {x.index(), x.data()}, {y.index(), y.data()}));
}

/// Record a scalar operation of one or two values, or of a value and a constant: the fast paths.
template <Recordable Op>
BURLAB_ANYWHERE Value apply(Value x) {
  if (BURLAB_UNLIKELY(!x.held() || x.tape()->full())) return record(code_of<Op>, x, 0.0);
  return Value::at(*x.tape(), x.tape()->put(code_of<Op>, evaluate<Op>(x.node().value, 0), x.index(), 0));
}
template <Recordable Op>
BURLAB_ANYWHERE Value apply(Value x, Value y) {
  if (BURLAB_UNLIKELY(x.tape() != y.tape() || !x.held() || !y.held() || x.tape()->full()))
    return record(code_of<Op>, x, y);
  const Outcome z = evaluate<Op>(x.node().value, y.node().value);
  return Value::at(*x.tape(), x.tape()->put(code_of<Op>, z, x.index(), y.index()));
}
template <Recordable Op>
BURLAB_ANYWHERE Value apply(Value x, double y) {
  if (BURLAB_UNLIKELY(!x.held() || x.tape()->full())) return record(code_of<Op>, x, y);
  return Value::at(*x.tape(), x.tape()->put(code_of<Op>, evaluate<Op>(x.node().value, y, true, false), x.index(), 0));
}
template <Recordable Op>
BURLAB_ANYWHERE Value apply(double x, Value y) {
  if (BURLAB_UNLIKELY(!y.held() || y.tape()->full())) return record(code_of<Op>, x, y);
  return Value::at(*y.tape(), y.tape()->put(code_of<Op>, evaluate<Op>(x, y.node().value, false, true), 0, y.index()));
}

#define BURLAB_VALUE_OPERATOR(op, Op)                                                   \
  BURLAB_ANYWHERE Value operator op(Value x, Value y) { return apply<ops::Op>(x, y); }  \
  BURLAB_ANYWHERE Value operator op(Value x, double y) { return apply<ops::Op>(x, y); } \
  BURLAB_ANYWHERE Value operator op(double x, Value y) { return apply<ops::Op>(x, y); } \
  BURLAB_ANYWHERE Value& operator op## = (Value & x, Value y) { return x = x op y; }
BURLAB_VALUE_OPERATOR(+, Add)
BURLAB_VALUE_OPERATOR(-, Sub)
BURLAB_VALUE_OPERATOR(*, Mul)
BURLAB_VALUE_OPERATOR(/, Div)
#undef BURLAB_VALUE_OPERATOR
BURLAB_ANYWHERE Value operator+(Value x) { return x; }
BURLAB_ANYWHERE Value operator-(Value x) { return apply<ops::Neg>(x); }
BURLAB_ANYWHERE Value square(Value x) { return apply<ops::Square>(x); }
BURLAB_ANYWHERE Value cube(Value x) { return apply<ops::Cube>(x); }
/// Order is by data.
BURLAB_ANYWHERE bool operator<(Value x, Value y) { return x.data() < y.data(); }
BURLAB_ANYWHERE bool operator>(Value x, Value y) { return x.data() > y.data(); }
BURLAB_ANYWHERE bool operator<=(Value x, Value y) { return x.data() <= y.data(); }
BURLAB_ANYWHERE bool operator>=(Value x, Value y) { return x.data() >= y.data(); }

}  // namespace burlab
BURLAB_END
