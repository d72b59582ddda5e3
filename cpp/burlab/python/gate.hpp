#pragma once
// The one gate between Python's arrays and a kernel: checks by the buffer protocol, then the call. A call that does not
// pass goes to Python (`burlab/runtime/gate.py`), which converts what can be converted and explains what cannot.
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "../abi.hpp"
#include "stable.hpp"

BURLAB_BEGIN
namespace burlab::python {

/// What an argument or a result must be. Mirrored by `burlab/runtime/gate.py`.
struct Port {
  const char* codes;  // type codes of the buffer protocol that mean its dtype
  Size itemsize, ndim, nbytes;
  const Size* shape;
  Object* make;  // of a result: the arguments of numpy.empty; of a 0-d result: an array of one element
  void* cell;    // where the element of that array lies
};

/// A kernel and its ports. One per callable, owned by the Python object `owner`.
struct Gate {
  std::int64_t (*run)(const void* context, const void* const* in, void* const* out, void* workspace) noexcept;
  const void* context;
  std::int64_t workspace, inputs, outputs, releases;
  const Port* ports;                                        // inputs, then outputs
  Object *empty, *number, *fallback, *owner;  // numpy.empty; float; what takes over; what keeps all this alive
  void* spare;                                // a workspace that no call uses
};

inline constexpr const char* kGate = "burlab.gate";
inline constexpr Size kMostPorts = 128;       // a call with more goes the slow way
inline constexpr std::int64_t kSmall = 4096;  // bytes of workspace that live on the stack
inline constexpr std::int64_t kUnfit = -1, kUnknownKeyword = -2;

/// A new reference to fallback(status, arguments, out): Python's word on what the gate could not settle.
BURLAB_NOINLINE Object* fall_back(Gate& gate, std::int64_t status, Object* const* args, Size count, Object* out) {
  Object* given = new_tuple(count);
  if (given == nullptr) return nullptr;
  for (Size k = 0; k < count; ++k) increase(args[k]), set_tuple_item(given, k, args[k]);
  Object* all = new_tuple(3);
  if (all == nullptr) return nullptr;
  set_tuple_item(all, 0, new_int(status));
  set_tuple_item(all, 1, given);
  if (out == nullptr) out = new_tuple(0);
  else increase(out);
  set_tuple_item(all, 2, out);
  Object* result = call_object(gate.fallback, all);
  decrease(all);
  return result;
}

/// The buffers, numbers and new arrays of one call; gives back what it holds.
class Crossing {
 public:
  explicit Crossing(Gate& gate) : gate_(gate) {}
  Crossing(const Crossing&) = delete;
  Crossing& operator=(const Crossing&) = delete;
  ~Crossing() {
    for (Size k = 0; k < held_; ++k) release(&buffers_[k]);
    for (Size k = 0; k < made_; ++k) decrease(results_[k]);
  }

  /// A buffer, or a Python float where a float number is expected.
  BURLAB_INLINE bool take_input(Object* x, Size k) {
    const Port& port = gate_.ports[k];
    if (port.ndim == 0 && (port.codes[0] == 'd' || port.codes[0] == 'f')) {
      Object* type = type_of(x);
      decrease(type);  // its type outlives the argument
      if (type == gate_.number) {
        const double value = as_double(x);
        if (port.codes[0] == 'd') numbers_[k].wide = value;
        else numbers_[k].narrow = static_cast<float>(value);
        pointers_[k] = &numbers_[k];
        return true;
      }
    }
    return hold(x, k, Format | Contiguous);
  }

  /// The caller's own array: the result itself.
  bool take_output(Object* x, Size k) {
    if (!hold(x, k, Format | Contiguous | Writable) || !is_alone(k)) return false;
    increase(results_[made_++] = x);
    given_ = true;
    return true;
  }

  /// A fresh array, or a place for a number that becomes a NumPy scalar after the call.
  BURLAB_INLINE bool make_output(Size k) {
    const Port& port = gate_.ports[k];
    Object*& result = results_[made_];
    if (port.ndim == 0) {
      pointers_[k] = &numbers_[k];
      increase(result = port.make);
      ++made_;
      return true;
    }
    result = call_object(gate_.empty, port.make);
    if (result == nullptr) return false;
    ++made_;
    Buffer& buffer = buffers_[held_];
    if (get_buffer(result, &buffer, Writable) != 0) return false;
    ++held_;
    pointers_[k] = buffer.data;
    return true;
  }

  std::int64_t run() {
    if (gate_.workspace <= kSmall) {
      alignas(64) char workspace[kSmall];
      return run(workspace);
    }
    void* workspace = gate_.spare;  // taken and given back under the GIL: a second thread finds none, and gets its own
    gate_.spare = nullptr;
    if (workspace == nullptr) {
      const auto nbytes = static_cast<std::size_t>((gate_.workspace + 63) / 64 * 64);
      workspace = std::aligned_alloc(64, nbytes);
      if (workspace == nullptr) return OutOfMemory;
    }
    const std::int64_t status = run(workspace);
    if (gate_.spare == nullptr) gate_.spare = workspace;
    else std::free(workspace);
    return status;
  }

  /// The results: a new reference.
  Object* results() {
    for (Size k = 0; k < made_; ++k) {
      const Port& port = gate_.ports[gate_.inputs + k];
      if (port.ndim != 0 || given_) continue;
      __builtin_memcpy(port.cell, &numbers_[gate_.inputs + k], static_cast<std::size_t>(port.itemsize));
      Object* scalar = sequence_item(results_[k], 0);
      if (scalar == nullptr) return nullptr;
      decrease(results_[k]);
      results_[k] = scalar;
    }
    Object* tuple = new_tuple(made_);
    for (Size k = 0; tuple != nullptr && k < made_; ++k) set_tuple_item(tuple, k, results_[k]);
    if (tuple != nullptr) made_ = 0;
    return tuple;
  }

 private:
  union Number {
    double wide;
    float narrow;
    std::int64_t whole;
  };

  BURLAB_INLINE bool hold(Object* x, Size k, int flags) {
    const Port& port = gate_.ports[k];
    Buffer& buffer = buffers_[held_];
    if (get_buffer(x, &buffer, flags) != 0) return clear_error(), false;
    ++held_;
    pointers_[k] = buffer.data;
    if (buffer.itemsize != port.itemsize || buffer.ndim != port.ndim || buffer.nbytes != port.nbytes) return false;
    for (Size axis = 0; axis < port.ndim; ++axis)
      if (buffer.shape[axis] != port.shape[axis]) return false;
    const char* format = buffer.format;
    if (format == nullptr) return false;
    constexpr char kNative = std::endian::native == std::endian::little ? '<' : '>';
    if (*format == '@' || *format == '=' || *format == kNative) ++format;
    if (*format != port.codes[0] && *format != port.codes[1]) return false;
    const auto address = reinterpret_cast<std::uintptr_t>(buffer.data);
    return format[0] != 0 && format[1] == 0 && address % static_cast<std::uintptr_t>(port.itemsize) == 0;
  }

  /// Whether the array just held shares no byte with the others.
  bool is_alone(Size k) const {
    const char *begin = static_cast<const char*>(pointers_[k]), *end = begin + gate_.ports[k].nbytes;
    for (Size other = 0; other < k; ++other) {
      const char* first = static_cast<const char*>(pointers_[other]);
      if (begin < first + gate_.ports[other].nbytes && first < end) return false;
    }
    return true;
  }

  std::int64_t run(void* workspace) {
    if (gate_.releases == 0) return gate_.run(gate_.context, pointers_, pointers_ + gate_.inputs, workspace);
    Thread* thread = save_thread();
    const std::int64_t status = gate_.run(gate_.context, pointers_, pointers_ + gate_.inputs, workspace);
    restore_thread(thread);
    return status;
  }

  Gate& gate_;
  Size held_ = 0, made_ = 0;
  bool given_ = false;
  void* pointers_[kMostPorts];
  Number numbers_[kMostPorts];
  Object* results_[kMostPorts];
  Buffer buffers_[kMostPorts];
};

/// The array for result k out of what was passed as out=, a tuple or a single array: borrowed, nullptr where there is
/// none.
BURLAB_NOINLINE Object* given_output(const Gate& gate, Object* out, Size k) {
  const Size count = tuple_size(out);
  if (count < 0) return clear_error(), gate.outputs == 1 ? out : nullptr;
  return count == gate.outputs ? tuple_item(out, k) : nullptr;
}

/// callable(*inputs) or callable(*inputs, out=buffers).
inline Object* pass(Object* self, Object* const* args, Size count, Object* names) {
  Gate& gate = *static_cast<Gate*>(capsule_pointer(self, kGate));
  Object* out = nullptr;
  if (names != nullptr && tuple_size(names) > 0) {
    if (tuple_size(names) != 1 || compare(tuple_item(names, 0), "out") != 0)
      return fall_back(gate, kUnknownKeyword, args, count, names);
    out = args[count];
  }
  if (count != gate.inputs || gate.inputs + gate.outputs > kMostPorts) return fall_back(gate, kUnfit, args, count, out);
  Crossing crossing(gate);
  for (Size k = 0; k < count; ++k)
    if (!crossing.take_input(args[k], k)) return fall_back(gate, kUnfit, args, count, out);
  for (Size k = 0; k < gate.outputs; ++k) {
    if (out == nullptr) {
      if (!crossing.make_output(gate.inputs + k)) return nullptr;
    } else {
      Object* array = given_output(gate, out, k);
      if (array == nullptr || !crossing.take_output(array, gate.inputs + k))
        return fall_back(gate, kUnfit, args, count, out);
    }
  }
  const std::int64_t status = crossing.run();
  if (BURLAB_UNLIKELY(status != Ok)) return fall_back(gate, status, args, count, out);
  return crossing.results();
}

inline Method kMethod{"kernel", pass, FastCall | Keywords,
                      "kernel(*arrays, out=None): the outputs of a compiled graph."};

/// The last reference to a callable is gone, and with it the gate's memory, which `owner` holds.
inline void destroy(Object* capsule) {
  Gate& gate = *static_cast<Gate*>(capsule_pointer(capsule, kGate));
  std::free(gate.spare);
  decrease(gate.owner);
}

/// A Python callable for a gate, which must stay where it is as long as its `owner` lives. A new reference.
inline Object* new_callable(Gate* gate) {
  Object* capsule = new_capsule(gate, kGate, destroy);
  if (capsule == nullptr) return nullptr;
  increase(gate->owner);
  Object* callable = new_function(&kMethod, capsule, nullptr);
  decrease(capsule);
  return callable;
}

}  // namespace burlab::python
BURLAB_END
