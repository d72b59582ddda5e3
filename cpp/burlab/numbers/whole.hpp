#pragma once
// Whole numbers of every width, as NumPy computes with them: sums and products wrap around, and a float is cut.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "simd.hpp"

BURLAB_BEGIN
namespace burlab {

/// The unsigned type in which whole numbers are added and multiplied: there C++ wraps around. It is never narrower than
/// int, which C++ would turn it into, and which does not wrap.
template <class T> struct RingOf {
  using type = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;
};
template <class T> using Ring = typename RingOf<T>::type;

/// Whether arithmetic of a type wraps around.
template <class T>
inline constexpr bool wraps = std::is_integral_v<T> && !std::is_same_v<T, bool>;

/// A float as an integer W of 32 or 64 bits, rounded towards 0; the lowest one where it is too large, or nan.
template <class W, class X> BURLAB_CONSTEXPR W cut(X x) {
  constexpr X beyond = X(2) * X(W(1) << (8 * sizeof(W) - 2));
  return (x >= -beyond && x < beyond) ? static_cast<W>(x) : std::numeric_limits<W>::min();
}

/// R(x). A float beyond R, for which NumPy promises nothing, becomes what it does on x86-64: cut to 32 or 64 bits
/// first, and of these the lowest bits.
template <class R, class X> BURLAB_CONSTEXPR R converted(X x) {
  if constexpr (!std::is_floating_point_v<X> || !wraps<R>) {
    return static_cast<R>(x);
  } else if constexpr (std::is_same_v<R, std::uint64_t>) {
    constexpr X half = X(std::uint64_t(1) << 63);
    const std::uint64_t low = static_cast<std::uint64_t>(cut<std::int64_t>(x < half ? x : x - half));
    return x < half ? low : x >= half ? low ^ (std::uint64_t(1) << 63) : std::uint64_t(1) << 63;
  } else if constexpr (std::is_same_v<R, std::uint32_t> || sizeof(R) == 8) {
    return static_cast<R>(cut<std::int64_t>(x));
  } else {
    return static_cast<R>(cut<std::int32_t>(x));
  }
}

}  // namespace burlab
BURLAB_END
