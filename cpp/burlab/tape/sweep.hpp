#pragma once
// The reverse sweep. Newest first is a reverse topological order, so one walk down the tape is the whole algorithm. A
// stamp marks the nodes that this sweep has reached: no gradient is cleared first, and nodes that the root does not
// depend on keep the gradient of an earlier sweep.
#include "tape.hpp"

BURLAB_BEGIN
namespace burlab {

/// Gradients from before a sweep that accumulates, which are added at its end: an interior node passes on only
/// contributions of this sweep.
template <class T> struct EarlierOf {
  struct Gradient {
    std::uint32_t node;
    T gradient;
  };
  Block<Gradient> gradients;
  bool complete = true;  // false if there was no memory for one

  BURLAB_OPTNONE void keep(std::uint32_t node, T gradient) {
    if ((complete = complete && gradients.reserve(1))) gradients[gradients.size++] = {node, gradient};
  }
  BURLAB_OPTNONE Status add_to(TapeOf<T>& tape) const {
    for (std::uint32_t k = 0; k < gradients.size; ++k) tape.nodes[gradients[k].node].gradient += gradients[k].gradient;
    return complete ? Ok : (tape.fail(OutOfMemory), OutOfMemory);
  }
};

/// The state of a sweep. Its address is never taken, so that it stays in registers.
template <class T> struct SweepOf {
  TapeOf<T>* tape;
  NodeOf<T>* nodes;
  std::uint32_t epoch;
  EarlierOf<T>* earlier;      // nullptr: gradients of earlier sweeps are replaced
  std::uint32_t waiting = 0;  // interior nodes that were reached but not processed

  /// Add a contribution to a node. The first one of a sweep replaces the gradient of an earlier sweep.
  BURLAB_ANYWHERE void give(std::uint32_t index, T contribution) {
    NodeOf<T>& n = nodes[index];
    if (n.stamp >= epoch) {
      n.gradient += contribution;
      return;
    }
    n.set_stamp(epoch);
    waiting += n.code != leaf_code;
    if (BURLAB_UNLIKELY(earlier != nullptr)) earlier->keep(index, n.gradient);
    n.gradient = contribution;
  }

  /// The chain rule: pass the gradient of a node to its operands.
  BURLAB_ANYWHERE void pass_on(const NodeOf<T>& n) {
    const T g = n.gradient;
    if (BURLAB_LIKELY(n.code < first_wide_code)) {
      give(n.parent[0], g * n.partial[0]);
      if (n.parent[1]) give(n.parent[1], g * n.partial[1]);
    } else {
      for (const EdgeOf<T>*e = tape->edges.at + n.parent[0], *end = e + n.parent[1]; e < end; ++e)
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
template <class T> BURLAB_COLD std::uint32_t sweep_list(SweepOf<T> sweep, std::uint32_t root, std::uint32_t last) {
  const std::uint32_t listed = sweep.epoch + 1;  // a second stamp: reached, and on the list
  Block<std::uint32_t> list;
  bool enough = list.reserve(1024);
  if (enough) list[list.size++] = root;
  for (std::uint32_t k = 0; enough && k < list.size; ++k)
    sweep.tape->for_each_operand(sweep.nodes[list[k]], [&](std::uint32_t parent, T) {
      sweep.give(parent, 0);
      NodeOf<T>& n = sweep.nodes[parent];
      if (n.stamp == listed || n.code == leaf_code || !(enough = enough && list.reserve(1))) return;
      n.set_stamp(listed);
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

template <class T> BURLAB_NOINLINE Status TapeOf<T>::backward(std::uint32_t root, bool accumulate) {
  if (root >= nodes.size) return fail(StaleValue), StaleValue;
  if (BURLAB_UNLIKELY(sweeps || callbacks.size())) return sweep_with_callbacks(*this, root, accumulate);
  EarlierOf<T> earlier;
  SweepOf<T> sweep{this, nodes.at, next_epoch(), accumulate ? &earlier : nullptr};
  sweep.give(root, 1);
  std::int64_t patience = 4096;  // the budget of foreign nodes; each other node adds to it
  for (Node* n = sweep.nodes + root; sweep.waiting > 0; --n) {
    BURLAB_PREFETCH(n - nodes_ahead<T>);
    if (n->stamp >= sweep.epoch && n->code != leaf_code) {
      --sweep.waiting, patience += 7;
      sweep.pass_on(*n);
    } else if (BURLAB_UNLIKELY(--patience < 0)) {
      const SweepOf<T> so_far = sweep;
      sweep.waiting = sweep_list(so_far, root, static_cast<std::uint32_t>(n - sweep.nodes));
    }
  }
  return BURLAB_UNLIKELY(accumulate) ? earlier.add_to(*this) : Ok;
}

}  // namespace burlab
BURLAB_END
