#pragma once
// Choice without a branch: operations never write `if` or `?:` on a number, so that a packet or a dual number can pass.
#include <type_traits>

#include "simd.hpp"

BURLAB_BEGIN
namespace burlab {

/// Whether a type holds the outcome of a comparison. A mask chooses; it has no derivative.
template <class T>
inline constexpr bool is_mask = std::is_same_v<T, bool>;

/// The mask of a comparison: bool for plain numbers; every number type adds its own overloads.
template <class T>
  requires std::is_arithmetic_v<T>
constexpr T select(bool mask, T yes, T no) {
  return mask ? yes : no;
}
constexpr bool either(bool a, bool b) { return a | b; }
constexpr bool both(bool a, bool b) { return a & b; }
constexpr bool negate(bool a) { return !a; }
constexpr bool is_zero(double x) { return x == 0; }
constexpr bool is_zero(float x) { return x == 0; }

/// A partial derivative that burlab has no rule for: Python refuses to derive by that argument.
inline constexpr double kUnknown = __builtin_nan("");
/// What an argument with such a partial adds to a tangent: nothing where the argument does not move.
template <class T>
BURLAB_CONSTEXPR T unknown_along(T tangent) {
  return select(is_zero(tangent), T(0), T(kUnknown));
}

/// Whether products of this type are 0 wherever a factor is, whatever the other one.
template <class T>
inline constexpr bool knows_zeros = false;
/// A partial times a tangent: 0 where that is 0, be the partial inf or nan. What does not move adds nothing.
template <class T>
BURLAB_CONSTEXPR T weighted(T partial, T tangent) {
  if constexpr (knows_zeros<T>) return partial * tangent;
  else return select(is_zero(tangent), T(0), partial * tangent);
}
/// x * y, 0 where one of both is, be the other one inf or nan.
template <class T>
BURLAB_CONSTEXPR T product_of_zeros(T x, T y) {
  if constexpr (knows_zeros<T>) return x * y;
  else return select(either(is_zero(x), is_zero(y)), T(0), x * y);
}

/// A value, of which derivatives read more than it does: `Form` has to know.
template <class T>
BURLAB_CONSTEXPR T derived_with(T value, T) {
  return value;
}

/// A constant of more digits than a double has, high + low, in types that have a use for them.
template <class T>
BURLAB_CONSTEXPR T of_digits(double high, [[maybe_unused]] double low) {
  if constexpr (requires { T::of_digits(high, low); }) return T::of_digits(high, low);
  else return T(high);
}

/// Whether std::fabs gives the magnitude of this type.
template <class T>
inline constexpr bool has_fabs = std::is_floating_point_v<T>;

/// Whether a type carries tangents (`dual.hpp`).
template <class T>
inline constexpr bool is_dual = requires(T x) { x.tangent; };

}  // namespace burlab
BURLAB_END
