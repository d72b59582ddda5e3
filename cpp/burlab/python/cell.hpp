#pragma once
// Declarations for a %%cpp cell of a notebook, and conversions of Values between its functions and Python.
#include <vector>

#include "../burlab.hpp"
#include "value_face.hpp"

BURLAB_BEGIN
namespace burlab::eager {

/// The C++ value of a Python Value. Use it before Python records anything: nodes could be renumbered.
BURLAB_COLD burlab::Value to_cpp(PyObject* object) {
  const ValueObject* value = as_value(object);
  return held(value) ? burlab::Value::at(*value->tape, value->index) : burlab::Value();
}
/// Of a list of Values and floats.
BURLAB_COLD std::vector<burlab::Value> to_cpp_vector(PyObject* items) {
  std::vector<burlab::Value> result;
  for (Py_ssize_t k = 0; k < PyList_Size(items); ++k) {
    PyObject* item = PyList_GetItem(items, k);
    result.push_back(is_value(item) ? to_cpp(item) : burlab::Value(PyFloat_AsDouble(item)));
  }
  return result;
}

/// The Python Value of a C++ value; a constant becomes a leaf. None if the tape does not hold it.
BURLAB_COLD PyObject* to_python(const burlab::Value& value) {
  if (value.is_constant()) return make_leaf(value.data());
  if (!value.held()) return none();
  Handle* holder = value.node().holder;
  if (holder) return retain(static_cast<PyObject*>(static_cast<ValueObject*>(holder)));
  return wrap(static_cast<TapeObject*>(value.tape()), value.index());
}
BURLAB_COLD PyObject* to_python_list(const std::vector<burlab::Value>& values) {
  PyObject* result = PyList_New(0);
  for (const burlab::Value& value : values) {
    PyObject* object = result ? to_python(value) : nullptr;
    if (result && (!object || PyList_Append(result, object) < 0)) release(result), result = nullptr;
    release(object);
  }
  return result;
}

}  // namespace burlab::eager
BURLAB_END
