#pragma once
// Numbers of a narrow format: each operation is computed in a wider type and rounded once more, to the nearest number
// of the format, of two to the even one. The structs of operations run on them, and a Dual of them has rounded
// derivatives.
#include <cmath>
#include <type_traits>

#include "assignment.hpp"
#include "format.hpp"
#include "function_names.hpp"
#include "mask.hpp"

BURLAB_BEGIN
namespace burlab {

namespace formats {

/// A format of IEEE 754's kind, with subnormal numbers, infinities and nan: bits of its exponent, and of its
/// significand without the leading one. Others, such as `E4M3`, have the same four members.
template <int Exponent, int Significand>
struct Ieee {
  static_assert(Exponent >= 2 && Exponent <= 11 && Significand >= 1 && Significand <= 52,
                "expected 2 to 11 bits of the exponent and 1 to 52 of the significand");
  static constexpr int significand = Significand, least_exponent = 2 - (1 << (Exponent - 1));
  static constexpr double largest = (2 - 1 / double(std::int64_t(1) << Significand)) *
                                    __builtin_bit_cast(double, std::uint64_t(1023 + 1 - least_exponent) << 52);
  static constexpr std::int32_t flags = math::kSubnormals | math::kInfinities | math::kSignedZero;
};
using Float16 = Ieee<5, 10>;
using Bfloat16 = Ieee<8, 7>;
using Tf32 = Ieee<8, 10>;
using E5M2 = Ieee<5, 2>;

/// The 8 bits of OCP's FP8 specification (2023): no infinities, what is larger than 448 is nan.
struct E4M3 {
  static constexpr int significand = 3, least_exponent = -6;
  static constexpr double largest = 448;
  static constexpr std::int32_t flags = math::kSubnormals | math::kSignedZero;
};

}  // namespace formats

/// A number of Format, held in T, float or double. Sums, products, quotients and roots are the exact ones rounded once
/// if T has twice the bits of the format and two more (Figueroa 1995): up to 24 bits of the significand in double, 10
/// in float. Functions are those of T, rounded.
template <class Format, class T = double>
struct Rounded {
  static_assert(std::is_floating_point_v<T> && Format::significand <= math::Real<T>::kMantissa &&
                    Format::least_exponent > -static_cast<int>(math::Real<T>::kBias),
                "T has not all numbers of the format: expected a wider T, such as double");
  T number = 0;

  constexpr Rounded() = default;
  template <class S>
    requires std::is_arithmetic_v<S>
  constexpr Rounded(S any)
      : number(static_cast<T>(nearest(static_cast<std::conditional_t<std::is_same_v<S, float>, T, double>>(any)))) {}

  /// The number of the format next to x, which is rounded once.
  template <class X> static constexpr X nearest(X x) {
    constexpr std::int32_t rule =
        math::kNearest | math::kTieOfOdd | Format::flags | math::kDigits * Format::significand;
    constexpr auto exponent = math::Bits<X>(static_cast<int>(math::Real<X>::kBias) + Format::least_exponent);
    constexpr X least = __builtin_bit_cast(X, exponent << math::Real<X>::kMantissa);
    return math::round_to(x, X(0), X(rule), least, X(Format::largest));
  }
  explicit constexpr operator T() const { return number; }

  friend constexpr Rounded operator-(Rounded x) { return Rounded(-x.number); }
  friend constexpr Rounded operator+(Rounded x, Rounded y) { return Rounded(x.number + y.number); }
  friend constexpr Rounded operator-(Rounded x, Rounded y) { return Rounded(x.number - y.number); }
  friend constexpr Rounded operator*(Rounded x, Rounded y) { return Rounded(x.number * y.number); }
  friend constexpr Rounded operator/(Rounded x, Rounded y) { return Rounded(x.number / y.number); }
  friend constexpr bool operator<(Rounded x, Rounded y) { return x.number < y.number; }
  friend constexpr bool operator<=(Rounded x, Rounded y) { return x.number <= y.number; }
  friend constexpr bool operator>(Rounded x, Rounded y) { return x.number > y.number; }
  friend constexpr bool operator>=(Rounded x, Rounded y) { return x.number >= y.number; }
  friend constexpr bool operator==(Rounded x, Rounded y) { return x.number == y.number; }
  friend constexpr bool operator!=(Rounded x, Rounded y) { return x.number != y.number; }

  friend constexpr Rounded select(bool mask, Rounded yes, Rounded no) { return mask ? yes : no; }
  friend constexpr bool is_zero(Rounded x) { return x.number == 0; }
  friend Rounded fabs(Rounded x) { return Rounded(std::fabs(x.number)); }
  friend Rounded max(Rounded x, Rounded y) { return Rounded(std::fmax(x.number, y.number)); }
  friend Rounded min(Rounded x, Rounded y) { return Rounded(std::fmin(x.number, y.number)); }
  friend Rounded pow(Rounded x, Rounded y) { return Rounded(std::pow(x.number, y.number)); }
  friend Rounded atan2(Rounded y, Rounded x) { return Rounded(std::atan2(y.number, x.number)); }
#define BURLAB_ROUNDED_FUNCTION(name) \
  friend Rounded name(Rounded x) { return Rounded(std::name(x.number)); }
  BURLAB_FUNCTION_NAMES(BURLAB_ROUNDED_FUNCTION)
#undef BURLAB_ROUNDED_FUNCTION

  /// An operation of the further tables (`ops/call.hpp`).
  template <class Op, class... Ts>
  friend Rounded through(Op, Rounded x, Ts... xs) {
    return Rounded(Op::number(x.number, xs.number...));
  }
};

template <class Format, class T>
inline constexpr bool has_fabs<Rounded<Format, T>> = true;
template <class Format, class T>
inline constexpr bool is_number<Rounded<Format, T>> = true;

}  // namespace burlab
BURLAB_END
