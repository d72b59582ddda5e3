#pragma once
// Rounding to the numbers of a narrower format, without a branch or a call: on the bits of x, so that it is exact, and
// a loop over it becomes SIMD lanes.
#include "polynomial.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// The rule of a rounding, a whole number below 2^18: when to go to the neighbour away from 0, then what the format
/// has, then bits of its significand. Python composes it (`burlab/transforms/numbers/roundings.py`).
enum RoundingRule : std::int32_t {
  kNearest = 1,       // beyond the middle
  kTieOfOdd = 2,      // in the middle, where the neighbour towards 0 is odd
  kTieOfEven = 4,     // in the middle, where it is even
  kAbove = 8,         // whatever is above 0 and no number of the format
  kBelow = 16,        // whatever is below 0 and none
  kToOdd = 32,        // whatever is none, where the neighbour towards 0 is even
  kThreshold = 64,    // where the part between the neighbours reaches a threshold
  kSubnormals = 128,  // below the least normal number is more than 0
  kInfinities = 256,  // what is too large is infinite, else nan
  kSaturates = 512,   // what is too large is the largest number
  kSignedZero = 1024,
  kOneBelow = 2048,  // two's complement: there is one number more below 0
  kDigits = 4096,    // bits of the significand without its leading one, times this
};

/// A whole number 0 <= n < 2^53, of which SIMD lanes have no conversion before AVX-512.
BURLAB_CONSTEXPR float as_float(std::int32_t n) { return static_cast<float>(n); }
BURLAB_CONSTEXPR double as_float(std::int64_t n) {
  constexpr std::int64_t one = 0x4330000000000000;  // of 2^52, whose last bit counts 1
  const std::int64_t high = n >> 27, low = n & ((std::int64_t(1) << 27) - 1);
  const double more = __builtin_bit_cast(double, high | one) - 0x1p52, less = __builtin_bit_cast(double, low | one);
  return more * 0x1p27 + (less - 0x1p52);
}

/// x rounded once. Numbers of the format are multiples of a unit: 2^-digits of the power of two below |x|, or of
/// `least`, that of its least normal number, where |x| is smaller. threshold: of `kThreshold`, in units.
template <class T> BURLAB_CONSTEXPR T round_to(T x, T threshold, T rule, T least, T largest) {
  using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  constexpr int mantissa = Real<T>::kMantissa;
  constexpr Int one = 1, hidden = one << mantissa, infinity = __builtin_bit_cast(Int, kInfinity<T>);
  constexpr Int nan = __builtin_bit_cast(Int, kNan<T>), far = 100;
  const Int r = static_cast<std::int32_t>(rule), digits = r / kDigits;
  const Int bits = __builtin_bit_cast(Int, x), a = bits & ~(one << (8 * sizeof(T) - 1));
  const Int stored = a >> mantissa, exponent = stored > 0 ? stored : one;
  const Int significand = stored > 0 ? ((a & (hidden - 1)) | hidden) : a;
  const Int normal = __builtin_bit_cast(Int, least), under = (normal >> mantissa) - exponent;
  const Int below = under > 0 ? under : Int(0), kept = ((a < normal) & ((r & kSubnormals) == 0)) ? Int(0) : digits;
  // The bits of the significand that are no whole units: more than it has where |x| is less than half of one.
  const Int deep = mantissa - kept + below, lost = deep > 0 ? deep : Int(0);
  const Int shift = lost < mantissa + 2 ? lost : Int(mantissa + 2);
  const Int unit = one << shift, half = unit >> 1, units = significand >> shift, rest = significand & (unit - 1);
  const Int odd = units & 1, even = odd ^ 1, above = rest > half, tie = rest == half;
  const Int negative = bits < 0, side = negative ? r & kBelow : r & kAbove;
  const T part = as_float(rest) * __builtin_bit_cast(T, (Int(Real<T>::kBias) - (lost < far ? lost : far)) << mantissa);
  const bool nearest = (above & Int((r & kNearest) != 0)) | (tie & odd & Int((r & kTieOfOdd) != 0)) |
                       (tie & even & Int((r & kTieOfEven) != 0));
  const bool other =
      (side != 0) | ((even & Int((r & kToOdd) != 0)) != 0) | (((r & kThreshold) != 0) & (part >= threshold));
  const Int rounded = units + Int((rest != 0) & (nearest | other));
  // The bits of so many units: a carry enters the exponent by itself. From two bits above the significand on, there is
  // 0 or one unit.
  const Int first = normal - (kept << mantissa), many = (rounded << shift) + ((exponent - 1) << mantissa);
  const Int some = lost > mantissa + 1 ? first : many, any = rounded == 0 ? Int(0) : some;
  // To the nearest, of two the even one, a shorter way: a carry for normal numbers; below them, what a number whose
  // last bit counts one unit leaves of x.
  const Int drop = digits < mantissa ? mantissa - digits : Int(0), cut = (one << drop) - 1;
  const T size = __builtin_bit_cast(T, a), high = __builtin_bit_cast(T, normal + (drop << mantissa));
  const T flushed = size > T(0.5) * least ? least : T(0),
          small = (r & kSubnormals) != 0 ? (size + high) - high : flushed;
  const Int large = (a + (cut >> 1) + ((a >> drop) & 1)) & ~cut;
  const Int to_even = a < normal ? __builtin_bit_cast(Int, small) : large;
  const bool is_even = (r & (kSubnormals - 1)) == (kNearest | kTieOfOdd);
  const Int near = (is_even & (digits < mantissa)) ? to_even : any;
  const T lowest = largest + __builtin_bit_cast(T, normal - (digits << mantissa));
  const Int limit = __builtin_bit_cast(Int, ((negative != 0) & ((r & kOneBelow) != 0)) ? lowest : largest);
  const Int outside = (r & kInfinities) != 0 ? infinity : nan;
  const Int beyond = (r & kSaturates) != 0 ? limit : outside;
  const Int leaves = (r & (kNearest | kThreshold)) | side, over = leaves != 0 ? beyond : limit;
  const Int finite = near > limit ? over : near, end = a == infinity ? beyond : finite;
  const Int y = a > infinity ? a : end;
  const Int sign = ((y == 0) & ((r & kSignedZero) == 0)) ? Int(0) : (bits ^ a);
  return __builtin_bit_cast(T, y | sign);
}

}  // namespace burlab::math
BURLAB_END
