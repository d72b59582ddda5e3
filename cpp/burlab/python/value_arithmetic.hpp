#pragma once
// Arithmetic of Values. Two Values take a fast path; everything else (a constant, a subclass, an error) takes one path
// for all operations, because each function costs the just-in-time compiler a millisecond or two.
#include "value_object.hpp"

BURLAB_BEGIN
namespace burlab::eager {

/// The operations that are compiled with the type; the others come with tools.hpp, at their first use.
using AtHand = ops::List<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::Power, ops::Neg, ops::Square, ops::Cube,
                         ops::Relu, ops::Tanh, ops::Exp, ops::Log>;
template <class... Ops>
constexpr std::uint64_t mask_of(ops::List<Ops...>) {
  return ((std::uint64_t(1) << code_of<Ops>) | ...);
}

/// Load the operation with this code. May run Python, so call it before any node is read.
BURLAB_INLINE bool ready(std::uint32_t code) {
  if (BURLAB_LIKELY(mask_of(AtHand{}) >> code & 1) || environment.evaluate) return true;
  PyObject* loaded = PyObject_CallNoArgs(environment.load_tools);
  release(loaded);
  return loaded != nullptr;
}

/// Read a real number: 1 and `*x`, or 0 if the object is none, or -1 with an exception set. May run Python.
BURLAB_COLD int number_slowly(PyObject* object, double* x) {
  if (!PyFloat_Check(object) && !PyLong_Check(object)) {
    const int known = is_value(object) ? 0 : PyObject_IsInstance(object, environment.number_types);
    if (known <= 0) return known;
  }
  *x = PyFloat_AsDouble(object);
  if (*x != -1 || !PyErr_Occurred()) return 1;
  if (PyErr_ExceptionMatches(PyExc_OverflowError))
    fail(environment.type_error,
         "a Value holds numbers up to 1.8e308, the largest float64, but a larger %.100s came. "
         "Pass a smaller number, its logarithm, or float('inf').",
         object->ob_type->tp_name);
  return -1;
}
BURLAB_INLINE int number(PyObject* object, double* x) {
  if (object->ob_type == &PyFloat_Type) return *x = reinterpret_cast<PyFloatObject*>(object)->ob_fval, 1;
  if (object->ob_type == &PyLong_Type && (*x = PyLong_AsDouble(object)) != -1) return 1;
  return number_slowly(object, x);
}

/// Record an operation, on a tape that is not full.
BURLAB_NOINLINE PyObject* record(TapeObject* tape, std::uint32_t code, Operand x, Operand y) {
  EvaluationOf<double> evaluation{code, x.value, y.value, x.index != 0, y.index != 0};
  if (!evaluation.among(AtHand{}))
    evaluation.result = environment.evaluate(code, x.value, y.value, x.index != 0, y.index != 0);
  return wrap(tape, tape->put(code, evaluation.result, x.index, y.index));
}

BURLAB_NOINLINE PyObject* unary(std::uint32_t code, PyObject* self) {
  const ValueObject* x = as_value(self);
  if (!ready(code)) return nullptr;
  if (BURLAB_UNLIKELY(!held(x)))
    return held_by_any(x) ? tape_of(x)->other->record(code, {x->index, 0}, {0, 0}) : fail_stale();
  if (!room(tape_of(x))) return nullptr;  // may renumber: the index is read afterwards
  return record(tape_of(x), code, {x->index, node_of(x).value}, {0, 0});
}

/// An operation of two operands, at least one of them a Value; NotImplemented if the other is no number.
BURLAB_NOINLINE PyObject* mixed(std::uint32_t code, PyObject* left, PyObject* right) {
  const ValueObject* x = is_value(left) ? as_value(left) : nullptr;
  const ValueObject* y = is_value(right) ? as_value(right) : nullptr;
  double constant = 0;
  if (!x || !y) {
    const int known = number(x ? right : left, &constant);
    if (known <= 0) return known ? nullptr : not_implemented();
  }
  if (!ready(code)) return nullptr;
  if ((x && !held_by_any(x)) || (y && !held_by_any(y))) return fail_stale();
  if (x && y && x->tape != y->tape) return fail_two_tapes();
  TapeObject* tape = tape_of(x ? x : y);
  if (BURLAB_UNLIKELY(tape->other != nullptr))
    return tape->other->record(code, x ? Operand{x->index, 0} : Operand{0, constant},
                               y ? Operand{y->index, 0} : Operand{0, constant});
  if (!room(tape)) return nullptr;
  return record(tape, code, x ? Operand{x->index, node_of(x).value} : Operand{0, constant},
                y ? Operand{y->index, node_of(y).value} : Operand{0, constant});
}

template <class Op>
PyObject* binary(PyObject* left, PyObject* right) {
  if (BURLAB_LIKELY(left->ob_type == environment.value_type && right->ob_type == environment.value_type)) {
    const ValueObject *x = as_value(left), *y = as_value(right);
    TapeObject* tape = tape_of(x);
    if (BURLAB_LIKELY(x->tape == y->tape && held(x) && held(y) && !tape->full()))
      return wrap(tape, tape->put(code_of<Op>, evaluate<Op>(node_of(x).value, node_of(y).value), x->index, y->index));
  }
  return mixed(code_of<Op>, left, right);
}

/// An operation of one Value: the fast path.
template <class Op>
BURLAB_INLINE PyObject* unary_of(PyObject* self) {
  const ValueObject* x = as_value(self);
  TapeObject* tape = tape_of(x);
  if (BURLAB_UNLIKELY(!held(x) || tape->full())) return unary(code_of<Op>, self);
  return wrap(tape, tape->put(code_of<Op>, evaluate<Op>(node_of(x).value, 0.0), x->index, 0));
}

/// x ** y. The constant exponents 2 and 3 have their own operations, without a logarithm or libm. Python has one object
/// for each small int, so the common case is a comparison of pointers.
inline PyObject* power(PyObject* left, PyObject* right, PyObject* modulus) {
  if (modulus != Py_None) return not_implemented();
  if (right == environment.two) return unary_of<ops::Square>(left);
  if (right == environment.three) return unary_of<ops::Cube>(left);
  double exponent = 0;
  const int known = is_value(left) && !is_value(right) ? number(right, &exponent) : 0;
  if (known < 0) return nullptr;
  if (known && exponent == 2) return unary(code_of<ops::Square>, left);
  if (known && exponent == 3) return unary(code_of<ops::Cube>, left);
  return mixed(code_of<ops::Power>, left, right);
}
inline PyObject* negative(PyObject* self) { return unary(code_of<ops::Neg>, self); }

}  // namespace burlab::eager
BURLAB_END
