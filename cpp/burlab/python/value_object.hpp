#pragma once
// The two Python objects: a Value is a handle on a node, a Tape owns the nodes. A Value retains its Tape, and a node
// points to its one Value, so that compaction can move nodes and update the handles.
#include <memory>

#include "../tape/reclaim.hpp"
#include "../tape/sweep.hpp"
#include "object.hpp"

BURLAB_BEGIN
namespace burlab::eager {

struct ValueObject : PyObject, Handle {};
struct TapeObject;

/// Values of a tape of other numbers than float64. Their `Tape` stays empty, so that it holds none of them, and always
/// full: what costs nothing extra for float64 ends at a slow path, which asks here.
struct OtherNumbers {
  virtual void destroy() = 0;
  virtual std::uint32_t size() const = 0;
  virtual bool held(const ValueObject* value) const = 0;
  virtual double number(const ValueObject* value, bool gradient) const = 0;
  virtual void set_number(ValueObject* value, bool gradient, double x) = 0;
  /// New Values; null with an exception set.
  virtual PyObject* leaf(double x) = 0;
  virtual bool make_leaf(ValueObject* value, double x) = 0;
  virtual PyObject* record(std::uint32_t code, Operand x, Operand y) = 0;
  virtual PyObject* reduce(std::uint32_t code, const Block<Edge>& operands) = 0;
  virtual Status backward(std::uint32_t root, bool accumulate) = 0;
  virtual void drop(ValueObject* value) = 0;  // a Value that dies

 protected:
  ~OtherNumbers() = default;
};

struct TapeObject : PyObject, Tape {
  OtherNumbers* other;   // nullptr: numbers are float64
  ValueObject* spare;    // dead Values to be used again, linked through `tape`
  std::uint32_t living;  // Values on this tape: while there are any, they share one reference to it
  std::uint32_t values;  // Values that hold memory, living and spare
};
constexpr std::uint32_t spare_limit = 256;

/// Objects that Python passes once, when the types are created, and that the types share.
struct Environment {
  PyTypeObject *value_type, *tape_type;
  PyObject *tape_error, *argument_error, *type_error;
  PyObject *two, *three;     // the ints
  bool entered;              // whether any `with` block has ever set a tape
  PyObject* entered_tape;    // a context variable: the tape set by a `with` block, or None
  PyObject* default_tape;    // makes the default tape of a thread
  PyObject* number_types;    // a tuple: instances are numbers, though neither float nor int
  PyObject* ufunc_codes;     // a dict: NumPy's functions to the codes of our operations
  PyObject* ufunc_fallback;  // handles the NumPy calls on a Value that C++ does not handle
  PyObject* load_tools;      // compiles tools.hpp, which sets `evaluate`
  Outcome (*evaluate)(std::uint32_t code, double x, double y, bool by_x, bool by_y);  // operations that are not loaded
  std::uint64_t thread;  // the last thread that requested a tape, and its default one
  TapeObject* tape;
};
inline Environment environment;

/// Functions of nodes that are gone (callback_tools.hpp). To release one may run any Python code, so it waits for a
/// moment when no tape changes.
inline Block<PyObject*> dropped;
BURLAB_COLD void release_dropped() {
  while (dropped.size) release(dropped[--dropped.size]);
}

BURLAB_INLINE ValueObject* as_value(PyObject* object) { return static_cast<ValueObject*>(object); }
BURLAB_INLINE TapeObject* tape_of(const ValueObject* value) { return static_cast<TapeObject*>(value->tape); }
BURLAB_INLINE Node& node_of(const ValueObject* value) { return value->tape->nodes.at[value->index]; }
BURLAB_INLINE bool is_value(PyObject* object) {
  const PyTypeObject* type = object->ob_type;
  if (type == environment.value_type) return true;
  return type != &PyFloat_Type && type != &PyLong_Type && PyType_IsSubtype(object->ob_type, environment.value_type);
}
/// Return true if a float64 tape still holds the node: `rewind` drops nodes without searching for their handles.
BURLAB_INLINE bool held(const ValueObject* value) {
  return value->index < value->tape->nodes.size && node_of(value).holder == value;
}
/// Return true if a tape of any numbers holds it.
BURLAB_INLINE bool held_by_any(const ValueObject* value) {
  return held(value) || (tape_of(value)->other && tape_of(value)->other->held(value));
}

BURLAB_COLD PyObject* fail_stale() {
  PyErr_SetString(environment.tape_error,
                  "this Value was cut off by Tape.rewind: its tape holds it no more. Make it before the mark, or again "
                  "after the rewind.");
  return nullptr;
}
BURLAB_COLD PyObject* fail_two_tapes() {
  PyErr_SetString(environment.tape_error,
                  "the operands live on two tapes. Make all leaves of one computation under the same tape: each thread "
                  "and each `with Tape()` block has its own, and `with x.tape:` goes back to that of x.");
  return nullptr;
}

/// The error of a sweep that did not end. `Stopped`: a function of the user has raised it.
BURLAB_COLD PyObject* fail_sweep(TapeObject* tape, Status status) {
  tape->clear_status();
  if (status == OutOfMemory) return PyErr_NoMemory();
  if (status == Sweeping)
    PyErr_SetString(environment.tape_error,
                    "a function that on_backward attached may change the gradient of its Value, and record, but its "
                    "tape is in the middle of backward: call backward, rewind or on_backward after that.");
  return nullptr;
}

/// Make room for one node; MemoryError if there is none. It may renumber nodes, but runs no Python.
BURLAB_COLD bool make_room(TapeObject* tape) {
  if (tape->make_room()) return true;
  tape->clear_status();
  PyErr_NoMemory();
  return false;
}
BURLAB_INLINE bool room(TapeObject* tape) { return !tape->full() || make_room(tape); }

BURLAB_COLD ValueObject* allocate(TapeObject* tape) {
  ValueObject* value = PyObject_New(ValueObject, environment.value_type);
  if (value) ++tape->values;
  return value;
}
/// A Python object for a node that has none, which does not know it yet.
BURLAB_INLINE ValueObject* make_handle(TapeObject* tape, std::uint32_t index) {
  ValueObject* value = tape->spare;
  if (BURLAB_LIKELY(value != nullptr)) {
    tape->spare = reinterpret_cast<ValueObject*>(value->tape);
    value->ob_refcnt = 1;
  } else if (!(value = allocate(tape))) {
    return nullptr;
  }
  if (BURLAB_UNLIKELY(tape->living++ == 0)) retain(tape);
  value->tape = tape;
  value->index = index;
  return value;
}
BURLAB_INLINE PyObject* wrap(TapeObject* tape, std::uint32_t index) {
  ValueObject* value = make_handle(tape, index);
  if (BURLAB_LIKELY(value != nullptr)) tape->nodes.at[index].holder = value;
  return value;
}

BURLAB_COLD void free_value(ValueObject* value) {
  PyTypeObject* type = value->ob_type;
  type->tp_free(value);
  release(type);
}
inline void value_dealloc(PyObject* self) {
  ValueObject* value = as_value(self);
  TapeObject* tape = tape_of(value);
  if (!tape) return free_value(value);  // a subclass whose construction failed
  if (BURLAB_LIKELY(held(value))) {
    node_of(value).holder = nullptr;
    if (tape->reclaims && value->index + 1 == tape->nodes.size) tape->pop_unheld();
  } else if (tape->other) {
    tape->other->drop(value);
  }
  const std::uint32_t living = --tape->living;
  if (BURLAB_LIKELY(self->ob_type == environment.value_type && tape->values - living <= spare_limit)) {
    value->tape = reinterpret_cast<Tape*>(tape->spare);
    tape->spare = value;
  } else {
    if (self->ob_type == environment.value_type) --tape->values;
    free_value(value);
  }
  if (BURLAB_UNLIKELY(living == 0)) release(tape);
}

}  // namespace burlab::eager
BURLAB_END
