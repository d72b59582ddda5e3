#pragma once
// Arithmetic of Values: two Values meet in code of their own, everything else (a constant, a subclass, an error) takes
// one cold path for all operations, because each function costs the just-in-time compiler two milliseconds.
#include "value_object.hpp"

BURLAB_BEGIN
namespace burlab::python {

/// Read a real number: 1 and `*x`, or 0 where the object is none, or -1 with an exception set. May run Python.
BURLAB_NOINLINE int number_slowly(PyObject* object, double* x) {
  if (PyFloat_Check(object) || PyLong_Check(object)) *x = PyFloat_AsDouble(object);
  else if (is_value(object)) return 0;
  else if (const int known = PyObject_IsInstance(object, environment.number_types); known <= 0) return known;
  else *x = PyFloat_AsDouble(object);
  return *x == -1 && PyErr_Occurred() ? -1 : 1;
}
BURLAB_INLINE int number(PyObject* object, double* x) {
  if (object->ob_type != &PyFloat_Type) return number_slowly(object, x);
  *x = reinterpret_cast<PyFloatObject*>(object)->ob_fval;
  return 1;
}

/// Record any operation of one operand.
BURLAB_NOINLINE PyObject* unary(std::uint32_t code, PyObject* self) {
  const ValueObject* x = as_value(self);
  TapeObject* tape = tape_of(x);
  if (!held(x)) return fail_stale();
  if (!room(tape)) return nullptr;
  return wrap(tape, tape->record(code, {x->index, node_of(x).value}, {0, 0}));
}

/// Record any operation of two operands, at least one of them a Value; NotImplemented where the other is no number.
BURLAB_NOINLINE PyObject* mixed(std::uint32_t code, PyObject* left, PyObject* right) {
  ValueObject* x = is_value(left) ? as_value(left) : nullptr;
  ValueObject* y = is_value(right) ? as_value(right) : nullptr;
  double constant = 0;
  if (!x || !y) {
    const int known = number(x ? right : left, &constant);
    if (known <= 0) return known ? nullptr : not_implemented();
  }
  if ((x && !held(x)) || (y && !held(y))) return fail_stale();
  if (x && y && x->tape != y->tape) return fail_two_tapes();
  TapeObject* tape = tape_of(x ? x : y);
  if (!room(tape)) return nullptr;  // may renumber: the indices are read afterwards
  const Operand a = x ? Operand{x->index, node_of(x).value} : Operand{0, constant};
  const Operand b = y ? Operand{y->index, node_of(y).value} : Operand{0, constant};
  return wrap(tape, tape->record(code, a, b));
}

template <class Op>
PyObject* binary(PyObject* left, PyObject* right) {
  if (BURLAB_LIKELY(is_exact_value(left) && is_exact_value(right))) {
    const ValueObject *x = as_value(left), *y = as_value(right);
    TapeObject* tape = tape_of(x);
    if (BURLAB_LIKELY(x->tape == y->tape && held(x) && held(y) && !tape->full()))
      return wrap(tape, tape->put(code_of<Op>, evaluate<Op>(node_of(x).value, node_of(y).value), x->index, y->index));
  }
  return mixed(code_of<Op>, left, right);
}

/// x ** y. The constant exponents 2 and 3 have operations of their own: no logarithm, no libm.
inline PyObject* power(PyObject* left, PyObject* right, PyObject* modulus) {
  if (modulus != Py_None) return not_implemented();
  double exponent = 0;
  const int known = is_value(left) && !is_value(right) ? number(right, &exponent) : 0;
  if (known < 0) return nullptr;
  if (known && exponent == 2) return unary(code_of<ops::Square>, left);
  if (known && exponent == 3) return unary(code_of<ops::Cube>, left);
  return mixed(code_of<ops::Power>, left, right);
}
inline PyObject* negative(PyObject* self) { return unary(code_of<ops::Neg>, self); }
inline PyObject* absolute(PyObject* self) { return unary(code_of<ops::Abs>, self); }
inline PyObject* positive(PyObject* self) { return retain(self); }

/// The operations of the table as methods, named as NumPy names its functions: v.tanh(), v.maximum(w).
template <class Op>
PyObject* method(PyObject* self, PyObject* other) {
  if constexpr (Op::arity == 1) return unary(code_of<Op>, self);
  else return mixed(code_of<Op>, self, other);
}

}  // namespace burlab::python
BURLAB_END
