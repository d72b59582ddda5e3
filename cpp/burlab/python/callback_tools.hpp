#pragma once
// Python functions that a sweep calls at a Value, for burlab/eager/value.py.
#include "../tape/callbacks.hpp"
#include "tape_tools.hpp"

BURLAB_BEGIN
namespace burlab::eager {

template <class T> BURLAB_COLD void drop_callback(CallbackOf<T> callback) {
  if (dropped.reserve(1)) dropped[dropped.size++] = static_cast<PyObject*>(callback.context);
}

/// Call one of a pair of functions with the Value of a node; false if it raises.
template <class T, int Which> BURLAB_COLD bool call_back(TapeOf<T>& tape, std::uint32_t node, void* context) {
  PyObject* pair = retain(static_cast<PyObject*>(context));  // the function may take itself away
  PyObject* value = value_at<T>(static_cast<TapeObject*>(tape.keeper), node);
  PyObject* result = value ? PyObject_CallFunctionObjArgs(PyTuple_GetItem(pair, Which), value, nullptr) : nullptr;
  release(value);
  release(pair);
  release(result);
  return result != nullptr;
}

/// on_backward(value, (before, after)): functions or None; (None, None) takes away those that it has
template <class T> BURLAB_COLD PyObject* on_backward(PyObject*, PyObject* const* args, Py_ssize_t) {
  const ValueObject* value = as_value(args[0]);
  if (!held_by_any(value)) return fail_stale();
  TapeOf<T>& tape = tape_with<T>(value);
  tape.keeper = tape_of(value);
  tape.callbacks.release = drop_callback<T>;
  const bool before = PyTuple_GetItem(args[1], 0) != Py_None, after = PyTuple_GetItem(args[1], 1) != Py_None;
  const Status status =
      tape.on_backward(value->index, {before ? call_back<T, 0> : nullptr, after ? call_back<T, 1> : nullptr, args[1]});
  if (status != Ok) return fail_sweep(tape_of(value), status);
  if (before || after) retain(args[1]);
  release_dropped();
  return none();
}

}  // namespace burlab::eager
BURLAB_END
