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
  NonFinite = 3,        // a value became inf or nan, and the caller asked to be told
  Stopped = 4,          // a stop was requested before the work was done
  StaleValue = 5,       // a Value names a node that its tape does not hold (any more)
  TwoTapes = 6,         // the operands live on different tapes
  Unanswered = 7,       // a kernel asked, and who it asked could not answer
};

}  // namespace burlab
BURLAB_END
