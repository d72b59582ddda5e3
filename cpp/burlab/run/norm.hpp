#pragma once
// Euclidean norms for the record of a run: in double, in 16 lanes, in an order that the length alone decides.
#include <cmath>
#include <cstdint>

#include "../numbers/packet.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The squares of numbers, added up in 16 lanes.
struct Squares {
  Packet<double, 16> lanes = {};
  double rest = 0;

  BURLAB_INLINE void add(const auto& packet) {
    const auto wide = __builtin_convertvector(packet, Packet<double, 16>);
    lanes += wide * wide;
  }
  BURLAB_INLINE void add_one(auto x) { rest += static_cast<double>(x) * static_cast<double>(x); }
  BURLAB_INLINE double root() const { return std::sqrt(sum_lanes<double>(lanes) + rest); }
};

/// The norms of a gradient and of a step.
struct Norms {
  Squares gradient, step;
};

/// Go on with the norms of g and of after - before, by n numbers; all but the last n are multiples of 16.
template <class T> BURLAB_NOINLINE void add(Norms& norms, const T* g, const T* after, const T* before, std::int64_t n) {
  Squares gradient = norms.gradient, step = norms.step;
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    Packet<T, 16> x, y;
    load(x, g + i);
    gradient.add(x);
    load(x, after + i);
    load(y, before + i);
    x -= y;
    step.add(x);
  }
  for (; i < n; ++i) {
    gradient.add_one(g[i]);
    step.add_one(after[i] - before[i]);
  }
  norms = {gradient, step};
}

}  // namespace burlab::run
BURLAB_END
