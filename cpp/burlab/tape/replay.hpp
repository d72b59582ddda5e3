#pragma once
// Replay: compute the recorded operations again, in their order, from the current values of the leaves.
#include "record.hpp"
#include "wide.hpp"

BURLAB_BEGIN
namespace burlab {

/// Compute again every node from number `first` on: values and partials, ready for a sweep. Leaves keep their value.
template <class T>
BURLAB_NOINLINE void TapeOf<T>::replay(std::uint32_t first) {
  for (std::uint32_t i = first ? first : 1; i < nodes.size; ++i) {
    Node& n = nodes[i];
    if (!n.interior()) continue;
    if (n.wide()) {
      n.value = static_cast<T>(WideRule<T>{nodes.at, first_edge(n), n.edges()}.evaluate(n.code));
      continue;
    }
    const bool by_x = n.parent[0] != 0, by_y = n.parent[1] != 0;
    const T x = by_x ? nodes[n.parent[0]].value : n.partial[0];
    const T y = by_y ? nodes[n.parent[1]].value : n.partial[1];
    const Outcome z = burlab::evaluate(n.code, x, y, by_x, by_y);
    n.value = z.value;
    n.partial[0] = z.partial[0];
    n.partial[1] = z.partial[1];
  }
}

}  // namespace burlab
BURLAB_END
