#pragma once
// Rows computed a block at a time, as defined in `burlab/graph/blocks.py`.
#include "control.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Descriptor: blocks before the last one, numbers of sequences, of inputs, of results, and of the sums among these,
/// which come first; bytes of a block of each sequence; bytes of a block of each result, 0 for sums; for each sum the
/// bytes that are set to zero at first, 0 if it adds to its present contents; the functions that compute a block, and
/// the last block.
inline Int run_blocks(const Int* d, void* const* out, const void* const* in, char* scratch) noexcept {
  const Int length = d[0], sequences = d[1], inputs = d[2], results = d[3], sums = d[4];
  const Int *steps = d + 5, *strides = steps + sequences, *zeros = strides + results;
  const SubGraph* parts = reinterpret_cast<const SubGraph*>(zeros + sums);
  const void** from = reinterpret_cast<const void**>(scratch);
  void** to = reinterpret_cast<void**>(scratch) + inputs;
  scratch += rounded(8 * (inputs + results));
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < inputs; ++k) from[k] = in[k];
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < sums; ++k) std::memset(out[k], 0, static_cast<std::size_t>(zeros[k]));
  StopPoll stop;
  for (Int block = 0; block <= length; ++block) {
    if (BURLAB_UNLIKELY(stop.requested())) return Stopped;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < sequences; ++k) from[k] = static_cast<const char*>(in[k]) + block * steps[k];
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < results; ++k) to[k] = static_cast<char*>(out[k]) + block * strides[k];
    if (const Int outcome = parts[block == length].run(from, to, scratch); BURLAB_UNLIKELY(outcome != Ok))
      return outcome;
  }
  return Ok;
}

}  // namespace burlab::kernels
BURLAB_END
