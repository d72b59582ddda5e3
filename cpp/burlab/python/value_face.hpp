#pragma once
// What a Value shows: how it is made, its attributes, its text, its order, and backward().
#include "value_arithmetic.hpp"
#include "value_label.hpp"

BURLAB_BEGIN
namespace burlab::python {

/// The tape in force: that of the innermost `with` block, else the default tape of this thread. A borrowed reference.
BURLAB_NOINLINE TapeObject* current_tape() {
  PyObject* entered = nullptr;
  if (PyContextVar_Get(environment.current_tape, nullptr, &entered) < 0) return nullptr;
  release(entered);  // the context holds it
  if (entered && entered != Py_None) return static_cast<TapeObject*>(entered);
  const std::uint64_t thread = PyThreadState_GetID(PyThreadState_Get());
  if (BURLAB_UNLIKELY(thread != environment.thread)) {
    PyObject* tape = PyObject_CallNoArgs(environment.default_tape);
    if (!tape) return nullptr;
    release(tape);  // the thread holds it, to its end
    environment.tape = static_cast<TapeObject*>(tape);
    environment.thread = thread;
  }
  return environment.tape;
}

/// A new leaf on the current tape.
BURLAB_INLINE PyObject* make_leaf(PyTypeObject* type, double x) {
  TapeObject* tape = current_tape();
  if (!tape) return nullptr;
  if (BURLAB_LIKELY(type == environment.value_type)) return room(tape) ? wrap(tape, tape->leaf(x)) : nullptr;
  ValueObject* value =
      static_cast<ValueObject*>(type->tp_alloc(type, 0));  // a subclass: may run Python, so before room
  if (!value) return nullptr;
  value->index = no_node;
  value->tape = retain(tape);
  if (!room(tape)) return release(value), nullptr;
  value->index = tape->leaf(x);
  node_of(value).holder = value;
  return value;
}

BURLAB_COLD PyObject* make_labelled(PyTypeObject* type, PyObject* data, PyObject* label) {
  double x = 0;
  const int known = number(data, &x);
  if (known == 0)
    fail(PyExc_TypeError, "Value needs one real number, such as 2.0 or np.float32(2), but got %.100s.",
         data->ob_type->tp_name);
  if (known <= 0) return nullptr;
  PyObject* self = make_leaf(type, x);
  if (self && label && set_label(self, label, nullptr)) return release(self), nullptr;
  return self;
}

/// type(data, label=None), for subclasses.
BURLAB_COLD PyObject* value_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"data", "label", nullptr};
  PyObject *data, *label = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:Value", const_cast<char**>(names), &data, &label))
    return nullptr;
  return make_labelled(type, data, label);
}

BURLAB_COLD PyObject* value_call_slowly(PyObject* const* args, Py_ssize_t count, PyObject* names) {
  PyObject* given[2] = {count > 0 ? args[0] : nullptr, count > 1 ? args[1] : nullptr};
  bool fits = count <= 2;
  for (Py_ssize_t k = 0; fits && names && k < PyTuple_Size(names); ++k) {
    const bool label = !PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, k), "label");
    fits = !given[label] && (label || !PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, k), "data"));
    given[label] = args[count + k];
  }
  if (fits && given[0]) return make_labelled(environment.value_type, given[0], given[1]);
  return fail(PyExc_TypeError, "Value takes a number and perhaps a label: Value(data, label=None).");
}

/// Value(x): the call without a tuple of arguments.
inline PyObject* value_call(PyObject*, PyObject* const* args, std::size_t flags, PyObject* names) {
  const Py_ssize_t count = static_cast<Py_ssize_t>(flags & ~PY_VECTORCALL_ARGUMENTS_OFFSET);
  double x = 0;
  if (BURLAB_LIKELY(count == 1 && !names)) {
    const int known = number(args[0], &x);
    if (BURLAB_LIKELY(known > 0)) return make_leaf(environment.value_type, x);
    if (known < 0) return nullptr;
  }
  return value_call_slowly(args, count, names);
}

inline PyObject* get_data(PyObject* self, void*) {
  return held(as_value(self)) ? PyFloat_FromDouble(node_of(as_value(self)).value) : fail_stale();
}
inline PyObject* get_grad(PyObject* self, void*) {
  return held(as_value(self)) ? PyFloat_FromDouble(node_of(as_value(self)).gradient) : fail_stale();
}
BURLAB_COLD int set_number(PyObject* self, PyObject* object, double Node::* field) {
  double x = 0;
  const int known = object ? number(object, &x) : 0;
  if (known == 0)
    fail(PyExc_TypeError, "data and grad of a Value are real numbers, but got %.100s.",
         object ? object->ob_type->tp_name : "a deletion");
  if (known <= 0) return -1;
  if (!held(as_value(self))) return fail_stale(), -1;
  node_of(as_value(self)).*field = x;
  return 0;
}
inline int set_data(PyObject* self, PyObject* x, void*) { return set_number(self, x, &Node::value); }
inline int set_grad(PyObject* self, PyObject* x, void*) { return set_number(self, x, &Node::gradient); }

inline PyObject* get_tape(PyObject* self, void*) { return retain(static_cast<PyObject*>(tape_of(as_value(self)))); }

/// backward(accumulate=False)
inline PyObject* backward(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  int accumulate = 0;
  if (BURLAB_UNLIKELY(count + named > 0)) {
    if (count + named > 1 || (named && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "accumulate")))
      return fail(PyExc_TypeError, "backward takes one argument: backward(accumulate=False).");
    accumulate = PyObject_IsTrue(args[0]);
    if (accumulate < 0) return nullptr;
  }
  if (!held(as_value(self))) return fail_stale();
  tape_of(as_value(self))->backward(as_value(self)->index, accumulate != 0);
  return none();
}

inline Py_hash_t hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(self) >> 4); }

/// Order by data, as max(values) and np.sort need it; == stays identity, as sets of nodes need it.
BURLAB_NOINLINE PyObject* compare(PyObject* self, PyObject* other, int op) {
  if (op == Py_EQ || op == Py_NE) return not_implemented();
  double y = 0;
  if (is_value(other)) {
    if (!held(as_value(other))) return fail_stale();
    y = node_of(as_value(other)).value;
  } else if (const int known = number(other, &y); known <= 0) {
    return known ? nullptr : not_implemented();
  }
  if (!held(as_value(self))) return fail_stale();
  const double x = node_of(as_value(self)).value;
  return PyBool_FromLong(op == Py_LT ? x < y : op == Py_LE ? x <= y : op == Py_GT ? x > y : x >= y);
}

}  // namespace burlab::python
BURLAB_END
