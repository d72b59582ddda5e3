#pragma once
// Functions for burlab/eager/tape.py and burlab/eager/value.py. Compiled at their first use, so that a first Value
// costs less. Private to those modules, which pass the arguments named in each comment.
#include <climits>

#include "../tape/replay.hpp"
#include "value_object.hpp"

BURLAB_BEGIN
namespace burlab::eager {

BURLAB_INLINE TapeObject* as_tape(PyObject* object) { return static_cast<TapeObject*>(object); }

inline void release_text(void* text) { release(static_cast<PyObject*>(text)); }

/// The numbers of a tape, and a new Value of one of its nodes: float_tape.hpp has those of a float32 tape.
template <class T> TapeOf<T>& numbers_of(PyObject* tape);
template <> BURLAB_INLINE Tape& numbers_of<double>(PyObject* tape) { return *as_tape(tape); }
template <class T> PyObject* wrap_in(TapeObject* tape, std::uint32_t index);
template <> BURLAB_INLINE PyObject* wrap_in<double>(TapeObject* tape, std::uint32_t index) { return wrap(tape, index); }
template <class T> BURLAB_INLINE TapeOf<T>& tape_with(const ValueObject* value) {
  return numbers_of<T>(tape_of(value));
}

/// The Value of a node, a new one if the old one has been freed.
template <class T> BURLAB_COLD PyObject* value_at(TapeObject* object, std::uint32_t index) {
  TapeOf<T>& tape = numbers_of<T>(object);
  Handle* holder = tape.holders.of(tape.nodes[index]);
  return holder ? retain(static_cast<PyObject*>(static_cast<ValueObject*>(holder))) : wrap_in<T>(object, index);
}

/// The label of a node, a borrowed str, or None.
template <class T> BURLAB_COLD PyObject* label_of(const TapeOf<T>& tape, std::uint32_t node) {
  const auto* const note = tape.labels.find(node);
  return note ? static_cast<PyObject*>(note->object) : Py_None;
}

/// get_label(value)
template <class T> BURLAB_COLD PyObject* get_label(PyObject*, PyObject* const* args, Py_ssize_t) {
  const ValueObject* value = as_value(args[0]);
  return held_by_any(value) ? retain(label_of(tape_with<T>(value), value->index)) : fail_stale();
}

/// set_label(value, a str or None)
template <class T> BURLAB_COLD PyObject* set_label(PyObject*, PyObject* const* args, Py_ssize_t) {
  const ValueObject* value = as_value(args[0]);
  if (!held_by_any(value)) return fail_stale();
  NotesOf<void*>& labels = tape_with<T>(value).labels;
  labels.release = release_text;
  labels.remove(value->index);
  if (args[1] == Py_None) return none();
  return labels.add(value->index, args[1]) ? (retain(args[1]), none()) : PyErr_NoMemory();
}

/// apply(code, x) of a plain number, a float
template <class T> BURLAB_COLD PyObject* apply(PyObject*, PyObject* const* args, Py_ssize_t) {
  const double x = PyFloat_AsDouble(args[1]);
  if (PyErr_Occurred()) return nullptr;
  return PyFloat_FromDouble(
      evaluate(static_cast<std::uint32_t>(PyLong_AsUnsignedLong(args[0])), static_cast<T>(x), T(0), true, true).value);
}

/// index(value): the number of its node
template <class T> BURLAB_COLD PyObject* index(PyObject*, PyObject* const* args, Py_ssize_t) {
  return held_by_any(as_value(args[0])) ? PyLong_FromUnsignedLong(as_value(args[0])->index) : fail_stale();
}

/// value(tape, index): the Value of a node
template <class T> BURLAB_COLD PyObject* value(PyObject*, PyObject* const* args, Py_ssize_t) {
  return value_at<T>(as_tape(args[0]), static_cast<std::uint32_t>(PyLong_AsUnsignedLong(args[1])));
}

/// node(tape, index) -> (operation, data, grad, label, [(parent, partial) ...]); a constant operand is (0, constant)
template <class T> BURLAB_COLD PyObject* node(PyObject*, PyObject* const* args, Py_ssize_t) {
  const TapeOf<T>& tape = numbers_of<T>(args[0]);
  const std::uint32_t index = static_cast<std::uint32_t>(PyLong_AsUnsignedLong(args[1]));
  const NodeOf<T> n = tape.nodes[index];
  const int arity = n.wide() ? INT_MAX : n.interior() ? scalar_rows[n.code - 1].arity : 0;
  PyObject* operands = PyList_New(0);
  int seen = 0;
  tape.for_each_operand(n, [&](std::uint32_t parent, T partial) {
    if (!operands || seen++ >= arity) return;
    PyObject* operand = Py_BuildValue("Id", parent, static_cast<double>(partial));
    if (!operand || PyList_Append(operands, operand) < 0) release(operands), operands = nullptr;
    release(operand);
  });
  if (!operands) return nullptr;
  return Py_BuildValue("sddON", operation_name(n.code), static_cast<double>(n.value), static_cast<double>(n.gradient),
                       label_of(tape, index), operands);
}

/// measure(tape) -> bytes of nodes, edges, labels and callbacks, and Values
template <class T> BURLAB_COLD PyObject* measure(PyObject*, PyObject* const* args, Py_ssize_t) {
  const TapeOf<T>& tape = numbers_of<T>(args[0]);
  const TapeBytes bytes = tape.bytes();
  const std::size_t values = as_tape(args[0])->values * sizeof(ValueObject) + tape.holders.bytes();
  return Py_BuildValue("nnnn", bytes.nodes, bytes.edges, bytes.notes, values);
}

/// position(tape) -> (nodes, edges)
template <class T> BURLAB_COLD PyObject* position(PyObject*, PyObject* const* args, Py_ssize_t) {
  const Mark mark = numbers_of<T>(args[0]).mark();
  return Py_BuildValue("II", mark.nodes, mark.edges);
}
/// cut(tape, (nodes, edges))
template <class T> BURLAB_COLD PyObject* cut(PyObject*, PyObject* const* args, Py_ssize_t) {
  Mark mark;
  if (!PyArg_ParseTuple(args[1], "II", &mark.nodes, &mark.edges)) return nullptr;
  TapeOf<T>& tape = numbers_of<T>(args[0]);
  if (tape.sweeps) return fail_sweep(as_tape(args[0]), Sweeping);
  tape.rewind(mark);
  release_dropped();
  return none();
}

/// replay(tape, first): compute the nodes from this number on again
template <class T> BURLAB_COLD PyObject* replay(PyObject*, PyObject* const* args, Py_ssize_t) {
  numbers_of<T>(args[0]).replay(static_cast<std::uint32_t>(PyLong_AsUnsignedLong(args[1])));
  return none();
}

/// tidy(tape): drop dead nodes, if there may be many
template <class T> BURLAB_COLD PyObject* tidy(PyObject*, PyObject* const* args, Py_ssize_t) {
  numbers_of<T>(args[0]).tidy();
  return none();
}

/// reclaims(tape)
template <class T> BURLAB_COLD PyObject* reclaims(PyObject*, PyObject* const* args, Py_ssize_t) {
  return PyBool_FromLong(numbers_of<T>(args[0]).reclaims);
}

/// take_status(tape) -> the status that C++ code has left; the tape is usable again
template <class T> BURLAB_COLD PyObject* take_status(PyObject*, PyObject* const* args, Py_ssize_t) {
  const Status status = numbers_of<T>(args[0]).status();
  numbers_of<T>(args[0]).clear_status();
  return PyLong_FromLong(status);
}

}  // namespace burlab::eager
BURLAB_END
