#pragma once
// Memory filled before a function writes to it, so that tests see what it does not write: nan for floats of both
// widths, a number that no kernel computes for integers. Only tests enable this.
#include <cstring>

#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

inline constexpr std::uint64_t kPoison = 0x7ffadeed'7feadeed;  // a quiet nan as a double, and as two floats

inline void fill_with_poison(void* memory, Int bytes) noexcept {
  char* const to = static_cast<char*>(memory);
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < bytes; k += 8)
    std::memcpy(to + k, &kPoison, static_cast<std::size_t>(bytes - k < 8 ? bytes - k : 8));
}

/// A function and its context; bytes of its workspace, its inputs and its outputs, 0 for outputs that it adds to.
/// Mirrored in Python.
struct Poisoned {
  Int (*function)(const void* context, const void* const* in, void* const* out, void* workspace) noexcept;
  const void* context;
  Int workspace, inputs, outputs;
  const Int *in_bytes, *out_bytes;

  /// Return true if output k shares memory with an input, which it updates in place.
  bool updates(Int k, const void* const* in, void* const* out) const noexcept {
    const char* const to = static_cast<const char*>(out[k]);
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < inputs; ++i) {
      const char* const from = static_cast<const char*>(in[i]);
      if (from < to + out_bytes[k] && to < from + in_bytes[i]) return true;
    }
    return false;
  }
};

/// The binary interface of an executable, around another: its workspace and outputs hold poison when it begins.
inline Int run_poisoned(const void* context, const void* const* in, void* const* out, void* workspace) noexcept {
  const auto& inner = *static_cast<const Poisoned*>(context);
  fill_with_poison(workspace, inner.workspace);
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < inner.outputs; ++k)
    if (!inner.updates(k, in, out)) fill_with_poison(out[k], inner.out_bytes[k]);
  return inner.function(inner.context, in, out, workspace);
}

}  // namespace burlab::kernels
BURLAB_END
