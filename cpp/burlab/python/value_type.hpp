#pragma once
// The types Value and Tape. `make_types` is called once, by burlab/eager/native.py.
#include "value_face.hpp"
#include "value_operation.hpp"

BURLAB_BEGIN
namespace burlab::eager {

BURLAB_COLD PyTypeObject* make_value_type() {
  static PyGetSetDef attributes[] = {{"data", get_number, set_number, nullptr, nullptr},
                                     {"grad", get_number, set_number, nullptr, &environment},
                                     {"tape", get_tape, nullptr, nullptr, nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {
      {"backward", as_method(backward), METH_FASTCALL | METH_KEYWORDS,
       "backward(accumulate=False): gradients of this Value by everything that it was computed from."},
      {"__array_ufunc__", as_method(array_ufunc), METH_FASTCALL | METH_KEYWORDS, nullptr},
      {"relu", method<ops::Relu>, METH_NOARGS, ops::Relu::doc},
      {"tanh", method<ops::Tanh>, METH_NOARGS, ops::Tanh::doc},
      {"exp", method<ops::Exp>, METH_NOARGS, ops::Exp::doc},
      {"log", method<ops::Log>, METH_NOARGS, ops::Log::doc},
      {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(value_new)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(value_dealloc)},
                         {Py_tp_hash, reinterpret_cast<void*>(hash)},
                         {Py_tp_getset, attributes},
                         {Py_tp_methods, methods},
                         {Py_nb_add, reinterpret_cast<void*>(binary<ops::Add>)},
                         {Py_nb_subtract, reinterpret_cast<void*>(binary<ops::Sub>)},
                         {Py_nb_multiply, reinterpret_cast<void*>(binary<ops::Mul>)},
                         {Py_nb_true_divide, reinterpret_cast<void*>(binary<ops::Div>)},
                         {Py_nb_power, reinterpret_cast<void*>(power)},
                         {Py_nb_negative, reinterpret_cast<void*>(negative)},
                         {0, nullptr}};
  PyType_Spec spec = {"burlab.eager.value.Value", sizeof(ValueObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  PyTypeObject* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (type) type->tp_vectorcall = value_call;
  return type;
}

BURLAB_COLD PyTypeObject* make_tape_type() {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(tape_new)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(tape_dealloc)},
                         {Py_sq_length, reinterpret_cast<void*>(tape_length)},
                         {0, nullptr}};
  PyType_Spec spec = {"burlab.eager.native.Tape", sizeof(TapeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

BURLAB_COLD PyTypeObject* make_operation_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperationObject, call), READONLY, nullptr},
      {"__name__", T_OBJECT, offsetof(OperationObject, name), READONLY, nullptr},
      {"__doc__", T_OBJECT, offsetof(OperationObject, doc), READONLY, nullptr},
      {"code", T_UINT, offsetof(OperationObject, code), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(operation_get)},
                         {Py_tp_members, members},
                         {0, nullptr}};
  PyType_Spec spec = {"burlab.eager.native.Operation", sizeof(OperationObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

/// {name: Operation} of everything that a tape records.
BURLAB_COLD PyObject* make_operations() {
  PyTypeObject* type = make_operation_type();
  PyObject* operations = type ? PyDict_New() : nullptr;
  for (std::uint32_t row = 0; operations && row < scalar_rows.size(); ++row) {
    if (!scalar_rows[row].differentiable || scalar_rows[row].arity > 2) continue;
    OperationObject* operation = PyObject_New(OperationObject, type);
    if (!operation) return nullptr;
    operation->call = operation_call;
    operation->name = PyUnicode_FromString(scalar_rows[row].name);
    operation->doc = PyUnicode_FromString(scalar_rows[row].doc);
    operation->code = row + 1;
    operation->arity = scalar_rows[row].arity;
    if (PyDict_SetItem(operations, operation->name, &operation->head) < 0) return nullptr;
    release(&operation->head);
  }
  return operations;
}

/// make_types((tape_error, argument_error, type_error, entered_tape, default_tape, number_types, ufunc_codes,
/// ufunc_fallback, load_tools)) -> (Value, Tape, operations, the address of `Environment::entered`)
BURLAB_COLD PyObject* make_types(PyObject* given) {
  Environment& e = environment;
  if (!PyArg_ParseTuple(given, "OOOOOOOOO", &e.tape_error, &e.argument_error, &e.type_error, &e.entered_tape,
                        &e.default_tape, &e.number_types, &e.ufunc_codes, &e.ufunc_fallback, &e.load_tools))
    return nullptr;
  retain(given);  // never released: the environment borrows from it
  e.two = PyLong_FromLong(2);
  e.three = PyLong_FromLong(3);
  e.value_type = make_value_type();
  e.tape_type = e.value_type ? make_tape_type() : nullptr;
  return e.tape_type
             ? Py_BuildValue("OONN", e.value_type, e.tape_type, make_operations(), PyLong_FromVoidPtr(&e.entered))
             : nullptr;
}

}  // namespace burlab::eager
BURLAB_END
