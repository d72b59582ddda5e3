#pragma once
// What Python hands over to sum a kernel over samples: plain structs, mirrored by `burlab/problems/summand.py`.
#include <cstdint>

#include "../abi.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A generated kernel behind its binary interface.
struct Kernel {
  std::int64_t (*function)(const void* context, const void* const* in, void* const* out, void* workspace) noexcept;
  const void* context;
  std::int64_t workspace;  // bytes
};

/// A stretch of a result whose numbers have one dtype.
struct Stretch {
  std::int64_t offset, count;  // bytes from the start, numbers
  std::int64_t wide;           // 1: float64, 0: float32
};

/// A kernel of one sample. Its inputs: the fixed ones (x, ...), one sample of each data array, and a key if it takes
/// one.
struct Summand {
  Kernel kernel;
  std::int64_t fixed, arrays, keyed, outputs, stretches;  // how many there are of each
  const char* const* data;                                // first byte of each data array
  const std::int64_t* strides;                            // bytes from one sample to the next, of each data array
  const std::int64_t* offsets;                            // where each output lies in a result, bytes
  const std::int64_t* rows;  // bytes from one sample's output to the next, where all are kept
  const Stretch* parts;
  std::int64_t bytes;  // of a result, a multiple of 64
};

/// How a call ended, and where it did not end well: a status with the node at fault above its low 8 bits, and the
/// sample.
struct Outcome {
  std::int64_t status, sample;
  bool ok() const { return status == Ok; }
};

}  // namespace burlab::run
BURLAB_END
