#pragma once
// One kernel for many rows: the outputs of every row, stacked. Plain C++ between two clock reads, so that Python
// can answer an interrupt.
#include <chrono>

#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// A kernel and where the arrays of row 0 lie. Steps are bytes from one row to the next, 0 for an array that all rows
/// share. Mirrored by `burlab/compiler/map.py`.
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
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::nanoseconds(nanoseconds);
  const void** in = const_cast<const void**>(scratch);
  void** out = scratch + rows.inputs;
  Int rows_per_read = 1, next_read = begin + 1;  // rows between two clock reads, doubled while they are short
  auto last = Clock::now();
  for (Int row = begin; row < end; ++row) {
    for (Int k = 0; k < rows.inputs; ++k) in[k] = rows.in[k] + row * rows.in_steps[k];
    for (Int k = 0; k < rows.outputs; ++k) out[k] = rows.out[k] + row * rows.out_steps[k];
    *outcome = rows.run(rows.context, in, out, workspace);
    if (*outcome != 0) return row;
    if (row + 1 < next_read) continue;
    const auto now = Clock::now();
    if (now >= deadline) return row + 1;
    if (now - last < std::chrono::milliseconds(1)) rows_per_read *= 2;
    else rows_per_read = rows_per_read > 1 ? rows_per_read / 2 : 1;
    last = now;
    next_read = row + 1 + rows_per_read;
  }
  return end;
}

}  // namespace burlab::kernels
BURLAB_END
