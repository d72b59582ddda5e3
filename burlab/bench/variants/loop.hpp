#pragma once
// Loops in C++ over the points of a scalar problem: what a C++ program does with burlab, and what is timed of it.
#include <cstdint>

#include "burlab/burlab.hpp"

BURLAB_BEGIN
namespace burlab::bench {

using Int = std::int64_t;

/// Call f(row) `count` times for the rows 0 to m - 1 in turn.
template <class F>
BURLAB_INLINE void in_turn(Int count, Int m, F f) {
  for (Int done = 0; done < count; done += m) {
    const Int rows = count - done < m ? count - done : m;
    BURLAB_ONE_BY_ONE
    for (Int row = 0; row < rows; ++row) f(row);
  }
}

/// A compiled or replayed graph: `Int run(context, in, out, workspace)`, called through its address.
using Run = Int (*)(const void*, const void* const*, void* const*, void*);

/// points: (m, k); out: (m, 1 + k), value and gradients. Every output of `run` is one number.
inline Int call_in_turn(Int count, void* run, const void* context, void* workspace, const double* points, Int m, Int k,
                        double* out) {
  const void* in[16];
  void* to[17];
  if (k > 16) return 1;
  Int outcome = 0;
  in_turn(count, m, [&](Int row) {
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j < k; ++j) in[j] = points + row * k + j;
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j <= k; ++j) to[j] = out + row * (k + 1) + j;
    outcome |= reinterpret_cast<Run>(run)(context, in, to, workspace);
  });
  return outcome;
}

}  // namespace burlab::bench
BURLAB_END
