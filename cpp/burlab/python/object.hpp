#pragma once
// Inlined parts of CPython's interface: Cling compiles the `static inline` functions of Python.h to calls.
#include <Python.h>
#include <structmember.h>

#include "../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::eager {

/// Add a reference; returns the object.
BURLAB_INLINE PyObject* retain(PyObject* object) {
#if PY_VERSION_HEX < 0x030C0000
  ++object->ob_refcnt;
#else
  Py_INCREF(object);  // handles immortal objects
#endif
  return object;
}

/// Drop a reference. Accepts null.
BURLAB_INLINE void release(PyObject* object) {
#if PY_VERSION_HEX < 0x030C0000
  if (object && --object->ob_refcnt == 0) object->ob_type->tp_dealloc(object);
#else
  Py_XDECREF(object);
#endif
}
BURLAB_INLINE void release(PyTypeObject* type) { release(reinterpret_cast<PyObject*>(type)); }

BURLAB_INLINE PyObject* none() { return retain(Py_None); }
BURLAB_INLINE PyObject* not_implemented() { return retain(Py_NotImplemented); }

/// Set an exception with a message; null, for `return fail(...)`.
template <class... Xs>
BURLAB_COLD PyObject* fail(PyObject* exception, const char* message, Xs... xs) {
  return PyErr_Format(exception, message, xs...);
}

/// Cast a function to the type that PyMethodDef requires: the flags define its arguments.
template <class F>
BURLAB_INLINE PyCFunction as_method(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace burlab::eager
BURLAB_END
