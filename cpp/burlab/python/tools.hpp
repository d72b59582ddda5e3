#pragma once
// The table of functions of tape_tools.hpp and sequence_tools.hpp, and all operations that the types do not contain.
#include "callback_tools.hpp"
#include "sequence_tools.hpp"
#include "tape_tools.hpp"

BURLAB_BEGIN
namespace burlab::eager {

/// {name: function} for tapes of numbers T
template <class T> BURLAB_COLD PyObject* make_tools() {
  using Function = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
  static constexpr struct {
    const char* name;
    Function function;
  } tools[] = {{"get_label", get_label<T>},
               {"set_label", set_label<T>},
               {"index", index<T>},
               {"value", value<T>},
               {"node", node<T>},
               {"measure", measure<T>},
               {"position", position<T>},
               {"cut", cut<T>},
               {"replay", replay<T>},
               {"reclaims", reclaims<T>},
               {"tidy", tidy<T>},
               {"apply", apply<T>},
               {"take_status", take_status<T>},
               {"on_backward", on_backward<T>},
               {"reduce", reduce}};
  static PyMethodDef methods[std::size(tools)];
  PyObject* functions = PyDict_New();
  for (std::size_t k = 0; functions && k < std::size(tools); ++k) {
    methods[k] = {tools[k].name, as_method(tools[k].function), METH_FASTCALL, nullptr};
    PyObject* function = PyCFunction_NewEx(&methods[k], nullptr, nullptr);
    if (!function || PyDict_SetItemString(functions, tools[k].name, function) < 0) return nullptr;
    release(function);
  }
  if constexpr (sizeof(T) == sizeof(double)) environment.evaluate = evaluate<double>;
  return functions;
}

}  // namespace burlab::eager
BURLAB_END
