#pragma once
// Golden: the tiny graph and its gradient as one would write them by hand. The line that everything else is held to.
#include "../variants/loop.hpp"

BURLAB_BEGIN
namespace burlab::bench {

/// g = e^2 / 2 with e = (a + b) - (a b + b^3), so dg/da = e (1 - b) and dg/db = e (1 - a - 3 b^2).
template <class T>
BURLAB_INLINE void tiny(T a, T b, T* out) {
  BURLAB_FUSED
  const T bb = b * b, e = (a + b) - (a * b + bb * b);
  out[0] = 0.5 * e * e;
  out[1] = e - e * b;
  out[2] = e - e * (a + 3.0 * bb);
}

/// One point after the other. points: (m, 2); out: (m, 3).
inline void tiny_line(Int count, const double* points, Int m, double* out) {
  in_turn(count, m, [&](Int row) { tiny(points[2 * row], points[2 * row + 1], out + 3 * row); });
}

/// As many points at once as the CPU has lanes. a, b, g, ga, gb: (m,) each.
inline void tiny_lanes(Int count, const double* a, const double* b, Int m, double* g, double* ga, double* gb) {
  for (Int done = 0; done < count; done += m) {
    const Int rows = count - done < m ? count - done : m;
    BURLAB_LANES
    for (Int row = 0; row < rows; ++row) {
      double out[3];
      tiny(a[row], b[row], out);
      g[row] = out[0], ga[row] = out[1], gb[row] = out[2];
    }
  }
}

}  // namespace burlab::bench
BURLAB_END
