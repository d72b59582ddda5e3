#pragma once
// The replay gear: a list of kernel calls, executed in order. Only the kernels are compiled.
#include <cstring>

#include "../clock.hpp"
#include "segment.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The place of an operand: an array of one of the tables (inputs, outputs, constants, workspace), and a byte in it.
/// Mirrored in Python.
struct Operand {
  std::int32_t table, index;
  Int offset;
};

/// A function of `control.hpp`, which runs sub-graphs: descriptor, results, operands, memory. Its outcome contains the
/// node at fault.
using Routine = Int (*)(const Int* d, void* const* out, const void* const* in, void* scratch) noexcept;

/// One kernel call; its operands are `count` entries of the program's list from `first`, the result before the others.
/// A routine has `results` of them (else 0). Its first operand is its memory, which begins with `table` bytes for the
/// addresses. A segment has a count below 0, and nothing else. Mirrored in Python.
struct Record {
  union {
    Kernel kernel;
    Routine routine;
    const Segment* segment;
  };
  const Int *descriptor, *box;  // nullptr: the kernel is called once
  Int first, count, node, results, table;
};

/// Mirrored in Python.
struct Program {
  const Record* records;
  const Operand* operands;
  const void* const* constants;
  Int length;
  StepClock* clock;  // of a timed program
};

/// The binary interface of an executable: 0, or a Status and above its eight bits the number of the node at fault.
template <bool timed = false>
Int run_program(const void* context, const void* const* in, void* const* out, void* workspace) noexcept {
  const auto& program = *static_cast<const Program*>(context);
  if constexpr (timed) end_step(program.clock, 0);
  const void* const* tables[4] = {in, const_cast<const void* const*>(out), program.constants, &workspace};
  const void* few[16];
  BURLAB_ONE_BY_ONE
  for (const Record *r = program.records, *end = r + program.length; r != end; ++r) {
    if (r->count < 0) {
      run_segment(*r->segment, static_cast<char*>(workspace), tables);
      if constexpr (timed) end_step(program.clock, r - program.records + 1);
      continue;
    }
    const Operand* operand = program.operands + r->first;
    const auto place = [&](Int k) {
      return static_cast<const char*>(tables[operand[k].table][operand[k].index]) + operand[k].offset;
    };
    const void** const at = r->table ? reinterpret_cast<const void**>(const_cast<char*>(place(0))) : few;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < r->count; ++k) at[k] = place(k);
    if (r->table) {
      char* const scratch = reinterpret_cast<char*>(at) + r->table;
      const Int outcome = r->routine(r->descriptor, const_cast<void**>(at + 1), at + 1 + r->results, scratch);
      if (BURLAB_UNLIKELY(outcome != Ok)) return outcome;
      if constexpr (timed) end_step(program.clock, r - program.records + 1);
      continue;
    }
    void* out = const_cast<void*>(at[0]);
    const Status status = r->box != nullptr ? each(r->kernel, r->box, r->descriptor, out, at[1], at[2])
                                            : r->kernel(r->descriptor, out, at[1], at[2], at + 3);
    if (BURLAB_UNLIKELY(status != Ok)) return status == Stopped ? Int{Stopped} : renumbered(status, r->node);
    if constexpr (timed) end_step(program.clock, r - program.records + 1);
  }
  return Ok;
}

/// Like `run_program`, if the whole program is one segment.
inline Int run_alone(const void* context, const void* const* in, void* const* out, void* workspace) noexcept {
  const auto& program = *static_cast<const Program*>(context);
  const void* const* tables[4] = {in, const_cast<const void* const*>(out), program.constants, &workspace};
  run_segment(*program.records->segment, static_cast<char*>(workspace), tables);
  return Ok;
}

}  // namespace burlab::kernels
BURLAB_END
