#pragma once
// The one gate between Python's arrays and a kernel: checks by the buffer protocol, then the call. Arguments that fail
// go unchanged to a Python callable, which converts them if possible and raises an error otherwise.
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "../abi.hpp"
#include "../numbers/fingerprint.hpp"
#include "signals.hpp"

BURLAB_BEGIN
namespace burlab::python {

/// The specification of an argument or a result. Mirrored in Python.
struct ArgumentSpec {
  const char* codes;  // the two type codes of the buffer protocol that mean its dtype
  Size itemsize, ndim, nbytes;
  const Size* shape;
  Size takes;            // of an input: 1 a Python float, 2 a buffer, 3 either
  Object* shape_object;  // of a result: the arguments of numpy.empty; of a 0-d result: an array of one element, which
  Object* dtype_object;  // turns the number in it into a NumPy scalar, and
  void* cell;            // where that element lies
};

/// The kind of lookup of a guarded value; Length: no lookup, but the container must have `size` items.
enum Where : Size { Fixed, Entry, Cell, Item, Attribute, Length, Code, Defaults, KeywordDefaults };

/// A value that the traced function captured, and that must still be the same object. Mirrored in Python.
struct Guard {
  Object *container, *key, *value;
  const void* content;   // of an array that must also hold the same bytes, else nullptr
  std::uint64_t digest;  // or the same fingerprint, else 0
  Size size;             // of these bytes, or of a container
  Size where;
};

/// A kernel and its specs. One for each callable. Mirrored in Python.
struct Gate {
  std::int64_t (*run)(const void* context, const void* const* in, void* const* out, void* workspace) noexcept;
  const void* context;
  Size workspace, inputs, outputs;
  Size releases;              // whether other Python threads may run during the call
  Size loops;                 // whether the kernel may run forever: then signals are handled
  Size takes_out;             // whether the keyword `out` means arrays for the results
  const ArgumentSpec* specs;  // inputs, then outputs
  const Guard* guards;
  Size guarded;
  const unsigned char* tree;  // the result: 0 for an output, n + 1 for a tuple of the n before it, 255 at the end
  Object *array, *scalar;     // numpy.ndarray, numpy.generic
  Object *empty, *number, *fallback;  // numpy.empty, float, the callable for calls that fail the checks
  void* spare;                        // a workspace, nullptr while a call uses it
};

inline constexpr Size kMaxSpecs = 240;  // a call with more takes the fallback

union Number {
  double wide;
  float narrow;
  std::int64_t whole;
};

/// Return true if x is a NumPy array or number, not a subclass: numbers of a subclass may have another meaning, as in a
/// masked array.
BURLAB_INLINE bool is_plain(const Gate& gate, Object* x) {
  Object* type = type_of(x);
  decrease(type);  // x keeps it alive
  return type == gate.array || is_subtype(type, gate.scalar) != 0;
}

/// Gets a buffer of x if x matches the spec.
BURLAB_NOINLINE bool hold(const Gate& gate, const ArgumentSpec& spec, Object* x, int flags, Buffer& buffer) {
  if (!is_plain(gate, x) || get_buffer(x, &buffer, flags) != 0) return false;
  const char* format = buffer.format != nullptr ? buffer.format : "";
  constexpr char kNative = std::endian::native == std::endian::little ? '<' : '>';
  if (*format == '@' || *format == '=' || *format == kNative) ++format;
  bool fits = (format[0] == spec.codes[0] || format[0] == spec.codes[1]) && format[0] != 0 && format[1] == 0;
  fits = fits && buffer.itemsize == spec.itemsize && buffer.ndim == spec.ndim && buffer.nbytes == spec.nbytes &&
         reinterpret_cast<std::uintptr_t>(buffer.data) % static_cast<std::uintptr_t>(spec.itemsize) == 0;
  BURLAB_ONE_BY_ONE
  for (Size axis = 0; fits && axis < spec.ndim; ++axis) fits = buffer.shape[axis] == spec.shape[axis];
  if (!fits) release(&buffer);
  return fits;
}

/// Return true if the memory of spec k is that of no earlier spec.
BURLAB_NOINLINE bool is_alone(const Gate& gate, void* const* at, Size k) {
  const char *begin = static_cast<const char*>(at[k]), *end = begin + gate.specs[k].nbytes;
  bool alone = true;
  BURLAB_ONE_BY_ONE
  for (Size other = 0; other < k; ++other) {
    const char* first = static_cast<const char*>(at[other]);
    alone = alone && (end <= first || first + gate.specs[other].nbytes <= begin);
  }
  return alone;
}

/// Return true if a guard's value is the same object with the same contents.
BURLAB_NOINLINE bool is_unchanged(const Guard& guard) {
  if (guard.where == Length) return object_size(guard.container) == guard.size;
  Object* now = guard.value;
  if (guard.where == Entry) {
    now = dict_item(guard.container, guard.key);
  } else if (guard.where >= Code) {
    now = guard.where == Code       ? function_code(guard.container)
          : guard.where == Defaults ? function_defaults(guard.container)
                                    : function_keyword_defaults(guard.container);
  } else if (guard.where != Fixed) {
    now = guard.where == Cell   ? cell_contents(guard.container)
          : guard.where == Item ? get_item(guard.container, guard.key)
                                : get_attribute(guard.container, guard.key);
    decrease(now);  // if it is the value, the guard keeps it
  }
  if (now != guard.value) return false;
  if (guard.content == nullptr && guard.digest == 0) return true;
  Buffer buffer;
  if (get_buffer(guard.value, &buffer, Contiguous) != 0) return false;
  const bool same =
      buffer.nbytes == guard.size &&
      (guard.digest != 0 ? fingerprint(buffer.data, buffer.nbytes) == guard.digest
                         : std::memcmp(buffer.data, guard.content, static_cast<std::size_t>(guard.size)) == 0);
  release(&buffer);
  return same;
}

/// Runs the kernel, with a new workspace if another thread uses the spare one.
BURLAB_NOINLINE std::int64_t run(Gate& gate, void* const* at) {
  void* workspace = gate.spare;
  const bool own = workspace == nullptr && gate.workspace > 0;
  gate.spare = nullptr;
  if (own) workspace = std::aligned_alloc(64, static_cast<std::size_t>(rounded(gate.workspace)));
  if (own && workspace == nullptr) return OutOfMemory;
  const auto call = [&] { return gate.run(gate.context, at, at + gate.inputs, workspace); };
  Thread* thread = gate.releases != 0 && gate.loops == 0 ? save_thread() : nullptr;
  const std::int64_t outcome = gate.loops == 0 ? call() : interruptible(nullptr, call);
  if (thread != nullptr) restore_thread(thread);
  if (own) std::free(workspace);
  else gate.spare = workspace;
  return outcome;
}

/// callable(*inputs) or callable(*inputs, out=arrays). self: a tuple that begins with the address of the Gate.
inline Object* pass(Object* self, Object* const* args, Size count, Object* names) {
  Gate& gate = *static_cast<Gate*>(as_pointer(tuple_item(self, 0)));
  Buffer buffers[kMaxSpecs];
  void* at[kMaxSpecs];
  Number numbers[kMaxSpecs];
  Object *results[kMaxSpecs], *out = nullptr, *result = nullptr;
  Size held = 0, made = 0, given = 0;
  bool fits = count == gate.inputs && gate.inputs + gate.outputs <= kMaxSpecs;
  BURLAB_ONE_BY_ONE
  for (Size k = 0; fits && k < gate.guarded; ++k) fits = is_unchanged(gate.guards[k]);
  if (names != nullptr) {
    fits = fits && gate.takes_out != 0 && tuple_size(names) == 1 && compare(tuple_item(names, 0), "out") == 0;
    out = args[count];
    given = tuple_size(out);  // -1: one array, not a tuple of arrays
    if (given < 0) clear_error();
    const bool single = gate.tree[0] == 0 && gate.tree[1] == 255;  // the result is one array, not a tuple of one
    fits = fits && (given < 0 ? gate.outputs == 1 : given == gate.outputs && !single);
  }
  BURLAB_ONE_BY_ONE
  for (Size k = 0; fits && k < count; ++k) {
    const ArgumentSpec& spec = gate.specs[k];
    if ((spec.takes & 1) != 0) {
      Object* type = type_of(args[k]);
      decrease(type);  // the argument keeps it alive
      if (type == gate.number) {
        const double value = as_double(args[k]);
        if (spec.itemsize == sizeof(double)) numbers[k].wide = value;
        else numbers[k].narrow = static_cast<float>(value);
        at[k] = &numbers[k];
        continue;
      }
    }
    fits = (spec.takes & 2) != 0 && hold(gate, spec, args[k], Format | Contiguous, buffers[held]);
    if (fits) at[k] = buffers[held++].data;
  }
  BURLAB_ONE_BY_ONE
  for (Size k = gate.inputs; fits && made < gate.outputs; ++k) {
    const ArgumentSpec& spec = gate.specs[k];
    at[k] = &numbers[k];
    if (out == nullptr && spec.ndim == 0) {
      results[made++] = nullptr;
      continue;
    }
    if (out == nullptr) {
      results[made] = call(gate.empty, &spec.shape_object, 2, nullptr);
      fits = results[made] != nullptr && get_buffer(results[made], &buffers[held], Writable) == 0;
    } else {
      increase(results[made] = given < 0 ? out : tuple_item(out, made));
      fits = hold(gate, spec, results[made], Writable | Format | Contiguous, buffers[held]);
    }
    ++made;
    if (fits) at[k] = buffers[held++].data;
    fits = fits && (out == nullptr || is_alone(gate, at, k));
  }
  const std::int64_t outcome = fits ? run(gate, at) : std::int64_t{Ok};
  fits = fits && outcome == Ok;
  if (fits) {
    Size next = 0, top = 0;
    Object* stack[kMaxSpecs];
    BURLAB_ONE_BY_ONE
    for (const unsigned char* t = gate.tree; *t != 255; ++t) {
      if (*t == 0) {
        const ArgumentSpec& spec = gate.specs[gate.inputs + next];
        if (results[next] == nullptr) {
          std::memcpy(spec.cell, &numbers[gate.inputs + next], static_cast<std::size_t>(spec.itemsize));
          results[next] = sequence_item(spec.shape_object, 0);
        }
        stack[top++] = results[next++];
      } else {
        Object* tuple = new_tuple(*t - 1);
        top -= *t - 1;
        for (Size i = 0; tuple != nullptr && i < *t - 1; ++i) set_tuple_item(tuple, i, stack[top + i]);
        stack[top++] = tuple;
      }
    }
    result = stack[0];
  }
  BURLAB_ONE_BY_ONE
  for (Size k = 0; k < held; ++k) release(&buffers[k]);
  if (fits) return result;
  BURLAB_ONE_BY_ONE
  for (Size k = 0; k < made; ++k) decrease(results[k]);
  if (gate.loops != 0 && outcome == Stopped && error() != nullptr) return nullptr;  // a signal's handler raised
  clear_error();
  return call(gate.fallback, args, static_cast<std::size_t>(count), names);
}

}  // namespace burlab::python
BURLAB_END
