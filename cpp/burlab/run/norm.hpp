#pragma once
// Euclidean norms for the record of a run: in double, in 16 lanes, in an order that the length alone decides.
#include <cmath>
#include <cstdint>

#include "../numbers/packet.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// sqrt(sum_i x_i^2) over n numbers; `term(i)` is x_i, `terms(packet, i)` loads x_i to x_{i + 15}.
template <class T, class Terms, class Term>
BURLAB_INLINE double norm_of(std::int64_t n, const Terms& terms, const Term& term) {
  Packet<double, 16> lanes = {};
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    Packet<T, 16> x;
    terms(x, i);
    const auto wide = __builtin_convertvector(x, Packet<double, 16>);
    lanes += wide * wide;
  }
  double rest = 0;
  for (; i < n; ++i) rest += static_cast<double>(term(i)) * static_cast<double>(term(i));
  return std::sqrt(sum_lanes<double>(lanes) + rest);
}

/// The norm of a.
template <class T> BURLAB_NOINLINE double norm(const T* a, std::int64_t n) {
  return norm_of<T>(n, [=](Packet<T, 16>& x, std::int64_t i) { load(x, a + i); }, [=](std::int64_t i) { return a[i]; });
}

/// The norm of a - b.
template <class T> BURLAB_NOINLINE double distance(const T* a, const T* b, std::int64_t n) {
  const auto difference = [=](Packet<T, 16>& x, std::int64_t i) {
    Packet<T, 16> y;
    load(x, a + i);
    load(y, b + i);
    x -= y;
  };
  return norm_of<T>(n, difference, [=](std::int64_t i) { return a[i] - b[i]; });
}

}  // namespace burlab::run
BURLAB_END
