#pragma once
// Operations over sequences of Values and numbers: one node, whatever the length.
#include "../tape/wide.hpp"
#include "value_arithmetic.hpp"

BURLAB_BEGIN
namespace burlab::eager {

/// The operands of one call, in the order of their edges: x_0 x_1 ... or x_0 w_0 x_1 w_1 ..., and perhaps one more.
struct Operands {
  PyObject *xs, *ws, *last;  // tuples, which are immutable; ws and last may be null
  Block<Edge> edges;
  TapeObject* tape = nullptr;

  PyObject* item(std::uint32_t i) const {
    if (last && i + 1 == edges.size) return last;
    return PyTuple_GetItem(ws && i % 2 ? ws : xs, ws ? i / 2 : i);
  }

  /// Read the numbers, and find the tape of the Values. May run Python, so no node is read yet.
  BURLAB_OPTNONE bool read() {
    const std::size_t count = static_cast<std::size_t>(PyTuple_Size(xs)) * (ws ? 2 : 1) + (last ? 1 : 0);
    if (count >= UINT32_MAX || !edges.resize(static_cast<std::uint32_t>(count))) return PyErr_NoMemory(), false;
    edges.size = edges.capacity;
    for (std::uint32_t i = 0; i < edges.size; ++i) {
      PyObject* object = item(i);
      edges[i] = {0, 0};
      if (is_value(object)) {
        if (tape && as_value(object)->tape != tape) return fail_two_tapes(), false;
        tape = tape_of(as_value(object));
        continue;
      }
      const int known = number(object, &edges[i].partial);
      if (known == 0)
        PyErr_Format(environment.type_error, "a sequence of Values and real numbers is needed, but item %u is %.100s.",
                     ws ? i / 2 : i, object->ob_type->tp_name);
      if (known <= 0) return false;
    }
    return true;
  }

  /// Store the numbers of the nodes. No Python runs between this and the recording.
  BURLAB_OPTNONE bool name() const {
    for (std::uint32_t i = 0; i < edges.size; ++i) {
      PyObject* object = item(i);
      if (!is_value(object)) continue;
      if (!held_by_any(as_value(object))) return fail_stale(), false;
      edges[i].parent = as_value(object)->index;
    }
    return true;
  }
};

BURLAB_COLD PyObject* reduce_tuples(std::uint32_t code, PyObject* xs, PyObject* ws, PyObject* last) {
  Operands operands{xs, ws, last, {}};
  if (!operands.read()) return nullptr;
  const Block<Edge>& edges = operands.edges;
  TapeObject* tape = operands.tape;
  if (!tape) return PyFloat_FromDouble(WideRule<double>{nullptr, edges.at, edges.size}.evaluate(code));
  if (tape->other) return operands.name() ? tape->other->reduce(code, edges) : nullptr;
  if (!room(tape) || !operands.name()) return nullptr;
  const std::uint32_t index = tape->record_wide(code, edges.at, edges.size);
  if (index != no_node) return wrap(tape, index);
  tape->clear_status();
  return PyErr_NoMemory();
}

/// reduce(name, xs, ws or None, last or None): a Value, or a float where no operand is a Value
BURLAB_COLD PyObject* reduce(PyObject*, PyObject* const* args, Py_ssize_t) {
  std::uint32_t code = first_wide_code;
  while (PyUnicode_CompareWithASCIIString(args[0], operation_name(code))) ++code;
  PyObject* xs = PySequence_Tuple(args[1]);
  PyObject* ws = xs && args[2] != Py_None ? PySequence_Tuple(args[2]) : nullptr;
  PyObject* result = nullptr;
  if (ws && PyTuple_Size(xs) != PyTuple_Size(ws))
    PyErr_Format(environment.argument_error, "both sequences need the same length, but have %zd and %zd items.",
                 PyTuple_Size(xs), PyTuple_Size(ws));
  else if (!PyErr_Occurred()) result = reduce_tuples(code, xs, ws, args[3] != Py_None ? args[3] : nullptr);
  release(xs);
  release(ws);
  return result;
}

}  // namespace burlab::eager
BURLAB_END
