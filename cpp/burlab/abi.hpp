#pragma once
// What every function that Python calls has in common: fixed signatures, no template, noexcept, and a Status as its
// answer.
#include <cstdint>

#include "numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab {

/// How a call ended. C++ never throws: Python turns what is not Ok into an exception (`burlab/runtime/status.py`).
enum Status : std::int32_t {
  Ok = 0,
  OutOfMemory = 1,
  IndexOutOfRange = 2,  // an integer index left its axis
  NonFinite = 3,        // a value became inf or nan, and the caller checks for it
  Stopped = 4,          // a stop was requested before the work was done
  StaleValue = 5,       // a Value names a node that its tape does not hold (any more)
  TwoTapes = 6,         // the operands live on different tapes
  Unanswered = 7,       // a query of a kernel that its caller could not answer
  NegativePower = 8,    // an integer was raised to a negative one
  Sweeping = 9,         // a tape is in the middle of a sweep, which calls the caller
};

/// Bytes, rounded up to whole lines of 64.
constexpr std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// What a kernel answers: a Status in the low 8 bits, and above them the number of the node at fault. Python takes it
/// apart in `burlab/runtime/status.py`.
constexpr Status status_of(std::int64_t answer) { return static_cast<Status>(answer & 0xFF); }
constexpr std::int64_t node_of(std::int64_t answer) { return answer >> 8; }
/// The same answer where the kernel's nodes are numbered from `first` on.
constexpr std::int64_t renumbered(std::int64_t answer, std::int64_t first) { return answer + (first << 8); }

}  // namespace burlab
BURLAB_END
