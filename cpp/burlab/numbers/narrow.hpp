#pragma once
// Floats of 16 bits, which are stored and not computed with: a loop that reads them widens them, and one that writes
// them rounds to the nearest, the even one of two. Without branches, so that it becomes SIMD code on every instruction
// set.
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

/// A float as `Half`.
struct ToHalf {
  static BURLAB_INLINE std::uint16_t primal(float x) {
    constexpr std::uint32_t one = 1U << 23, infinity = 255 * one, least = 113 * one;  // see `Half`
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x), size = bits & 0x7fffffffU;
    const std::uint32_t normal = (size + 0xfffU + (size >> 13 & 1U) - 112 * one) >> 13;
    // The least bit of 1/2 is the one of the numbers below 2^-14: adding 1/2 rounds to it.
    const std::uint32_t tiny = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 126 * one;
    const std::uint32_t large = size > infinity ? 0x7e00U : 0x7c00U;
    const std::uint32_t finite = size < least ? tiny : normal;
    return static_cast<std::uint16_t>((size >= 143 * one ? large : finite) | (bits >> 16 & 0x8000U));
  }
};

/// The upper half of a float: 1 sign bit, 8 of the exponent, 7 of the fraction.
struct Bfloat16 {
  static BURLAB_INLINE float primal(std::uint16_t x) { return std::bit_cast<float>(std::uint32_t(x) << 16); }
};

/// A float as `Bfloat16`.
struct ToBfloat16 {
  static BURLAB_INLINE std::uint16_t primal(float x) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
    return static_cast<std::uint16_t>((is_nan ? bits | 0x400000U : bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
  }
};

}  // namespace burlab
BURLAB_END
