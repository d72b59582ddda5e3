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

/// The place of a node's label in its tape's table, or the place to insert it.
BURLAB_COLD std::uint32_t label_position(const Tape& tape, std::uint32_t node) {
  std::uint32_t low = 0, high = tape.labels.size;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (tape.labels[middle].node < node) low = middle + 1;
    else high = middle;
  }
  return low;
}
/// The label of a node, a borrowed str, or None.
BURLAB_COLD PyObject* label_of(const Tape& tape, std::uint32_t node) {
  const std::uint32_t at = label_position(tape, node);
  const bool found = at < tape.labels.size && tape.labels[at].node == node;
  return found ? static_cast<PyObject*>(tape.labels[at].text) : Py_None;
}

/// get_label(value)
BURLAB_COLD PyObject* get_label(PyObject*, PyObject* const* args, Py_ssize_t) {
  const ValueObject* value = as_value(args[0]);
  return held(value) ? retain(label_of(*value->tape, value->index)) : fail_stale();
}

/// set_label(value, a str or None)
BURLAB_COLD PyObject* set_label(PyObject*, PyObject* const* args, Py_ssize_t) {
  const ValueObject* value = as_value(args[0]);
  if (!held(value)) return fail_stale();
  Tape& tape = *value->tape;
  const std::uint32_t at = label_position(tape, value->index);
  Label* const place = tape.labels.at + at;
  tape.release = release_text;
  if (label_of(tape, value->index) != Py_None) {
    void* text = place->text;
    std::memmove(place, place + 1, (--tape.labels.size - at) * sizeof(Label));
    release_text(text);
  }
  if (args[1] == Py_None) return none();
  if (!tape.labels.reserve(1)) return PyErr_NoMemory();
  Label* const fresh = tape.labels.at + at;
  std::memmove(fresh + 1, fresh, (tape.labels.size++ - at) * sizeof(Label));
  *fresh = {value->index, retain(args[1])};
  return none();
}

/// apply(code, x) of a plain number, a float
BURLAB_COLD PyObject* apply(PyObject*, PyObject* const* args, Py_ssize_t) {
  const double x = PyFloat_AsDouble(args[1]);
  if (PyErr_Occurred()) return nullptr;
  return PyFloat_FromDouble(
      evaluate(static_cast<std::uint32_t>(PyLong_AsUnsignedLong(args[0])), x, 0, true, true).value);
}

/// index(value): the number of its node
BURLAB_COLD PyObject* index(PyObject*, PyObject* const* args, Py_ssize_t) {
  return held(as_value(args[0])) ? PyLong_FromUnsignedLong(as_value(args[0])->index) : fail_stale();
}

/// value(tape, index): the Value of a node, a new one if the old one has been freed
BURLAB_COLD PyObject* value(PyObject*, PyObject* const* args, Py_ssize_t) {
  TapeObject* tape = as_tape(args[0]);
  const std::uint32_t index = static_cast<std::uint32_t>(PyLong_AsUnsignedLong(args[1]));
  Handle* holder = tape->nodes[index].holder;
  return holder ? retain(static_cast<PyObject*>(static_cast<ValueObject*>(holder))) : wrap(tape, index);
}

/// node(tape, index) -> (operation, data, grad, label, [(parent, partial) ...]); a constant operand is (0, constant)
BURLAB_COLD PyObject* node(PyObject*, PyObject* const* args, Py_ssize_t) {
  const TapeObject* tape = as_tape(args[0]);
  const std::uint32_t index = static_cast<std::uint32_t>(PyLong_AsUnsignedLong(args[1]));
  const Node n = tape->nodes[index];
  const int arity = n.wide() ? INT_MAX : n.interior() ? scalar_rows[n.code - 1].arity : 0;
  PyObject* operands = PyList_New(0);
  int seen = 0;
  tape->for_each_operand(n, [&](std::uint32_t parent, double partial) {
    if (!operands || seen++ >= arity) return;
    PyObject* operand = Py_BuildValue("Id", parent, partial);
    if (!operand || PyList_Append(operands, operand) < 0) release(operands), operands = nullptr;
    release(operand);
  });
  if (!operands) return nullptr;
  return Py_BuildValue("sddON", operation_name(n.code), n.value, n.gradient, label_of(*tape, index), operands);
}

/// measure(tape) -> bytes of nodes, edges, labels and Values
BURLAB_COLD PyObject* measure(PyObject*, PyObject* const* args, Py_ssize_t) {
  const TapeObject* tape = as_tape(args[0]);
  const TapeBytes bytes = tape->bytes();
  return Py_BuildValue("nnnn", bytes.nodes, bytes.edges, bytes.labels, tape->values * sizeof(ValueObject));
}

/// position(tape) -> (nodes, edges)
BURLAB_COLD PyObject* position(PyObject*, PyObject* const* args, Py_ssize_t) {
  const Mark mark = as_tape(args[0])->mark();
  return Py_BuildValue("II", mark.nodes, mark.edges);
}
/// cut(tape, (nodes, edges))
BURLAB_COLD PyObject* cut(PyObject*, PyObject* const* args, Py_ssize_t) {
  Mark mark;
  if (!PyArg_ParseTuple(args[1], "II", &mark.nodes, &mark.edges)) return nullptr;
  as_tape(args[0])->rewind(mark);
  return none();
}

/// replay(tape, first): compute the nodes from this number on again
BURLAB_COLD PyObject* replay(PyObject*, PyObject* const* args, Py_ssize_t) {
  as_tape(args[0])->replay(static_cast<std::uint32_t>(PyLong_AsUnsignedLong(args[1])));
  return none();
}

/// tidy(tape): drop dead nodes, if there may be many
BURLAB_COLD PyObject* tidy(PyObject*, PyObject* const* args, Py_ssize_t) {
  as_tape(args[0])->tidy();
  return none();
}

/// reclaims(tape)
BURLAB_COLD PyObject* reclaims(PyObject*, PyObject* const* args, Py_ssize_t) {
  return PyBool_FromLong(as_tape(args[0])->reclaims);
}

/// take_status(tape) -> the status that C++ code has left; the tape is usable again
BURLAB_COLD PyObject* take_status(PyObject*, PyObject* const* args, Py_ssize_t) {
  const Status status = as_tape(args[0])->status();
  as_tape(args[0])->clear_status();
  return PyLong_FromLong(status);
}

}  // namespace burlab::eager
BURLAB_END
