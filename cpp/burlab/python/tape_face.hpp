#pragma once
// What a Tape shows to Python: primitives, which burlab/eager/tape.py makes a class of.
#include <climits>

#include "value_label.hpp"

BURLAB_BEGIN
namespace burlab::python {

BURLAB_INLINE TapeObject* as_tape(PyObject* object) { return static_cast<TapeObject*>(object); }

BURLAB_COLD PyObject* tape_new(PyTypeObject* type, PyObject*, PyObject*) {
  TapeObject* tape = static_cast<TapeObject*>(type->tp_alloc(type, 0));  // all zero
  if (!tape) return nullptr;
  std::construct_at(static_cast<Tape*>(tape));
  tape->release = release_label;
  return tape;
}
BURLAB_COLD void tape_dealloc(PyObject* self) {  // no Value is left: each keeps its tape alive
  TapeObject* tape = as_tape(self);
  PyTypeObject* type = self->ob_type;
  while (ValueObject* value = tape->spare) {
    tape->spare = reinterpret_cast<ValueObject*>(value->tape);
    PyObject_Free(value);
    release(environment.value_type);
  }
  std::destroy_at(static_cast<Tape*>(tape));
  type->tp_free(self);
  release(type);
}

inline Py_ssize_t tape_length(PyObject* self) { return as_tape(self)->size(); }

/// _reclaim(yes): whether what no Value reaches is dropped.
BURLAB_COLD PyObject* tape_reclaim(PyObject* self, PyObject* yes) {
  as_tape(self)->reclaims = PyObject_IsTrue(yes) > 0;
  return none();
}
BURLAB_COLD PyObject* tape_reclaims(PyObject* self, PyObject*) { return PyBool_FromLong(as_tape(self)->reclaims); }

/// _measure() -> bytes of nodes, edges, labels and Values
BURLAB_COLD PyObject* tape_measure(PyObject* self, PyObject*) {
  const TapeBytes bytes = as_tape(self)->bytes();
  return Py_BuildValue("nnnn", bytes.nodes, bytes.edges, bytes.labels,
                       as_tape(self)->value_count * sizeof(ValueObject));
}

/// _position() -> (nodes, edges)
BURLAB_COLD PyObject* tape_position(PyObject* self, PyObject*) {
  const Mark mark = as_tape(self)->mark();
  return Py_BuildValue("II", mark.nodes, mark.edges);
}
/// _cut((nodes, edges))
BURLAB_COLD PyObject* tape_cut(PyObject* self, PyObject* position) {
  Mark mark;
  if (!PyArg_ParseTuple(position, "II", &mark.nodes, &mark.edges)) return nullptr;
  as_tape(self)->rewind(mark);
  return none();
}

/// _replay(first): compute the nodes from this number on again
BURLAB_COLD PyObject* tape_replay(PyObject* self, PyObject* first) {
  const unsigned long index = PyLong_AsUnsignedLong(first);
  if (PyErr_Occurred()) return nullptr;
  as_tape(self)->replay(static_cast<std::uint32_t>(index));
  return none();
}

/// _index(value): the number of its node
BURLAB_COLD PyObject* tape_index(PyObject* self, PyObject* object) {
  if (!is_value(object)) return fail(PyExc_TypeError, "a Value is needed, but got %.100s.", object->ob_type->tp_name);
  if (as_value(object)->tape != as_tape(self)) return fail_two_tapes();
  return held(as_value(object)) ? PyLong_FromUnsignedLong(as_value(object)->index) : fail_stale();
}

/// _node(index) -> (operation, data, grad, label, operands), each operand (index, partial), or (0, constant)
BURLAB_COLD PyObject* tape_node(PyObject* self, PyObject* number) {
  TapeObject* tape = as_tape(self);
  const unsigned long index = PyLong_AsUnsignedLong(number);
  if (PyErr_Occurred()) return nullptr;
  if (index == 0 || index >= tape->nodes.size) return fail(PyExc_IndexError, "the tape has no node %lu.", index);
  const Node n = tape->nodes[static_cast<std::uint32_t>(index)];
  PyObject* operands = PyList_New(0);
  const int arity = n.wide() ? INT_MAX : n.interior() ? scalar_rows[n.code - 1].arity : 0;
  int seen = 0;
  tape->for_each_operand(n, [&](std::uint32_t parent, double partial) {
    if (!operands || seen++ >= arity) return;
    PyObject* operand = Py_BuildValue("Id", parent, partial);
    if (!operand || PyList_Append(operands, operand) < 0) release(operands), operands = nullptr;
    release(operand);
  });
  PyObject* label = label_of(*tape, static_cast<std::uint32_t>(index));
  return operands
             ? Py_BuildValue("sddON", operation_name(n.code), n.value, n.gradient, label ? label : Py_None, operands)
             : nullptr;
}

/// _value(index): the Value of a node
BURLAB_COLD PyObject* tape_value(PyObject* self, PyObject* number) {
  const unsigned long index = PyLong_AsUnsignedLong(number);
  if (PyErr_Occurred()) return nullptr;
  if (index == 0 || index >= as_tape(self)->nodes.size)
    return fail(PyExc_IndexError, "the tape has no node %lu.", index);
  return object_of(as_tape(self), static_cast<std::uint32_t>(index));
}

/// _take_status() -> the status that C++ code has left; the tape is usable again
BURLAB_COLD PyObject* tape_take_status(PyObject* self, PyObject*) {
  const Status status = as_tape(self)->status();
  as_tape(self)->clear_status();
  return PyLong_FromLong(status);
}

}  // namespace burlab::python
BURLAB_END
