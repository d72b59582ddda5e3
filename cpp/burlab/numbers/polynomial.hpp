#pragma once
// What our own transcendental functions are made of. Each is scalar code without a branch or a call, so that a loop
// over it becomes SIMD lanes, and a lane has the bits of the scalar. Bodies are flat, since every helper that is
// called costs the just-in-time compiler half a millisecond. Coefficients are minimax fits (Remez 1934) of our own,
// computed in 50 digits. How far each function is from the exact value: docs/internals/numbers.md,
// `tests/cpp/sweep.hpp`.
#include <cstdint>
#include <type_traits>

#include "simd.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// How a floating number lies in memory, and constants that depend on its precision.
template <class T> struct Real;
template <> struct Real<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr Bits kBias = 127, kSign = 0x80000000u;
  static constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: added and subtracted again, it rounds to an integer
  static constexpr float kLog2E = 1.442695f, kLn2High = 0.693145751953125f, kLn2Low = 1.4286068e-06f;  // high: 15 bits
};
template <> struct Real<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr Bits kBias = 1023, kSign = 0x8000000000000000u;
  static constexpr double kShift = 6755399441055744.0;
  static constexpr double kLog2E = 1.4426950408889634;
  static constexpr double kLn2High = 0.6931471805598903, kLn2Low = 5.497923018708371e-14;  // high: 42 bits
};
template <class T> using Bits = typename Real<T>::Bits;

template <class T> inline constexpr T kInfinity = T(__builtin_inf());
template <class T> inline constexpr T kNan = T(__builtin_nan(""));

/// x without its sign.
template <class T> BURLAB_CONSTEXPR T magnitude(T x) {
  return __builtin_bit_cast(T, __builtin_bit_cast(Bits<T>, x) & ~Real<T>::kSign);
}
/// A number without sign, with the sign of x.
template <class T> BURLAB_CONSTEXPR T with_sign_of(T y, T x) {
  return __builtin_bit_cast(T, __builtin_bit_cast(Bits<T>, y) | (__builtin_bit_cast(Bits<T>, x) & Real<T>::kSign));
}
/// mask ? yes : no, both computed: of the conditional operator g++ makes branches, and then no lanes.
BURLAB_CONSTEXPR double blend(bool mask, double yes, double no) {
  const std::uint64_t bits = 0 - std::uint64_t(mask);
  return __builtin_bit_cast(
      double, (__builtin_bit_cast(std::uint64_t, yes) & bits) | (__builtin_bit_cast(std::uint64_t, no) & ~bits));
}
/// x without the lower half of its bits: the product of two such numbers is exact.
BURLAB_CONSTEXPR double upper_half(double x) {
  return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, x) & (~std::uint64_t(0) << 27));
}
/// x * y + z, rounded once where the instruction set has it.
BURLAB_ANYWHERE float fused(float x, float y, float z) {
#if defined(BURLAB_PLAIN)
  return x * y + z;
#else
  return __builtin_fmaf(x, y, z);
#endif
}
BURLAB_ANYWHERE double fused(double x, double y, double z) {
#if defined(BURLAB_PLAIN)
  return x * y + z;
#else
  return __builtin_fma(x, y, z);
#endif
}
/// x rounded to 26 bits, so that what is left has 26 bits and a sign: all products of such are exact.
BURLAB_CONSTEXPR double rounded_half(double x) {
  return upper_half(__builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, x) + (std::uint64_t(1) << 26)));
}
/// x * y - xy for the rounded product xy, without error (Dekker 1971), for numbers far from overflow.
BURLAB_ANYWHERE double rest(double x, double y, double xy) {
#if defined(BURLAB_PLAIN)
  const double x1 = rounded_half(x), y1 = rounded_half(y), x2 = x - x1, y2 = y - y1;
  return ((x1 * y1 - xy) + x1 * y2 + x2 * y1) + x2 * y2;
#else
  return __builtin_fma(x, y, -xy);
#endif
}

/// A polynomial by its even and its odd terms, which do not wait for each other.
template <int N> BURLAB_ANYWHERE double polynomial(const double (&c)[N], double x) {
  const double q = x * x;
  double even = 0, odd = 0;
  BURLAB_UNROLL
  for (int k = (N - 1) / 2 * 2; k >= 0; k -= 2) even = fused(even, q, c[k]);
  BURLAB_UNROLL
  for (int k = N / 2 * 2 - 1; k > 0; k -= 2) odd = fused(odd, q, c[k]);
  return fused(odd, x, even);
}

}  // namespace burlab::math
BURLAB_END
