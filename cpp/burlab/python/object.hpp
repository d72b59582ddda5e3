#pragma once
// The little of CPython's interface that is worth inlining: Cling turns the `static inline` functions of Python.h into
// calls.
#include <Python.h>
#include <structmember.h>

#include "../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::eager {

/// One reference more; gives the object back.
template <class T>
BURLAB_INLINE T* retain(T* object) {
#if PY_VERSION_HEX < 0x030C0000
  ++reinterpret_cast<PyObject*>(object)->ob_refcnt;
#else
  Py_INCREF(reinterpret_cast<PyObject*>(object));  // knows about immortal objects
#endif
  return object;
}

/// One reference less. Takes null.
template <class T>
BURLAB_INLINE void release(T* object) {
#if PY_VERSION_HEX < 0x030C0000
  if (object && --reinterpret_cast<PyObject*>(object)->ob_refcnt == 0) _Py_Dealloc(reinterpret_cast<PyObject*>(object));
#else
  Py_XDECREF(reinterpret_cast<PyObject*>(object));
#endif
}

BURLAB_INLINE PyObject* none() { return retain(Py_None); }
BURLAB_INLINE PyObject* not_implemented() { return retain(Py_NotImplemented); }

/// Set an exception with a message; null, for `return fail(...)`.
template <class... Xs>
BURLAB_COLD PyObject* fail(PyObject* exception, const char* message, Xs... xs) {
  return PyErr_Format(exception, message, xs...);
}

/// Any function as PyMethodDef wants it: the flags say what its arguments really are.
template <class F>
BURLAB_INLINE PyCFunction as_method(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace burlab::eager
BURLAB_END
