#pragma once
// Floats of 16 bits, which are stored and not computed with: a loop that reads them widens them. Without branches, so
// that it becomes SIMD code on every instruction set.
#include <bit>
#include <cstdint>

#include "simd.hpp"

BURLAB_BEGIN
namespace burlab {

/// IEEE's binary16: 1 sign bit, 5 of the exponent, 10 of the fraction.
struct Half {
  static BURLAB_INLINE float primal(std::uint16_t x) {
    constexpr std::uint32_t one = 1U << 23,
                            least = 113 * one;  // of the exponent of a float; 2^-14, the least normal Half
    const std::uint32_t size = (x & 0x7fffU) << 13, exponent = size & 0x0f800000U;
    const std::uint32_t normal = size + 112 * one;
    const std::uint32_t unbounded = exponent == 0x0f800000U ? normal + 112 * one : normal;  // inf and nan
    const std::uint32_t tiny =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(size + least) - std::bit_cast<float>(least));
    return std::bit_cast<float>((exponent == 0 ? tiny : unbounded) | (x & 0x8000U) << 16);
  }
};

/// The upper half of a float: 1 sign bit, 8 of the exponent, 7 of the fraction.
struct Bfloat16 {
  static BURLAB_INLINE float primal(std::uint16_t x) { return std::bit_cast<float>(std::uint32_t(x) << 16); }
};

}  // namespace burlab
BURLAB_END
