#pragma once
// The types Value and Tape, put together. `make_types` is called once, by burlab/eager/native.py.
#include "tape_face.hpp"
#include "value_face.hpp"
#include "value_sequence.hpp"
#include "value_ufunc.hpp"

BURLAB_BEGIN
namespace burlab::python {

/// Which operations become methods: all that the tape records, but not those that are operators.
template <class Op>
constexpr bool is_operator =
    code_of<Op> == code_of<ops::Add> || code_of<Op> == code_of<ops::Sub> || code_of<Op> == code_of<ops::Mul> ||
    code_of<Op> == code_of<ops::Div> || code_of<Op> == code_of<ops::Neg> || code_of<Op> == code_of<ops::Power>;

inline PyMethodDef methods[64];

BURLAB_INLINE void add_method(std::uint32_t& count, PyMethodDef method) { methods[count++] = method; }

template <class... Ops>
BURLAB_COLD void add_methods(std::uint32_t& count, ops::List<Ops...>) {
  const auto add = [&]<class Op>(ops::List<Op>) {
    if constexpr (Recordable<Op>)
      if constexpr (!is_operator<Op>)
        add_method(count, {Op::name, method<Op>, Op::arity == 1 ? METH_NOARGS : METH_O, Op::doc});
  };
  (add(ops::List<Ops>{}), ...);
}

inline PyGetSetDef attributes[] = {
    {"data", get_data, set_data, "The number, float64. Settable: the next operations use it.", nullptr},
    {"grad", get_grad, set_grad, "The derivative of the last root by this Value, float64. Settable.", nullptr},
    {"label", get_label, set_label, "A name for displays, a str or None. Settable.", nullptr},
    {"tape", get_tape, nullptr, "The Tape that holds this Value.", nullptr},
    {"_prev", get_prev, nullptr, "The operands that are Values, a set.", nullptr},
    {"_op", get_op, nullptr, "The operation as a str, empty for a leaf.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

inline PyMethodDef tape_methods[] = {{"_reclaim", tape_reclaim, METH_O, nullptr},
                                     {"_reclaims", tape_reclaims, METH_NOARGS, nullptr},
                                     {"_measure", tape_measure, METH_NOARGS, nullptr},
                                     {"_position", tape_position, METH_NOARGS, nullptr},
                                     {"_cut", tape_cut, METH_O, nullptr},
                                     {"_replay", tape_replay, METH_O, nullptr},
                                     {"_index", tape_index, METH_O, nullptr},
                                     {"_node", tape_node, METH_O, nullptr},
                                     {"_value", tape_value, METH_O, nullptr},
                                     {"_take_status", tape_take_status, METH_NOARGS, nullptr},
                                     {nullptr, nullptr, 0, nullptr}};

inline PyMethodDef reduce_method = {"reduce", as_method(reduce), METH_FASTCALL, nullptr};

BURLAB_COLD PyTypeObject* make_value_type() {
  std::uint32_t count = 0;
  add_method(count, {"backward", as_method(backward), METH_FASTCALL | METH_KEYWORDS,
                     "backward(accumulate=False): gradients of this Value by everything it was computed from."});
  add_method(count, {"__array_ufunc__", as_method(array_ufunc), METH_FASTCALL | METH_KEYWORDS, nullptr});
  add_method(count, {"__reduce_ex__", refuse_copy, METH_O, nullptr});
  add_methods(count, ops::Scalar{});
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(value_new)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(value_dealloc)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr)},
                         {Py_tp_hash, reinterpret_cast<void*>(hash)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                         {Py_tp_getset, attributes},
                         {Py_tp_methods, methods},
                         {Py_nb_add, reinterpret_cast<void*>(binary<ops::Add>)},
                         {Py_nb_subtract, reinterpret_cast<void*>(binary<ops::Sub>)},
                         {Py_nb_multiply, reinterpret_cast<void*>(binary<ops::Mul>)},
                         {Py_nb_true_divide, reinterpret_cast<void*>(binary<ops::Div>)},
                         {Py_nb_power, reinterpret_cast<void*>(power)},
                         {Py_nb_negative, reinterpret_cast<void*>(negative)},
                         {Py_nb_positive, reinterpret_cast<void*>(positive)},
                         {Py_nb_absolute, reinterpret_cast<void*>(absolute)},
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
                         {Py_tp_methods, tape_methods},
                         {Py_sq_length, reinterpret_cast<void*>(tape_length)},
                         {0, nullptr}};
  PyType_Spec spec = {"burlab.eager.native.Tape", sizeof(TapeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

/// make_types(tape_error, argument_error, current_tape, default_tape, number_types, ufunc_fallback, ufunc_codes)
/// -> (Value, Tape, reduce)
BURLAB_COLD PyObject* make_types(PyObject* arguments) {
  Environment& e = environment;
  if (!PyArg_ParseTuple(arguments, "OOOOOOO", &e.tape_error, &e.argument_error, &e.current_tape, &e.default_tape,
                        &e.number_types, &e.ufunc_fallback, &e.ufunc_codes))
    return nullptr;
  retain(arguments);  // for ever: the environment borrows from it
  e.value_type = make_value_type();
  e.tape_type = e.value_type ? make_tape_type() : nullptr;
  return e.tape_type
             ? Py_BuildValue("ONN", e.value_type, e.tape_type, PyCFunction_NewEx(&reduce_method, nullptr, nullptr))
             : nullptr;
}

}  // namespace burlab::python
BURLAB_END
