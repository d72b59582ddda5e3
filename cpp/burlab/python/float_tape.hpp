#pragma once
// The face of Values on a float32 tape, and its tools: compiled with the first one.
#include <memory>

#include "tools.hpp"

BURLAB_BEGIN
namespace burlab::eager {

class FloatTape final : public OtherNumbers, public Tape32 {
 public:
  explicit FloatTape(TapeObject* object) : object_(object) {}

  void destroy() override {
    std::destroy_at(this);
    PyMem_Free(this);
  }
  std::uint32_t size() const override { return Tape32::size(); }
  bool held(const ValueObject* value) const override {
    return value->slot && value->index < nodes.size && nodes[value->index].holder == value->slot;
  }
  double number(const ValueObject* value, bool gradient) const override {
    return gradient ? nodes[value->index].gradient : nodes[value->index].value;
  }
  void set_number(ValueObject* value, bool gradient, double x) override {
    (gradient ? nodes[value->index].gradient : nodes[value->index].value) = static_cast<float>(x);
  }
  PyObject* leaf(double x) override { return wrap(Tape32::leaf(static_cast<float>(x))); }
  bool make_leaf(ValueObject* value, double x) override { return hold(value, Tape32::leaf(static_cast<float>(x))); }
  PyObject* record(std::uint32_t code, burlab::Operand x, burlab::Operand y) override {
    return wrap(Tape32::record(code, operand(x), operand(y)));
  }
  PyObject* reduce(std::uint32_t code, const Block<burlab::Edge>& operands) override {
    Block<Edge> own;
    if (!own.resize(operands.size)) return PyErr_NoMemory();
    for (std::uint32_t k = 0; k < operands.size; ++k)
      own[k] = {static_cast<float>(operands[k].partial), operands[k].parent};
    return wrap(record_wide(code, own.at, operands.size));
  }
  Status backward(std::uint32_t root, bool accumulate) override {
    const Status status = Tape32::backward(root, accumulate);
    clear_status();
    return status;
  }
  void drop(ValueObject* value) override {
    if (!value->slot) return;
    if (held(value)) holders.hold(nodes[value->index], nullptr);
    holders.leave(value);
  }
  /// A Value of a node that has none; null with an exception if there is no memory, for the node or for the Value.
  PyObject* wrap(std::uint32_t index) {
    if (index == no_node) return clear_status(), PyErr_NoMemory();
    ValueObject* value = make_handle(object_, index);
    if (!value) return nullptr;
    value->slot = 0;
    return hold(value, index) ? value : (release(value), nullptr);
  }

 private:
  TapeObject* object_;

  Operand operand(burlab::Operand x) const {
    return {x.index, x.index ? nodes[x.index].value : static_cast<float>(x.value)};
  }
  bool hold(ValueObject* value, std::uint32_t index) {
    if (index == no_node || !holders.enter(value)) return clear_status(), PyErr_NoMemory(), false;
    value->index = index;
    holders.hold(nodes[index], value);
    return true;
  }
};

template <> BURLAB_INLINE Tape32& numbers_of<float>(PyObject* tape) {
  return *static_cast<FloatTape*>(as_tape(tape)->other);
}
template <> BURLAB_INLINE PyObject* wrap_in<float>(TapeObject* tape, std::uint32_t index) {
  return static_cast<FloatTape*>(tape->other)->wrap(index);
}

/// make_float(tape): a new, empty tape shall hold float32 numbers
BURLAB_COLD PyObject* make_float(PyObject*, PyObject* const* args, Py_ssize_t) {
  void* memory = PyMem_Malloc(sizeof(FloatTape));
  if (!memory) return PyErr_NoMemory();
  as_tape(args[0])->other = std::construct_at(static_cast<FloatTape*>(memory), as_tape(args[0]));
  return none();
}

/// {name: function}, with `make_float`.
BURLAB_COLD PyObject* make_float_tools() {
  static PyMethodDef method{"make_float", as_method(make_float), METH_FASTCALL, nullptr};
  PyObject* functions = make_tools<float>();
  PyObject* function = functions ? PyCFunction_NewEx(&method, nullptr, nullptr) : nullptr;
  if (!function || PyDict_SetItemString(functions, "make_float", function) < 0) return nullptr;
  release(function);
  return functions;
}

}  // namespace burlab::eager
BURLAB_END
