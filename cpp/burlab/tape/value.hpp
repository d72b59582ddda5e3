#pragma once
// burlab::Value: write a formula, and it is recorded. The eager gear for C++.
#include "record.hpp"
#include "sweep.hpp"

BURLAB_BEGIN
namespace burlab {

/// A number on a tape: two words, passed in registers. It owns nothing: it is good as long as its tape holds its node.
class Value {
 public:
  Value() = default;
  /// A new leaf on a tape.
  BURLAB_INLINE Value(Tape& tape, double data) : Value(&tape, tape.leaf(data)) {}
  /// The node with this number on a tape; `no_node` gives a value that is not held.
  BURLAB_INLINE static Value at(Tape& tape, std::uint32_t index) { return Value(&tape, index); }

  /// Whether the tape still holds the node. What is done to a value that is not held is an error on the tape's status.
  BURLAB_INLINE bool held() const { return tape_ && name_ - tape_->numbering < tape_->nodes.size; }
  BURLAB_INLINE Tape* tape() const { return tape_; }
  BURLAB_INLINE std::uint32_t index() const { return static_cast<std::uint32_t>(name_); }
  BURLAB_INLINE Node& node() const { return tape_->nodes[index()]; }
  BURLAB_INLINE double data() const { return held() ? tape_->nodes[index()].value : __builtin_nan(""); }
  BURLAB_INLINE double grad() const { return held() ? tape_->nodes[index()].gradient : __builtin_nan(""); }
  BURLAB_INLINE void set_data(double x) const {
    if (held()) tape_->nodes[index()].value = x;
  }
  /// Gradients of this value by everything that it depends on.
  Status backward(bool accumulate = false) const {
    if (!tape_) return StaleValue;
    return tape_->backward(held() ? index() : no_node, accumulate);
  }

  /// What stands in the place of a constant operand.
  BURLAB_INLINE static Value constant() {
    Value none;
    none.name_ = 0;
    return none;
  }
  BURLAB_INLINE bool is_constant() const { return !tape_ && name_ == 0; }

 private:
  BURLAB_INLINE Value(Tape* tape, std::uint32_t index) : tape_(tape), name_(tape->numbering | index) {}

  Tape* tape_ = nullptr;
  std::uint64_t name_ = no_node;  // the numbering of the tape when it was recorded, and the index
};

/// Everything out of the ordinary: a full tape grows; operands that do not fit together have no value, and the tape
/// remembers why. An operand may be a constant: then `Value::constant()` stands in its place.
BURLAB_NOINLINE Value record_slowly(std::uint32_t code, Value x, Value y, double x_constant = 0,
                                    double y_constant = 0) {
  Tape* tape = x.tape() ? x.tape() : y.tape();
  if (!tape) return {};
  if (!(x.held() || x.is_constant()) || !(y.held() || y.is_constant())) return Value::at(*tape, tape->fail(StaleValue));
  if (x.tape() && y.tape() && x.tape() != y.tape()) return Value::at(*tape, tape->fail(TwoTapes));
  const Operand a{x.index(), x.is_constant() ? x_constant : x.node().value};
  const Operand b{y.index(), y.is_constant() ? y_constant : y.node().value};
  return Value::at(*tape, tape->record(code, a, b));
}

/// Record a scalar operation of one or two values, or of a value and a constant.
template <Recordable Op>
BURLAB_INLINE Value apply(Value x) {
  if (BURLAB_UNLIKELY(!x.held() || x.tape()->full())) return record_slowly(code_of<Op>, x, Value::constant());
  return Value::at(*x.tape(), x.tape()->put(code_of<Op>, evaluate<Op>(x.node().value, 0), x.index(), 0));
}
template <Recordable Op>
BURLAB_INLINE Value apply(Value x, Value y) {
  if (BURLAB_UNLIKELY(x.tape() != y.tape() || !x.held() || !y.held() || x.tape()->full()))
    return record_slowly(code_of<Op>, x, y);
  return Value::at(*x.tape(),
                   x.tape()->put(code_of<Op>, evaluate<Op>(x.node().value, y.node().value), x.index(), y.index()));
}
template <Recordable Op>
BURLAB_INLINE Value apply(Value x, double y) {
  if (BURLAB_UNLIKELY(!x.held() || x.tape()->full())) return record_slowly(code_of<Op>, x, Value::constant(), 0, y);
  return Value::at(*x.tape(), x.tape()->put(code_of<Op>, evaluate<Op>(x.node().value, y, true, false), x.index(), 0));
}
template <Recordable Op>
BURLAB_INLINE Value apply(double x, Value y) {
  if (BURLAB_UNLIKELY(!y.held() || y.tape()->full())) return record_slowly(code_of<Op>, Value::constant(), y, x);
  return Value::at(*y.tape(), y.tape()->put(code_of<Op>, evaluate<Op>(x, y.node().value, false, true), 0, y.index()));
}

#define BURLAB_VALUE_BINARY(name, Op)                                          \
  BURLAB_INLINE Value name(Value x, Value y) { return apply<ops::Op>(x, y); }  \
  BURLAB_INLINE Value name(Value x, double y) { return apply<ops::Op>(x, y); } \
  BURLAB_INLINE Value name(double x, Value y) { return apply<ops::Op>(x, y); }
#define BURLAB_VALUE_UNARY(name, Op) \
  BURLAB_INLINE Value name(Value x) { return apply<ops::Op>(x); }
BURLAB_VALUE_BINARY(operator+, Add)
BURLAB_VALUE_BINARY(operator-, Sub)
BURLAB_VALUE_BINARY(operator*, Mul)
BURLAB_VALUE_BINARY(operator/, Div)
BURLAB_VALUE_UNARY(operator-, Neg)
BURLAB_VALUE_UNARY(square, Square)
BURLAB_VALUE_UNARY(cube, Cube)

}  // namespace burlab
BURLAB_END
