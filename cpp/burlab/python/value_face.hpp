#pragma once
// The interface of a Value: constructor, numbers and backward(). Also the parts of Tape that it needs.
#include "value_arithmetic.hpp"

BURLAB_BEGIN
namespace burlab::eager {

/// The current tape: that of the innermost `with` block, else the default tape of this thread. A borrowed reference.
BURLAB_NOINLINE TapeObject* current_tape() {
  if (environment.entered) {
    PyObject* entered = nullptr;
    if (PyContextVar_Get(environment.entered_tape, nullptr, &entered) < 0) return nullptr;
    release(entered);  // the context holds it
    if (entered != Py_None) return static_cast<TapeObject*>(entered);
  }
  const std::uint64_t thread = PyThreadState_GetID(PyThreadState_Get());
  if (BURLAB_UNLIKELY(thread != environment.thread)) {
    PyObject* tape = PyObject_CallNoArgs(environment.default_tape);
    if (!tape) return nullptr;
    release(environment.tape);
    environment.tape = static_cast<TapeObject*>(tape);
    environment.thread = thread;
  }
  return environment.tape;
}

/// A new leaf on the current tape.
BURLAB_COLD PyObject* make_leaf_slowly(TapeObject* tape, double x) {
  if (tape->other) return tape->other->leaf(x);
  return make_room(tape) ? wrap(tape, tape->put(leaf_code, Outcome{x, {0, 0}}, 0, 0)) : nullptr;
}
BURLAB_INLINE PyObject* make_leaf(double x) {
  TapeObject* tape = current_tape();
  if (BURLAB_UNLIKELY(!tape)) return nullptr;
  return tape->full() ? make_leaf_slowly(tape, x) : wrap(tape, tape->put(leaf_code, Outcome{x, {0, 0}}, 0, 0));
}
BURLAB_COLD PyObject* make_leaf_of_subclass(PyTypeObject* type, double x) {
  TapeObject* tape = current_tape();
  PyObject* self = tape ? type->tp_alloc(type, 0) : nullptr;  // may run Python, so it comes before making room
  if (!self) return nullptr;
  if (tape->living++ == 0) retain(tape);
  as_value(self)->tape = tape;
  as_value(self)->index = no_node;
  if (tape->other) return tape->other->make_leaf(as_value(self), x) ? self : (release(self), nullptr);
  if (!room(tape)) return release(self), nullptr;
  as_value(self)->index = tape->put(leaf_code, Outcome{x, {0, 0}}, 0, 0);
  node_of(as_value(self)).holder = as_value(self);
  return self;
}

/// type(data, label=None)
BURLAB_COLD PyObject* value_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"data", "label", nullptr};
  PyObject *data, *label = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:Value", const_cast<char**>(names), &data, &label))
    return nullptr;
  double x = 0;
  const int known = number(data, &x);
  if (known == 0)
    PyErr_Format(environment.type_error, "Value needs one real number, such as 2.0 or np.float32(2), but got %.100s.",
                 data->ob_type->tp_name);
  if (known <= 0) return nullptr;
  PyObject* self = type == environment.value_type ? make_leaf(x) : make_leaf_of_subclass(type, x);
  if (self && label != Py_None && PyObject_SetAttrString(self, "label", label) < 0) return release(self), nullptr;
  return self;
}

/// type(*args, **names) with the tuple and the dictionary that `value_new` takes.
BURLAB_COLD PyObject* call_with_tuple(PyObject* type, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  PyObject* tuple = PyTuple_New(count);
  PyObject* keywords = names ? PyDict_New() : nullptr;
  bool fits = tuple && (keywords || !names);
  for (Py_ssize_t k = 0; fits && k < count; ++k) PyTuple_SetItem(tuple, k, retain(args[k]));
  for (Py_ssize_t k = 0; fits && names && k < PyTuple_Size(names); ++k)
    fits = PyDict_SetItem(keywords, PyTuple_GetItem(names, k), args[count + k]) == 0;
  PyObject* result = fits ? PyType_Type.tp_call(type, tuple, keywords) : nullptr;
  release(tuple);
  release(keywords);
  return result;
}

/// Value(x): the call without a tuple of arguments.
inline PyObject* value_call(PyObject* type, PyObject* const* args, std::size_t flags, PyObject* names) {
  const Py_ssize_t count = static_cast<Py_ssize_t>(flags & ~PY_VECTORCALL_ARGUMENTS_OFFSET);
  double x = 0;
  if (BURLAB_LIKELY(count == 1 && !names)) {
    const int known = number(args[0], &x);
    if (BURLAB_LIKELY(known > 0)) return make_leaf(x);
    if (known < 0) return nullptr;
  }
  return call_with_tuple(type, args, count, names);
}

BURLAB_COLD PyObject* get_number_slowly(const ValueObject* value, bool gradient) {
  return held_by_any(value) ? PyFloat_FromDouble(tape_of(value)->other->number(value, gradient)) : fail_stale();
}
/// Value.data and Value.grad: `which` is null for the data.
inline PyObject* get_number(PyObject* self, void* which) {
  if (BURLAB_UNLIKELY(!held(as_value(self)))) return get_number_slowly(as_value(self), which != nullptr);
  const Node& n = node_of(as_value(self));
  return PyFloat_FromDouble(which ? n.gradient : n.value);
}
inline int set_number(PyObject* self, PyObject* object, void* which) {
  double x = 0;
  const int known = object ? number(object, &x) : 0;
  if (known == 0)
    PyErr_Format(environment.type_error, "data and grad of a Value are real numbers, but got %.100s.",
                 object ? object->ob_type->tp_name : "a deletion");
  if (known <= 0) return -1;
  ValueObject* const value = as_value(self);
  if (!held_by_any(value)) return fail_stale(), -1;
  if (OtherNumbers* other = tape_of(value)->other) return other->set_number(value, which != nullptr, x), 0;
  Node& n = node_of(value);
  (which ? n.gradient : n.value) = x;
  return 0;
}
inline PyObject* get_tape(PyObject* self, void*) { return retain(static_cast<PyObject*>(tape_of(as_value(self)))); }
inline Py_hash_t hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(self) >> 4); }

/// backward(accumulate=False)
inline PyObject* backward(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const Py_ssize_t total = count + (names ? PyTuple_Size(names) : 0);
  int accumulate = 0;
  if (BURLAB_UNLIKELY(total > 0)) {
    if (total > 1 || (names && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "accumulate"))) {
      PyErr_SetString(PyExc_TypeError, "backward takes one argument: backward(accumulate=False).");
      return nullptr;
    }
    if ((accumulate = PyObject_IsTrue(args[0])) < 0) return nullptr;
  }
  const ValueObject* const value = as_value(self);
  if (BURLAB_UNLIKELY(!held(value) && !held_by_any(value))) return fail_stale();
  OtherNumbers* const other = tape_of(value)->other;
  const Status status = BURLAB_UNLIKELY(other != nullptr) ? other->backward(value->index, accumulate != 0)
                                                          : value->tape->backward(value->index, accumulate != 0);
  if (BURLAB_UNLIKELY(status != Ok)) return fail_sweep(tape_of(value), status);
  if (BURLAB_UNLIKELY(dropped.size)) release_dropped();
  return none();
}

/// type(reclaims=False): whether nodes that no Value reaches are dropped.
BURLAB_COLD PyObject* tape_new(PyTypeObject* type, PyObject* args, PyObject*) {
  int reclaims = 0;
  if (!PyArg_ParseTuple(args, "|p:Tape", &reclaims)) return nullptr;
  PyObject* self = type->tp_alloc(type, 0);  // all zero
  if (!self) return nullptr;
  TapeObject* tape = static_cast<TapeObject*>(self);
  std::construct_at(static_cast<Tape*>(tape));
  tape->reclaims = reclaims != 0;
  return self;
}
BURLAB_COLD void tape_dealloc(PyObject* self) {  // no Value is left: each one retains its tape
  TapeObject* tape = static_cast<TapeObject*>(self);
  PyTypeObject* type = self->ob_type;
  while (ValueObject* value = tape->spare) {
    tape->spare = reinterpret_cast<ValueObject*>(value->tape);
    PyObject_Free(value);
    release(environment.value_type);
  }
  if (tape->other) tape->other->destroy();
  std::destroy_at(static_cast<Tape*>(tape));
  type->tp_free(self);
  release(type);
  release_dropped();
}
inline Py_ssize_t tape_length(PyObject* self) {
  const TapeObject* tape = static_cast<TapeObject*>(self);
  return tape->other ? tape->other->size() : tape->Tape::size();
}

}  // namespace burlab::eager
BURLAB_END
