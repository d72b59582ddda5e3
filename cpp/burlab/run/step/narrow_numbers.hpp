#pragma once
// The numbers of an x of 16 bits, which the record reads as floats.
#include <algorithm>
#include <cstdint>

#include "../../numbers/narrow.hpp"
#include "../abi/plan.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Write narrow numbers as floats.
inline void widen(Narrow dtype, const char* numbers, std::int64_t count, float* out) {
  const auto* const bits = reinterpret_cast<const std::uint16_t*>(numbers);
  if (dtype == Narrow::float16)
    for (std::int64_t k = 0; k < count; ++k) out[k] = Half::primal(bits[k]);
  else
    for (std::int64_t k = 0; k < count; ++k) out[k] = Bfloat16::primal(bits[k]);
}

/// Call act(first, a, b, n) for pieces of two narrow vectors as floats; every n but the last is a multiple of 128.
template <class Act> void by_widened(Narrow dtype, const char* a, const char* b, std::int64_t count, const Act& act) {
  constexpr std::int64_t kPiece = 512, kBytes = 2;
  float x[kPiece], y[kPiece];
  for (std::int64_t first = 0; first < count; first += kPiece) {
    const std::int64_t n = std::min(kPiece, count - first);
    widen(dtype, a + kBytes * first, n, x);
    widen(dtype, b + kBytes * first, n, y);
    act(first, x, y, n);
  }
}

}  // namespace burlab::run
BURLAB_END
