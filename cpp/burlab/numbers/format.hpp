#pragma once
// Rounding to the numbers of a narrower format, without a branch or a call: on the bits of x, so that it is exact, and
// a loop over it becomes SIMD lanes.
#include <limits>

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

/// Whether a number goes to the neighbour away from 0, by a rule. rest: of what is beyond the neighbour towards 0, that
/// there is some, more than half a unit, or just that; odd: that neighbour is; side: `kAbove` or `kBelow`, if it
/// counts.
template <class Int> BURLAB_CONSTEXPR bool leaves_zero(Int r, bool rest, bool above, bool tie, bool odd, bool reaches,
                                                       Int side) {
  const bool nearest =
      (above & ((r & kNearest) != 0)) | (tie & odd & ((r & kTieOfOdd) != 0)) | (tie & !odd & ((r & kTieOfEven) != 0));
  const bool other = (side != 0) | (!odd & ((r & kToOdd) != 0)) | (((r & kThreshold) != 0) & reaches);
  return rest & (nearest | other);
}

/// The number of which a unit is the last bit, where the unit is above the least number of T: it is added to |x| = a.
template <class T, class Int> BURLAB_CONSTEXPR T far_of(T a, Int r, T least) {
  constexpr Int mantissa = Real<T>::kMantissa, ones = __builtin_bit_cast(Int, kInfinity<T>);
  const Int drop = (mantissa - r / kDigits) << mantissa, normal = __builtin_bit_cast(Int, least);
  const T high = __builtin_bit_cast(T, normal + drop);
  const T deep = __builtin_bit_cast(T, normal + (mantissa << mantissa));  // of a unit that is the least normal number
  // Far too large a number may leave the range of Int; it is beyond anyway.
  const T far = __builtin_bit_cast(T, Bits<T>(__builtin_bit_cast(Int, a) & ones) + Bits<T>(drop));
  return (r & kSubnormals) != 0 ? (far > high ? far : high) : (a < least ? deep : far);
}

/// a rounded to the nearest number, of two to the even one; beyond if it is too large for a limit.
template <class T, class Int> BURLAB_CONSTEXPR T nearest_by_sum(T a, Int r, T least, T limit, T beyond) {
  constexpr Int mantissa = Real<T>::kMantissa;
  const T far = far_of(a, r, least), even = (a + far) - far;
  // The middle between the largest number and what would come next; it waits for nothing.
  const T last = far_of(limit, r | kSubnormals, least),
          unit = __builtin_bit_cast(T, __builtin_bit_cast(Int, last) - (mantissa << mantissa));
  const T near = (limit + last) - last, top = near > limit ? near - unit : near, middle = top + T(0.5) * unit;
  const bool odd = (__builtin_bit_cast(Int, top + last) & 1) != 0, over = odd ? a >= middle : a > middle;
  return over ? beyond : even;
}

/// a, rounded by any rule: to the nearest number first, from where the neighbour towards 0 is one unit away, or none.
template <class T, class Int>
BURLAB_CONSTEXPR T rounded_by_sum(T a, T threshold, Int r, T least, T largest, Int side) {
  constexpr Int mantissa = Real<T>::kMantissa;
  const T most = T(2) * largest, inside = a > most ? most : a;
  const T far = far_of(inside, r, least), even = (a + far) - far;
  const Int place = __builtin_bit_cast(Int, far);
  const T unit = __builtin_bit_cast(T, place - (mantissa << mantissa));
  const T units = __builtin_bit_cast(T, (Int(2 * Real<T>::kBias + mantissa) << mantissa) - place);  // 1 / unit
  const T towards = even > a ? even - unit : even, rest = a - towards, twice = rest + rest;
  const bool odd = (__builtin_bit_cast(Int, towards + far) & 1) != 0;
  return leaves_zero(r, rest > T(0), twice > unit, twice == unit, odd, rest * units >= threshold, side) ? towards + unit
                                                                                                        : towards;
}

/// The same where the format has the exponents of T: as many bits of x are left out of each number.
template <class T, class Int> BURLAB_CONSTEXPR T rounded_by_bits(T size, T threshold, Int r, Int side) {
  constexpr int mantissa = Real<T>::kMantissa;
  const Int digits = r / kDigits, drop = digits < mantissa ? mantissa - digits : Int(1), cut = (Int(1) << drop) - 1;
  const Int a = __builtin_bit_cast(Int, size), odd = (a >> drop) & 1;
  if ((r & (kSubnormals - 1)) == (kNearest | kTieOfOdd)) return __builtin_bit_cast(T, (a + (cut >> 1) + odd) & ~cut);
  const Int rest = a & cut, half = Int(1) << (drop - 1);
  const T part = as_float(rest) * __builtin_bit_cast(T, (Int(Real<T>::kBias) - drop) << mantissa);
  const bool away = leaves_zero(r, rest != 0, rest > half, rest == half, odd != 0, part >= threshold, side);
  return __builtin_bit_cast(T, (a ^ rest) + (away ? cut + 1 : Int(0)));
}

/// The same for any format: by the whole number of units, and what is left.
template <class T, class Int>
BURLAB_CONSTEXPR T rounded_by_units(T size, T threshold, Int r, T least, Int side) {
  constexpr int mantissa = Real<T>::kMantissa;
  constexpr Int one = 1, hidden = one << mantissa, far = 100;
  const Int a = __builtin_bit_cast(Int, size), digits = r / kDigits;
  const Int stored = a >> mantissa, exponent = stored > 0 ? stored : one;
  const Int significand = stored > 0 ? ((a & (hidden - 1)) | hidden) : a;
  const Int normal = __builtin_bit_cast(Int, least), under = (normal >> mantissa) - exponent;
  const Int below = under > 0 ? under : Int(0), kept = ((a < normal) & ((r & kSubnormals) == 0)) ? Int(0) : digits;
  // The bits of the significand that are no whole units: more than it has where |x| is less than half of one.
  const Int deep = mantissa - kept + below, lost = deep > 0 ? deep : Int(0);
  const Int shift = lost < mantissa + 2 ? lost : Int(mantissa + 2);
  const Int unit = one << shift, half = unit >> 1, units = significand >> shift, rest = significand & (unit - 1);
  const T part = as_float(rest) * __builtin_bit_cast(T, (Int(Real<T>::kBias) - (lost < far ? lost : far)) << mantissa);
  const bool away = leaves_zero(r, rest != 0, rest > half, rest == half, (units & 1) != 0, part >= threshold, side);
  const Int rounded = units + Int(away);
  // The bits of so many units: a carry enters the exponent by itself. From two bits above the significand on, there is
  // 0 or one unit.
  const Int first = normal - (kept << mantissa), many = (rounded << shift) + ((exponent - 1) << mantissa);
  return __builtin_bit_cast(T, rounded == 0 ? Int(0) : lost > mantissa + 1 ? first : many);
}

/// x rounded once. Numbers of the format are multiples of a unit: 2^-digits of the power of two below |x|, or of
/// `least`, that of its least normal number, where |x| is smaller. threshold: of `kThreshold`, in units. Of a rule,
/// least and largest that a compiler knows it keeps one of three ways, and of that what the rule needs.
template <class T> BURLAB_CONSTEXPR T round_to(T x, T threshold, T rule, T least, T largest) {
  using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  constexpr Int mantissa = Real<T>::kMantissa, last = 2 * Int(Real<T>::kBias);  // exponent of the largest number
  const Int r = static_cast<std::int32_t>(rule), digits = r / kDigits;
  const bool single = sizeof(T) == 8 &&
                      r == (kNearest | kTieOfOdd | kSubnormals | kInfinities | kSignedZero | 23 * kDigits) &&
                      least == T(std::numeric_limits<float>::min()) && largest == T(std::numeric_limits<float>::max());
  if (single) return static_cast<T>(static_cast<float>(x));  // one instruction each way
  const Int sign = __builtin_bit_cast(Int, x) & __builtin_bit_cast(Int, Real<T>::kSign);
  const Int side = sign != 0 ? r & kBelow : r & kAbove;
  const T a = __builtin_bit_cast(T, __builtin_bit_cast(Int, x) ^ sign);
  const Int normal = __builtin_bit_cast(Int, least) >> mantissa, high = __builtin_bit_cast(Int, largest) >> mantissa;
  const Int more = (r & kSubnormals) != 0 ? mantissa - digits : mantissa, top = high > normal ? high : normal;
  const bool by_sum = (digits < mantissa) & (normal > digits) & (top + more < last);
  const bool by_bits = (digits < mantissa) & (normal == 1) & ((r & kSubnormals) != 0);
  const T lowest = largest + __builtin_bit_cast(T, __builtin_bit_cast(Int, least) - (digits << mantissa));
  const T limit = (r & kOneBelow) != 0 && sign != 0 ? lowest : largest;
  const T outside = (r & kInfinities) != 0 ? kInfinity<T> : kNan<T>, beyond = (r & kSaturates) != 0 ? limit : outside;
  const bool is_even = (r & (kSubnormals - 1)) == (kNearest | kTieOfOdd);
  const bool leaves = ((r & (kNearest | kThreshold)) | side) != 0;
  const T near = by_sum && is_even ? nearest_by_sum(a, r, least, limit, beyond)
                 : by_sum          ? rounded_by_sum(a, threshold, r, least, largest, side)
                 : by_bits         ? rounded_by_bits(a, threshold, r, side)
                                   : rounded_by_units(a, threshold, r, least, side);
  const T finite = near > limit ? (leaves || a == kInfinity<T> ? beyond : limit) : near;
  const T y = by_sum && is_even ? near : by_sum || a == a ? finite : a;
  const Int kept = (r & kSignedZero) == 0 && y == T(0) ? Int(0) : sign;
  return __builtin_bit_cast(T, __builtin_bit_cast(Int, y) | kept);
}

}  // namespace burlab::math
BURLAB_END
