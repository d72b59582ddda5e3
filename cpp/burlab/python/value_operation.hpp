#pragma once
// The operations of the table as methods of a Value, named as NumPy names its functions: v.tanh(), v.maximum(w).
// NumPy's loops over arrays of objects call them; NumPy's protocol for functions of a single Value is implemented here
// as well.
#include <cstddef>

#include "value_arithmetic.hpp"

BURLAB_BEGIN
namespace burlab::eager {

/// The methods that networks use have their own C functions, which saves 10 ns.
template <class Op>
PyObject* method(PyObject* self, PyObject*) {
  return unary(code_of<Op>, self);
}

/// One type of descriptor for the others: a C function for each would cost the just-in-time compiler 60 ms together.
struct OperationObject {
  PyObject head;
  vectorcallfunc call;
  PyObject *name, *doc;
  std::uint32_t code;
  int arity;
};

/// operation(x) or operation(x, y)
inline PyObject* operation_call(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* names) {
  const OperationObject* operation = reinterpret_cast<OperationObject*>(self);
  const Py_ssize_t count = static_cast<Py_ssize_t>(flags & ~PY_VECTORCALL_ARGUMENTS_OFFSET);
  if (BURLAB_LIKELY(count == operation->arity && !names && is_value(args[0]))) {
    if (count == 1) return unary(operation->code, args[0]);
    PyObject* result = mixed(operation->code, args[0], args[1]);
    if (result != Py_NotImplemented) return result;
    release(result);
  }
  return PyErr_Format(environment.type_error, "Value.%U takes %d operand(s): a Value, then Values or real numbers.",
                      operation->name, operation->arity);
}
inline PyObject* operation_get(PyObject* self, PyObject* instance, PyObject*) {
  return instance ? PyMethod_New(self, instance) : retain(self);
}

/// Value.__array_ufunc__(ufunc, method, *inputs, **keywords): calls on scalars are handled here, the rest in Python.
inline PyObject* array_ufunc(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (count > 2 && !names && !PyUnicode_CompareWithASCIIString(args[1], "__call__")) {
    PyObject* known = PyDict_GetItemWithError(environment.ufunc_codes, args[0]);  // borrowed
    if (known) {
      const std::uint32_t code = static_cast<std::uint32_t>(PyLong_AsLong(known));
      if (count == 3) return unary(code, self);
      PyObject* result = mixed(code, args[2], args[3]);
      if (result != Py_NotImplemented) return result;
      release(result);
    }
    if (PyErr_Occurred()) return nullptr;
  }
  return PyObject_Vectorcall(environment.ufunc_fallback, args, static_cast<std::size_t>(count), names);
}

}  // namespace burlab::eager
BURLAB_END
