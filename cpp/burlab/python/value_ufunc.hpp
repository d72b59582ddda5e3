#pragma once
// NumPy's protocol for functions. Calls on scalars are answered here; arrays, reductions and `out=` go to Python.
#include "value_arithmetic.hpp"

BURLAB_BEGIN
namespace burlab::python {

/// Value.__array_ufunc__(ufunc, method, *inputs, **keywords)
inline PyObject* array_ufunc(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const bool plain =
      count > 2 && (!names || PyTuple_Size(names) == 0) && PyUnicode_CompareWithASCIIString(args[1], "__call__") == 0;
  PyObject* known = plain ? PyDict_GetItemWithError(environment.ufunc_codes, args[0]) : nullptr;  // borrowed
  if (PyErr_Occurred()) return nullptr;
  if (known) {
    const std::uint32_t code = static_cast<std::uint32_t>(PyLong_AsUnsignedLong(known));
    if (count == 3) return unary(code, self);
    PyObject* result = mixed(code, args[2], args[3]);
    if (result != Py_NotImplemented) return result;
    release(result);
  }
  return PyObject_Vectorcall(environment.ufunc_fallback, args, static_cast<std::size_t>(count), names);
}

}  // namespace burlab::python
BURLAB_END
