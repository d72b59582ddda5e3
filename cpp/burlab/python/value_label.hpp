#pragma once
// Names and texts: the labels that users give, and how a Value prints itself and its operation.
#include "value_object.hpp"

BURLAB_BEGIN
namespace burlab::python {

inline void release_label(void* text) { release(static_cast<PyObject*>(text)); }

/// Where the label of a node stands in its tape's table, or would stand.
BURLAB_COLD std::uint32_t label_position(const Tape& tape, std::uint32_t node) {
  std::uint32_t low = 0, high = tape.labels.size;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (tape.labels[middle].node < node) low = middle + 1;
    else high = middle;
  }
  return low;
}

/// The label of a node, a borrowed str, or null.
BURLAB_COLD PyObject* label_of(const Tape& tape, std::uint32_t node) {
  const std::uint32_t at = label_position(tape, node);
  return at < tape.labels.size && tape.labels[at].node == node ? static_cast<PyObject*>(tape.labels[at].text) : nullptr;
}

BURLAB_COLD void drop_label(Tape& tape, std::uint32_t at) {
  void* text = tape.labels[at].text;
  std::memmove(&tape.labels[at], &tape.labels[at] + 1, (--tape.labels.size - at) * sizeof(Label));
  tape.release(text);
}

BURLAB_COLD bool put_label(Tape& tape, std::uint32_t at, Label label) {
  if (!tape.labels.reserve(1)) return false;
  std::memmove(&tape.labels[at] + 1, &tape.labels[at], (tape.labels.size++ - at) * sizeof(Label));
  tape.labels[at] = label;
  return true;
}

inline PyObject* get_label(PyObject* self, void*) {
  if (!held(as_value(self))) return fail_stale();
  PyObject* text = label_of(*as_value(self)->tape, as_value(self)->index);
  return retain(text ? text : Py_None);
}

BURLAB_COLD int set_label(PyObject* self, PyObject* text, void*) {
  if (!text) text = Py_None;
  if (text != Py_None && !PyUnicode_CheckExact(text))
    return fail(PyExc_TypeError, "a label is a str or None, but got %.100s.", text->ob_type->tp_name), -1;
  if (!held(as_value(self))) return fail_stale(), -1;
  Tape& tape = *as_value(self)->tape;
  const std::uint32_t node = as_value(self)->index, at = label_position(tape, node);
  if (at < tape.labels.size && tape.labels[at].node == node) drop_label(tape, at);
  if (text == Py_None || put_label(tape, at, {node, retain(text)})) return 0;
  release(text);
  return PyErr_NoMemory(), -1;
}

/// A number as Python prints it; `integral` leaves out the ".0".
BURLAB_COLD PyObject* number_text(double x, bool integral = false) {
  char* text = PyOS_double_to_string(x, 'r', 0, integral ? 0 : Py_DTSF_ADD_DOT_0, nullptr);
  PyObject* result = text ? PyUnicode_FromString(text) : PyErr_NoMemory();
  PyMem_Free(text);
  return result;
}

/// Value(data=2.0, grad=0.0, label='b')
BURLAB_COLD PyObject* repr(PyObject* self) {
  if (!held(as_value(self))) return PyUnicode_FromString("Value(cut off)");
  const Node n = node_of(as_value(self));
  PyObject* label = label_of(*as_value(self)->tape, as_value(self)->index);
  PyObject *data = number_text(n.value), *grad = number_text(n.gradient), *result = nullptr;
  if (data && grad && label) result = PyUnicode_FromFormat("Value(data=%U, grad=%U, label=%R)", data, grad, label);
  else if (data && grad) result = PyUnicode_FromFormat("Value(data=%U, grad=%U)", data, grad);
  release(data);
  release(grad);
  return result;
}

/// The operation as micrograd writes it: "+", "**2", "ReLU", "" for a leaf; for what it does not know, our name.
BURLAB_COLD PyObject* get_op(PyObject* self, void*) {
  if (!held(as_value(self))) return fail_stale();
  const Node n = node_of(as_value(self));
  switch (n.code) {
    case leaf_code:
      return PyUnicode_FromString("");
    case code_of<ops::Add>:
      return PyUnicode_FromString("+");
    case code_of<ops::Sub>:
      return PyUnicode_FromString("-");
    case code_of<ops::Mul>:
      return PyUnicode_FromString("*");
    case code_of<ops::Div>:
      return PyUnicode_FromString("/");
    case code_of<ops::Square>:
      return PyUnicode_FromString("**2");
    case code_of<ops::Cube>:
      return PyUnicode_FromString("**3");
    case code_of<ops::Relu>:
      return PyUnicode_FromString("ReLU");
    default:
      break;
  }
  if (n.code != code_of<ops::Power>) return PyUnicode_FromString(operation_name(n.code));
  if (n.parent[1]) return PyUnicode_FromString("**");
  PyObject* exponent = number_text(n.partial[1], true);
  PyObject* result = exponent ? PyUnicode_FromFormat("**%U", exponent) : nullptr;
  release(exponent);
  return result;
}

BURLAB_COLD PyObject* refuse_copy(PyObject*, PyObject*) {
  return fail(
      PyExc_TypeError,
      "a Value cannot be copied or pickled: it is a node of a tape. Make a new leaf from its number, Value(x.data).");
}

/// The operands that are Values, as micrograd has them: a set.
BURLAB_COLD PyObject* get_prev(PyObject* self, void*) {
  if (!held(as_value(self))) return fail_stale();
  TapeObject* tape = tape_of(as_value(self));
  PyObject* operands = PySet_New(nullptr);
  tape->for_each_operand(Node(node_of(as_value(self))), [&](std::uint32_t parent, double) {
    if (!operands || !parent) return;
    PyObject* operand = object_of(tape, parent);
    if (!operand || PySet_Add(operands, operand) < 0) release(operands), operands = nullptr;
    release(operand);
  });
  return operands;
}

}  // namespace burlab::python
BURLAB_END
