#pragma once
// Control flow: functions that run generated kernels. They allocate nothing: the caller passes all memory.
#include <cstring>

#include "../../stop_token.hpp"
#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// A sub-graph as a function, and the number of its first node in the outcome of the whole: three integers at the end
/// of a descriptor, written by `burlab/compiler/replay/program.py`.
struct SubGraph {
  Int (*function)(const void* context, const void* const* in, void* const* out, void* workspace) noexcept;
  const void* context;
  Int first;

  Int run(const void* const* in, void* const* out, void* workspace) const noexcept {
    const Int outcome = function(context, in, out, workspace);
    if (BURLAB_LIKELY(outcome == Ok)) return outcome;
    return status_of(outcome) == Stopped ? Int{Stopped} : renumbered(outcome, first);
  }
};

/// One loop. `in`: the state and the other inputs of the condition and the body. Each leaf of the state has two blocks,
/// which are swapped from one iteration to the next: the body writes the next state to one while it reads the other. A
/// leaf that the body updates in place has one block, which is both.
struct WhileLoop {
  const SubGraph &condition, &body;
  Int states;
  const Int* bytes;
  const void** in;
  void** blocks[2];
  bool* wanted;
  char* workspace;

  Int run(StopPoll& stop) const noexcept {
    void* answer = wanted;
    for (int block = 0;; block = 1 - block) {
      if (const Int outcome = condition.run(in, &answer, workspace); BURLAB_UNLIKELY(outcome != Ok)) return outcome;
      if (!*wanted) return Ok;
      if (BURLAB_UNLIKELY(stop.requested())) return Stopped;
      if (const Int outcome = body.run(in, blocks[block], workspace); BURLAB_UNLIKELY(outcome != Ok)) return outcome;
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < states; ++k) in[k] = blocks[block][k];
    }
  }
};

/// out = in; while condition(out, more): out = body(out, more). Descriptor: number of rows, leaves of the state,
/// inputs; bytes of each leaf; bytes from one row to the next of each input, 0 if all rows share it; whether the body
/// updates each leaf in place; condition and body.
inline Int run_while(const Int* d, void* const* out, const void* const* in, char* scratch) noexcept {
  const Int rows = d[0], states = d[1], inputs = d[2];
  const Int *bytes = d + 3, *steps = bytes + states, *updated = steps + inputs;
  const SubGraph* parts = reinterpret_cast<const SubGraph*>(updated + states);
  void** pointers = reinterpret_cast<void**>(scratch);
  scratch += rounded(8 * (inputs + 2 * states));
  WhileLoop loop{parts[0], parts[1], states, bytes, const_cast<const void**>(pointers), {}, nullptr, nullptr};
  loop.blocks[0] = pointers + inputs;
  loop.blocks[1] = loop.blocks[0] + states;
  loop.wanted = reinterpret_cast<bool*>(scratch);
  scratch += 64;
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < states; ++k) {
    loop.blocks[1][k] = scratch;
    scratch += rounded(bytes[k]);
  }
  loop.workspace = scratch;
  StopPoll stop;
  for (Int row = 0; row < rows; ++row) {
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < inputs; ++k) loop.in[k] = static_cast<const char*>(in[k]) + row * steps[k];
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < states; ++k) {
      void* const block = loop.blocks[0][k] = static_cast<char*>(out[k]) + row * bytes[k];
      if (updated[k] == 0) continue;
      if (loop.in[k] != block) std::memcpy(block, loop.in[k], static_cast<std::size_t>(bytes[k]));
      loop.in[k] = loop.blocks[1][k] = block;
    }
    if (const Int outcome = loop.run(stop); outcome != Ok) return outcome;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < states; ++k)
      if (loop.in[k] != loop.blocks[0][k])
        std::memcpy(loop.blocks[0][k], loop.in[k], static_cast<std::size_t>(bytes[k]));
  }
  return Ok;
}

/// out = the first sub-graph where the bool in[0] is true, else the second, of in[1], in[2], ... Descriptor: as of
/// run_while.
inline Int run_cond(const Int* d, void* const* out, const void* const* in, char* scratch) noexcept {
  const Int rows = d[0], results = d[1], inputs = d[2] - 1;
  const Int *bytes = d + 3, *steps = bytes + results + 1;
  const SubGraph* parts = reinterpret_cast<const SubGraph*>(steps + inputs);
  void** const to = reinterpret_cast<void**>(scratch);
  const void** const from = const_cast<const void**>(to + results);
  scratch += rounded(8 * (inputs + results));
  for (Int row = 0; row < rows; ++row) {
    const bool choice = *(static_cast<const bool*>(in[0]) + row * steps[-1]);
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < inputs; ++k) from[k] = static_cast<const char*>(in[k + 1]) + row * steps[k];
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < results; ++k) to[k] = static_cast<char*>(out[k]) + row * bytes[k];
    if (const Int outcome = parts[choice ? 0 : 1].run(from, to, scratch); outcome != Ok) return outcome;
  }
  return Ok;
}

}  // namespace burlab::kernels
BURLAB_END
