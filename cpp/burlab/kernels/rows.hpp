#pragma once
// One kernel for many rows: the outputs of every row, stacked. Plain C++ between two clock reads, so that Python
// can answer an interrupt.
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// A kernel and the addresses of the arrays of row 0. Steps are bytes from one row to the next, 0 for an array that all
/// rows share. Mirrored in Python.
struct MappedRows {
  Int (*run)(const void* context, const void* const* in, void* const* out, void* workspace) noexcept;
  const void* context;
  Int inputs, outputs;
  const char* const* in;
  const Int* in_steps;
  char* const* out;
  const Int* out_steps;
};

/// Runs rows from `begin` until `end`, an outcome that is not 0, or about `nanoseconds` have passed. Returns the row at
/// which it stopped. scratch: inputs + outputs pointers.
inline Int run_rows(const MappedRows& rows, Int begin, Int end, Int nanoseconds, void* workspace, void** scratch,
                    Int* outcome) {
  const Int deadline = burlab::nanoseconds() + nanoseconds;
  const void** in = const_cast<const void**>(scratch);
  void** out = scratch + rows.inputs;
  ClockPace pace(1);
  for (Int row = begin; row < end; ++row) {
    for (Int k = 0; k < rows.inputs; ++k) in[k] = rows.in[k] + row * rows.in_steps[k];
    for (Int k = 0; k < rows.outputs; ++k) out[k] = rows.out[k] + row * rows.out_steps[k];
    *outcome = rows.run(rows.context, in, out, workspace);
    if (*outcome != 0) return row;
    if (pace.due() && pace.read() >= deadline) return row + 1;
  }
  return end;
}

}  // namespace burlab::kernels
BURLAB_END
