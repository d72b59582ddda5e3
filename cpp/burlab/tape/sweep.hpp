#pragma once
// The reverse sweep. Newest first is a reverse topological order, so one walk down the tape is the whole algorithm. A
// stamp marks the nodes that this sweep has reached: no gradient is cleared first, and nodes that the root does not
// depend on keep the gradient of an earlier sweep.
#include "tape.hpp"

BURLAB_BEGIN
namespace burlab {

/// The state of a sweep. Its address is never taken, so that it stays in registers.
struct Sweep {
  Tape* tape;
  Node* nodes;
  std::uint32_t epoch;
  bool accumulate;
  std::uint32_t waiting = 0;  // interior nodes that were reached but not processed

  /// Add a contribution to a node. The first one of a sweep replaces the gradient of an earlier sweep, or sets it aside
  /// if gradients accumulate: an interior node passes on only contributions of this sweep.
  BURLAB_ANYWHERE void give(std::uint32_t index, double contribution) {
    Node& n = nodes[index];
    if (n.stamp >= epoch) {
      n.gradient += contribution;
      return;
    }
    n.stamp = epoch;
    waiting += n.code != leaf_code;
    if (BURLAB_UNLIKELY(accumulate)) {
      n.earlier = n.gradient;
      if (n.code == leaf_code) contribution += n.gradient;
    }
    n.gradient = contribution;
  }

  /// The chain rule: pass the gradient of a node to its operands.
  BURLAB_ANYWHERE void pass_on(Node& n) {
    const double g = n.gradient;
    if (BURLAB_UNLIKELY(accumulate)) n.gradient += n.earlier;
    if (BURLAB_LIKELY(n.code < first_wide_code)) {
      give(n.parent[0], g * n.partial[0]);
      if (n.parent[1]) give(n.parent[1], g * n.partial[1]);
    } else {
      for (const Edge *e = tape->edges.at + n.parent[0], *end = e + n.parent[1]; e < end; ++e)
        give(e->parent, g * e->partial);
    }
  }
};

inline int newest_first(const void* a, const void* b) {
  const std::uint32_t x = *static_cast<const std::uint32_t*>(a), y = *static_cast<const std::uint32_t*>(b);
  return (x < y) - (x > y);
}

/// The rest of a sweep, from node `last` down, if the ancestors of the root are far apart: list and sort them. Returns
/// the number of waiting nodes: none, or all of them if there is no memory for the list.
BURLAB_COLD std::uint32_t sweep_list(Sweep sweep, std::uint32_t root, std::uint32_t last) {
  const std::uint32_t listed = sweep.epoch + 1;  // a second stamp: reached, and on the list
  Block<std::uint32_t> list;
  bool enough = list.reserve(1024);
  if (enough) list[list.size++] = root;
  for (std::uint32_t k = 0; enough && k < list.size; ++k)
    sweep.tape->for_each_operand(sweep.nodes[list[k]], [&](std::uint32_t parent, double) {
      sweep.give(parent, 0);
      Node& n = sweep.nodes[parent];
      if (n.stamp == listed || n.code == leaf_code || !(enough = enough && list.reserve(1))) return;
      n.stamp = listed;
      list[list.size++] = parent;
    });
  if (!enough) return sweep.waiting;
  std::uint32_t count = 0;
  for (std::uint32_t k = 0; k < list.size; ++k)
    if (list[k] < last) list[count++] = list[k];
  std::qsort(list.at, count, sizeof(std::uint32_t), newest_first);
  for (std::uint32_t k = 0; k < count; ++k) sweep.pass_on(sweep.nodes[list[k]]);
  return 0;
}

BURLAB_NOINLINE Status Tape::backward(std::uint32_t root, bool accumulate) {
  if (root >= nodes.size) return fail(StaleValue), StaleValue;
  Sweep sweep{this, nodes.at, next_epoch(), accumulate};
  sweep.give(root, 1);
  std::int64_t patience = 4096;  // the budget of foreign nodes; each other node adds to it
  for (Node* n = sweep.nodes + root; sweep.waiting > 0; --n) {
    BURLAB_PREFETCH(n - nodes_ahead);
    if (n->stamp >= sweep.epoch && n->code != leaf_code) {
      --sweep.waiting, patience += 7;
      sweep.pass_on(*n);
    } else if (BURLAB_UNLIKELY(--patience < 0)) {
      const Sweep so_far = sweep;
      sweep.waiting = sweep_list(so_far, root, static_cast<std::uint32_t>(n - sweep.nodes));
    }
  }
  return Ok;
}

}  // namespace burlab
BURLAB_END
