#pragma once
// The replay gear: a list of kernel calls, carried out one after the other. Nothing is compiled for it but the kernels.
#include <cstring>

#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Where an operand lies: an array of one of the tables (inputs, outputs, constants, workspace), and a byte in it.
struct Operand {
  std::int32_t table, index;
  Int offset;
};

/// One kernel call; its operands are `count` entries of the program's list from `first`, the result before the others.
struct Record {
  Kernel kernel;
  const Int *descriptor, *box;  // nullptr: nothing to walk around the kernel
  Int first, count, node;
};

/// Mirrored by `burlab/compiler/program.py`.
struct Program {
  const Record* records;
  const Operand* operands;
  const void* const* constants;
  Int length;
};

/// The binary interface of an executable: 0, or a Status and above its eight bits the number of the node at fault.
inline Int run_program(const void* context, const void* const* in, void* const* out, void* workspace) noexcept {
  const auto& program = *static_cast<const Program*>(context);
  const void* const* tables[4] = {in, const_cast<const void* const*>(out), program.constants, &workspace};
  const void* at[16];
  BURLAB_ONE_BY_ONE
  for (const Record *r = program.records, *end = r + program.length; r != end; ++r) {
    const Operand* operand = program.operands + r->first;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < r->count; ++k)
      at[k] = static_cast<const char*>(tables[operand[k].table][operand[k].index]) + operand[k].offset;
    void* out = const_cast<void*>(at[0]);
    const Status status = r->box != nullptr ? each(r->kernel, r->box, r->descriptor, out, at[1], at[2])
                                            : r->kernel(r->descriptor, out, at[1], at[2], at + 3);
    if (BURLAB_UNLIKELY(status != Ok)) return status | r->node << 8;
  }
  return Ok;
}

}  // namespace burlab::kernels
BURLAB_END
