#pragma once
// The table of functions of tape_tools.hpp and sequence_tools.hpp, and all operations that the types do not contain.
#include "sequence_tools.hpp"
#include "tape_tools.hpp"

BURLAB_BEGIN
namespace burlab::eager {

/// {name: function}
BURLAB_COLD PyObject* make_tools() {
  using Function = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
  static constexpr struct {
    const char* name;
    Function function;
  } tools[] = {{"get_label", get_label}, {"set_label", set_label},    {"index", index},       {"value", value},
               {"node", node},           {"measure", measure},        {"position", position}, {"cut", cut},
               {"replay", replay},       {"reclaims", reclaims},      {"tidy", tidy},         {"reduce", reduce},
               {"apply", apply},         {"take_status", take_status}};
  static PyMethodDef methods[std::size(tools)];
  PyObject* functions = PyDict_New();
  for (std::size_t k = 0; functions && k < std::size(tools); ++k) {
    methods[k] = {tools[k].name, as_method(tools[k].function), METH_FASTCALL, nullptr};
    PyObject* function = PyCFunction_NewEx(&methods[k], nullptr, nullptr);
    if (!function || PyDict_SetItemString(functions, tools[k].name, function) < 0) return nullptr;
    release(function);
  }
  environment.evaluate = evaluate;
  return functions;
}

}  // namespace burlab::eager
BURLAB_END
