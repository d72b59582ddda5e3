#pragma once
// Rounding, remainders, and operations on signs and bits. Values are NumPy's to the bit; derivatives are JAX's.
#include <cmath>
#include <limits>
#include <type_traits>

#include "../numbers/logarithm.hpp"
#include "../numbers/rounding.hpp"
#include "../numbers/whole.hpp"
#include "call.hpp"
#include "table.hpp"

BURLAB_BEGIN
namespace burlab::ops {

// clang-format off
#define BURLAB_ROUNDED_TO(Name, text, fact, formula, function)                      \
  struct Name {                                                                     \
    using fact = void;                                                              \
    using own_lanes = void;                                                         \
    static constexpr auto name = text;                                              \
    static constexpr int arity = 1;                                                 \
    static constexpr auto doc = formula " Partial 0.";                              \
    template <class T> BURLAB_RULE T primal(T x) { return call<Name>(x); }          \
    template <class T> BURLAB_RULE T number(T x) { return math::function(x); }      \
    template <int K, class T> BURLAB_RULE T partial(T, T) { return T(0); }          \
  }
BURLAB_ROUNDED_TO(Floor, "floor", of_numbers, "The largest whole number that is not above x.", floor);
BURLAB_ROUNDED_TO(Ceil, "ceil", of_numbers, "The smallest whole number that is not below x.", ceil);
BURLAB_ROUNDED_TO(Rint, "rint", of_floats, "The nearest whole number, halves to the even one.", rint);
BURLAB_ROUNDED_TO(Trunc, "trunc", of_numbers, "The whole part, rounded towards 0.", trunc);
#undef BURLAB_ROUNDED_TO
// clang-format on

/// Whether an integer is -1, which an unsigned one never is.
template <class T> BURLAB_CONSTEXPR bool minus_one(T y) {
  if constexpr (std::is_signed_v<T>) return y == -1;
  else return false;
}

struct Fmod {
  using inlined = void;
  using common_lanes = void;
  static constexpr auto name = "fmod";
  static constexpr int arity = 2, first_own = 1, last_own = 1;
  static constexpr auto doc = "x - y trunc(x / y), exact, with the sign of x. Partials 1 and -trunc(x / y).";
  template <class T> BURLAB_RULE T primal(T x, T y) { return call<Fmod>(x, y); }
  template <class T> static T number(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) return fits(x, y) ? common(x, y) : std::fmod(x, y);
    else return y == 0 || minus_one(y) ? T(0) : T(x % y);  // the lowest number % -1 would trap
  }
  /// Whether the quotient has no more bits than a number.
  template <class T, class... Result> BURLAB_RULE bool fits(T x, T y, Result...) {
    return (math::magnitude(x / y) < math::kWhole<T>)&math::exact_products(x, y) & (y - y == T(0));
  }
  /// Then x less the whole part of the quotient times y is exact. That part is one too large if the quotient was
  /// rounded up to it: the sign is wrong.
  template <class T> BURLAB_RULE T common(T x, T y) {
    const T left = math::less_product(x, math::trunc(x / y), y), size = math::magnitude(left);
    const bool wrong = ((left > T(0)) != (x > T(0))) & (left != T(0));
    const T turned = math::magnitude(y) - size;
    return math::with_sign_of(wrong ? turned : size, x);
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T) { return K == 0 ? T(1) : -call<Trunc>(x / y); }
};

struct FloorDivide {
  using inlined = void;
  using common_lanes = void;
  static constexpr auto name = "floor_divide";
  static constexpr int arity = 2;
  static constexpr auto doc = "The largest whole number that is not above x / y. Partials 0.";
  template <class T> BURLAB_RULE T primal(T x, T y) { return call<FloorDivide>(x, y); }
  template <class T> static T number(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      if (BURLAB_LIKELY(fits(x, y))) return common(x, y);
      if (y == T(0)) return x / y;
      const T rest = Fmod::number(x, y);
      T whole = (x - rest) / y;
      if (rest != T(0) && (y < T(0)) != (rest < T(0))) whole -= T(1);
      if (whole == T(0)) return math::with_sign_of(T(0), x / y);
      const T below = math::floor(whole);
      return whole - below > T(0.5) ? below + T(1) : below;
    } else {
      if (y == 0) return 0;
      if (minus_one(y)) return T(Ring<T>(0) - Ring<T>(x));
      return T(x / y - ((x % y != 0) & ((x < 0) != (y < 0))));
    }
  }
  template <class T, class... Result> BURLAB_RULE bool fits(T x, T y, Result...) {
    return (math::magnitude(x / y) < T(0.25) * math::kWhole<T>)&math::exact_products(x, y) & (y - y == T(0));
  }
  template <class T> BURLAB_RULE T common(T x, T y) {
    const T quotient = x / y, floor = math::floor(quotient), left = math::less_product(x, floor, y);
    const bool rounded_up = (left != T(0)) & ((left > T(0)) != (y > T(0)));
    const T below = floor - T(1), down = rounded_up ? below : floor, zero = math::with_sign_of(T(0), quotient);
    return down == T(0) ? zero : down;
  }
  template <int K, class T> BURLAB_RULE T partial(T, T, T) { return T(0); }
};

/// floor(x / y), given z = x - y floor(x / y): where the quotient was rounded up to a whole number, z is nearly y.
struct FloorGivenRemainder {
  static constexpr auto name = "floor_given_remainder";
  static constexpr int arity = 3, parameters = 0;
  template <class T> BURLAB_RULE T primal(T x, T y, T z) { return call<FloorGivenRemainder>(x, y, z); }
  template <class T> BURLAB_RULE T number(T x, T y, T z) {
    const T quotient = x / y, floor = math::floor(quotient), below = floor - T(1);
    const bool rounded_up = (quotient == floor) & (math::magnitude(z) > T(0.5) * math::magnitude(y));
    const T down = rounded_up ? below : floor, whole = down == T(0) ? math::with_sign_of(T(0), quotient) : down;
    const T edge = y == T(0) ? quotient : z;
    return z == z ? whole : edge;
  }
  template <int K, class T> BURLAB_RULE T partial(T, T, T, T) { return T(0); }
};

struct Remainder {
  using inlined = void;
  using common_lanes = void;
  static constexpr auto name = "remainder";
  static constexpr int arity = 2, first_own = 1, last_own = 1;
  static constexpr auto doc = "x - y floor(x / y), with the sign of y. Partials 1 and -floor(x / y).";
  template <class T> BURLAB_RULE T primal(T x, T y) { return call<Remainder>(x, y); }
  template <class T> static T number(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) return with_sign(Fmod::number(x, y), y);
    else {
      const T rest = Fmod::number(x, y);
      return rest != 0 && (y < 0) != (rest < 0) ? T(rest + y) : rest;
    }
  }
  template <class T, class... Result> BURLAB_RULE bool fits(T x, T y, Result...) { return Fmod::fits(x, y); }
  template <class T> BURLAB_RULE T common(T x, T y) { return with_sign(Fmod::common(x, y), y); }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T z) {
    return K == 0 ? T(1) : -call<FloorGivenRemainder>(x, y, z);
  }

 private:
  /// What is left of x / y, with the sign of y.
  template <class T> BURLAB_RULE T with_sign(T left, T y) {
    const T moved = left + y, zero = math::with_sign_of(T(0), y), other = (y < T(0)) != (left < T(0)) ? moved : left;
    return left == T(0) ? zero : other;
  }
};

struct Copysign {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "copysign";
  static constexpr int arity = 2;
  static constexpr auto doc = "|x| with the sign of y. Partials 1 or -1, as the sign of x is kept or not, and 0.";
  template <class T> BURLAB_RULE T primal(T x, T y) { return call<Copysign>(x, y); }
  template <class T> BURLAB_RULE T number(T x, T y) { return math::with_sign_of(math::magnitude(x), y); }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T) {
    return K == 0 ? call<Copysign>(T(1), x) * call<Copysign>(T(1), y) : T(0);
  }
};

struct Fmax {
  using own_lanes = void;
  using called_partials = void;
  static constexpr auto name = "fmax";
  static constexpr int arity = 2;
  static constexpr auto doc = "The larger; nan only where both are. Partial 1 for the one taken: of a tie, the second.";
  template <class T> BURLAB_RULE T primal(T x, T y) { return select(either(x > y, y != y), x, y); }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T) {
    return K == 0 ? select(either(x > y, y != y), T(1), T(0)) : select(either(x > y, y != y), T(0), T(1));
  }
};

struct Fmin {
  using own_lanes = void;
  using called_partials = void;
  static constexpr auto name = "fmin";
  static constexpr int arity = 2;
  static constexpr auto doc =
      "The smaller; nan only where both are. Partial 1 for the one taken: of a tie, the second.";
  template <class T> BURLAB_RULE T primal(T x, T y) { return select(either(x < y, y != y), x, y); }
  template <int K, class T> BURLAB_RULE T partial(T x, T y, T) {
    return K == 0 ? select(either(x < y, y != y), T(1), T(0)) : select(either(x < y, y != y), T(0), T(1));
  }
};

struct Nextafter {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "nextafter";
  static constexpr int arity = 2;
  static constexpr auto doc = "The number next to x on the way to y. Partials 1 and 0.";
  template <class T> BURLAB_RULE T primal(T x, T y) { return call<Nextafter>(x, y); }
  /// The next bits away from 0, or towards it.
  template <class T> BURLAB_RULE T number(T x, T y) {
    using Bits = math::Bits<T>;
    const Bits bits = __builtin_bit_cast(Bits, x), step = (y > x) == (x > T(0)) ? Bits(1) : ~Bits(0);
    const T next = __builtin_bit_cast(T, bits + step), least = __builtin_bit_cast(T, Bits(1));
    const T moved = x == T(0) ? math::with_sign_of(least, y) : next;
    const T nan = x + y;
    return x == y ? y : ((x != x) | (y != y)) ? nan : moved;
  }
  template <int K, class T> BURLAB_RULE T partial(T, T, T) { return K == 0 ? T(1) : T(0); }
};

/// The number before x. What rounds to +0 is not below 0, as the sign of a rounded result is that of the exact one.
struct LowerBound {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "lower_bound";
  static constexpr int arity = 1;
  static constexpr auto doc =
      "The number below x: no result that was rounded to x was below it. 0 stays 0, but -0 does not. Partial 1.";
  template <class T> BURLAB_RULE T primal(T x) { return call<LowerBound>(x); }
  template <class T> BURLAB_RULE T number(T x) {
    using Bits = math::Bits<T>;
    constexpr T most = std::numeric_limits<T>::max();
    const T last = x > most ? most : x;
    const Bits bits = __builtin_bit_cast(Bits, last);
#if defined(BURLAB_PLAIN)
    using Signed = std::make_signed_t<Bits>;
    const T moved = __builtin_bit_cast(T, bits + (static_cast<Signed>(bits) < 0 ? Bits(1) : ~Bits(0)));
    const bool stays = (bits == 0) | !(x > -std::numeric_limits<T>::infinity());
    return stays ? last : moved;
#else
    // x - |x| u (1 + 2 u), rounded once, is the next number, of denormal numbers too if |x| is taken for a normal one.
    constexpr T least = std::numeric_limits<T>::min(), step = std::numeric_limits<T>::epsilon() / 2;
    const T size = math::magnitude(last);
    const T moved = math::fused(-step - step * (step + step), size > least ? size : least, last);
    return bits == 0 ? last : moved;
#endif
  }
  template <int K, class T> BURLAB_RULE T partial(T, T) { return T(1); }
};

struct UpperBound {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "upper_bound";
  static constexpr int arity = 1;
  static constexpr auto doc =
      "The number above x: no result that was rounded to x was above it. -0 stays -0, but 0 does not. Partial 1.";
  template <class T> BURLAB_RULE T primal(T x) { return call<UpperBound>(x); }
  template <class T> BURLAB_RULE T number(T x) { return -LowerBound::number(-x); }
  template <int K, class T> BURLAB_RULE T partial(T, T) { return T(1); }
};

struct Ldexp {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "ldexp";
  static constexpr int arity = 2, literal = 1;
  static constexpr auto doc = "x 2^n for whole n, rounded once. Partials 2^n and 0.";
  template <class T> BURLAB_RULE T primal(T x, T n) { return call<Ldexp>(x, n); }
  /// By up to three powers of two, of which only the last one rounds: the others leave a product that is a number, or
  /// one that ends at 0 or beyond all numbers.
  template <class T> BURLAB_RULE T number(T x, T n) {
    using R = math::Real<T>;
    constexpr T bias = T(R::kBias), top = math::kWhole<T> + bias, most = T(3) * bias;
    constexpr T up = power(math::kWhole<T> + bias + bias), down = power(top - bias + T(R::kMantissa + 2));
    constexpr T high = bias, low = T(1) - bias, less = bias - T(R::kMantissa + 2);
    T left = math::trunc(n > most ? most : n < -most ? -most : n);
    const T first = left > high ? up : left < low ? down : T(1);
    left = left > high ? left - high : left < low ? left + less : left;
    const T second = left > high ? up : left < low ? down : T(1);
    left = left > high ? left - high : left < low ? left + less : left;
    left = left > high ? high : left < low ? low : left;
    const T y = x * first * second * power(left + top);
    return n == n ? y : n;
  }
  /// 2^k of 2^mantissa + bias + k.
  template <class T> BURLAB_RULE T power(T shifted) {
    return __builtin_bit_cast(T, __builtin_bit_cast(math::Bits<T>, shifted) << math::Real<T>::kMantissa);
  }
  template <int K, class T> BURLAB_RULE T partial(T, T n, T) { return K == 0 ? call<Ldexp>(T(1), n) : T(0); }
};

/// The exponent e of x = m 2^e, 1/2 <= |m| < 1.
struct Exponent {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "exponent";
  static constexpr int arity = 1;
  static constexpr auto doc =
      "The exponent e of x = m 2^e with 1/2 <= |m| < 1; 0 where x is 0 or not finite. Partial 0.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Exponent>(x); }
  template <class T> BURLAB_RULE T number(T x) {
    using R = math::Real<T>;
    constexpr T least = __builtin_bit_cast(T, math::Bits<T>(1) << R::kMantissa);
    constexpr T normal = math::kWhole<T> + T(R::kBias - 1), denormal = normal + T(R::kMantissa + 1);
    const T a = math::magnitude(x), scaled = a * T(math::Bits<T>(1) << (R::kMantissa + 1));
    const T e = math::exponent_of<T>(__builtin_bit_cast(math::Bits<T>, a < least ? scaled : a));
    const T whole = e - (a < least ? denormal : normal);
    return ((a > T(0)) & (a < math::kInfinity<T>)) ? whole : T(0);
  }
  template <int K, class T> BURLAB_RULE T partial(T, T) { return T(0); }
};

/// The other part: the bits of x with the exponent of 1/2.
struct Mantissa {
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "mantissa";
  static constexpr int arity = 1;
  static constexpr auto doc = "The m of x = m 2^e with 1/2 <= |m| < 1; x where it is 0 or not finite. Partial 2^-e.";
  template <class T> BURLAB_RULE T primal(T x) { return call<Mantissa>(x); }
  template <class T> BURLAB_RULE T number(T x) {
    using R = math::Real<T>;
    using Bits = math::Bits<T>;
    constexpr Bits field = ~R::kSign & ~((Bits(1) << R::kMantissa) - 1), half = (R::kBias - 1) << R::kMantissa;
    constexpr T least = __builtin_bit_cast(T, Bits(1) << R::kMantissa);
    const T a = math::magnitude(x), scaled = x * T(Bits(1) << (R::kMantissa + 1));
    const T m = __builtin_bit_cast(T, (__builtin_bit_cast(Bits, a < least ? scaled : x) & ~field) | half);
    return ((a > T(0)) & (a < math::kInfinity<T>)) ? m : x;
  }
  template <int K, class T> BURLAB_RULE T partial(T x, T) { return call<Ldexp>(T(1), -call<Exponent>(x)); }
};

struct Signbit {
  using no_derivative = void;
  using of_floats = void;
  using own_lanes = void;
  static constexpr auto name = "signbit";
  static constexpr int arity = 1;
  static constexpr auto doc = "Whether x has a minus sign, zeros and nan too, as a mask; no derivative.";
  template <class T> BURLAB_RULE auto primal(T x) {
    if constexpr (requires { x.value; }) return number(x.value);
    else return call<Signbit>(x);
  }
  template <class T> BURLAB_RULE bool number(T x) {
    return (__builtin_bit_cast(math::Bits<T>, x) & math::Real<T>::kSign) != 0;
  }
};

// clang-format off
/// Operations on whole numbers; reason: why there are no SIMD lanes. `U` is the unsigned type in which they wrap around.
#define BURLAB_WHOLE(Name, text, reason, formula, count, arguments, ...)              \
  struct Name {                                                               \
    using no_derivative = void;                                               \
    using of_integers = void;                                                 \
    static constexpr auto name = text;                                        \
    static constexpr auto no_lanes = reason;                                  \
    static constexpr int arity = count;                                       \
    static constexpr auto doc = formula " of whole numbers; no derivative.";  \
    template <class T> static T primal arguments {                            \
      using U [[maybe_unused]] = Ring<T>;                                     \
      __VA_ARGS__                                                             \
    }                                                                         \
  }
BURLAB_WHOLE(BitwiseAnd, "bitwise_and", "", "x & y", 2, (T x, T y), return T(x & y););
BURLAB_WHOLE(BitwiseOr, "bitwise_or", "", "x | y", 2, (T x, T y), return T(x | y););
BURLAB_WHOLE(BitwiseXor, "bitwise_xor", "", "x ^ y", 2, (T x, T y), return T(x ^ y););
BURLAB_WHOLE(Invert, "invert", "", "~x", 1, (T x), return T(~x););
BURLAB_WHOLE(LeftShift, "left_shift", "", "x << n, 0 where n is no less than the number of bits,", 2, (T x, T n),
             return U(n) < 8 * sizeof(T) ? T(U(x) << U(n)) : T(0););
BURLAB_WHOLE(RightShift, "right_shift", "", "x >> n, which keeps the sign,", 2, (T x, T n),
             return U(n) < 8 * sizeof(T) ? T(x >> n) : x < 0 ? T(-1) : T(0););
BURLAB_WHOLE(Gcd, "gcd", "Euclid's loop, as long as the numbers make it", "The greatest common divisor", 2, (T x, T y),
             U a = x < 0 ? U(0) - U(x) : U(x); U b = y < 0 ? U(0) - U(y) : U(y);
             while (b != 0) { const U rest = a % b; a = b; b = rest; }
             return T(a););
BURLAB_WHOLE(Lcm, "lcm", "Euclid's loop, as long as the numbers make it", "The least common multiple", 2, (T x, T y),
             const U a = x < 0 ? U(0) - U(x) : U(x); const U b = y < 0 ? U(0) - U(y) : U(y);
             const U common = U(std::make_unsigned_t<T>(Gcd::primal(x, y)));
             return common == 0 ? T(0) : T(a / common * b););
#undef BURLAB_WHOLE
// clang-format on

// In the text of kernels; what is empty there is called.
template <> inline constexpr const char* spelling<LeftShift> = "{1} < 8 * sizeof({T}) ? {T}({U}({0}) << {1}) : {T}(0)";
template <> inline constexpr const char* spelling<RightShift> =
    "{1} < 8 * sizeof({T}) ? {T}({0} >> {1}) : {0} < 0 ? {T}(-1) : {T}(0)";
template <> inline constexpr const char* spelling<Signbit> = "__builtin_signbit({0}) != 0";
template <> inline constexpr const char* spelling<Gcd> = "";
template <> inline constexpr const char* spelling<Lcm> = "";
template <> inline constexpr const char* spelling<Fmax> = "";
template <> inline constexpr const char* spelling<Fmin> = "";

using Rounding = List<Floor, Ceil, Rint, Trunc, Fmod, FloorDivide, Remainder, Copysign, Fmax, Fmin, Nextafter,
                      LowerBound, UpperBound, Ldexp, Exponent, Mantissa, Signbit, BitwiseAnd, BitwiseOr, BitwiseXor,
                      Invert, LeftShift, RightShift, Gcd, Lcm>;

}  // namespace burlab::ops
BURLAB_END
