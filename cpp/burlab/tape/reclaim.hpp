#pragma once
// Garbage collection of nodes. A node with a holder, and every node that it was computed from, is alive; all others are
// dropped by sliding the live ones down the tape. Their order stays, so a node still comes after its operands.
#include "tape.hpp"

BURLAB_BEGIN
namespace burlab {

/// Drop dead nodes from the end: the newest nodes usually die first.
template <class T> BURLAB_NOINLINE void TapeOf<T>::pop_unheld() {
  if (sweeps) return;
  std::uint32_t size = nodes.size;
  for (; size > 1 && !nodes[size - 1].holder; --size)
    if (nodes[size - 1].wide()) edges.size = nodes[size - 1].parent[0];
  if (size == nodes.size) return;
  numbering += renumbering;  // a C++ value that held one must not find the node that replaces it
  rewind({size, edges.size});
  if (nodes.capacity > 65536 && size < nodes.capacity / 8) nodes.resize(nodes.capacity / 4);
}

/// Drop dead nodes if the tape has doubled since the last time: for code that records many nodes before it requests
/// room.
template <class T> BURLAB_NOINLINE void TapeOf<T>::tidy() {
  if (!reclaims || sweeps || nodes.size < 4096 || nodes.size / 2 < survivors) return;
  compact();
  if (nodes.size <= nodes.capacity / 8) nodes.resize(nodes.capacity / 4);
}

/// Return true if there is room for one node, after dropping dead nodes, or else after growing.
template <class T> BURLAB_NOINLINE bool TapeOf<T>::make_room() {
  if (reclaims && !sweeps && nodes.size > 1) {
    compact();
    if (nodes.size <= nodes.capacity / 8 && nodes.capacity > 4096) nodes.resize(nodes.capacity / 4);
    if (nodes.size <= nodes.capacity / 2) return true;
  }
  return grow();
}

/// Drop every node that no holder reaches.
template <class T> BURLAB_NOINLINE void TapeOf<T>::compact() {
  Block<std::uint32_t> to;  // old number -> new number
  ++collections;
  survivors = mark_alive();
  if (survivors + 1 == nodes.size || !to.resize(nodes.size)) return;
  std::uint32_t size = 1, edge_size = 0;
  to[0] = 0;
  for (std::uint32_t i = 1; i < nodes.size; ++i) {
    if (nodes[i].stamp != epoch) {
      to[i] = 0;
      continue;
    }
    Node& n = nodes[to[i] = size++];
    n = nodes[i];
    if (n.wide()) slide_edges(n, to.at, edge_size);
    else n.parent[0] = to[n.parent[0]], n.parent[1] = to[n.parent[1]];
    if (Handle* holder = holders.of(n)) holder->index = to[i];
  }
  labels.renumber(to.at);
  callbacks.renumber(to.at);
  nodes.size = size;
  edges.size = edge_size;
  numbering += renumbering;
}

/// Stamp the nodes that a holder reaches, and count them.
template <class T> BURLAB_INLINE std::uint32_t TapeOf<T>::mark_alive() {
  next_epoch();
  std::uint32_t alive = 0;
  for (std::uint32_t i = nodes.size - 1; i > 0; --i) {
    Node& n = nodes[i];
    if (!n.holder && n.stamp != epoch) continue;
    n.set_stamp(epoch);
    ++alive;
    for_each_operand(n, [&](std::uint32_t parent, T) { nodes[parent].set_stamp(epoch); });
  }
  return alive;
}

template <class T>
BURLAB_INLINE void TapeOf<T>::slide_edges(Node& n, const std::uint32_t* to, std::uint32_t& size) {
  const Edge* from = first_edge(n);
  n.parent[0] = size;
  for (const Edge* end = from + n.edges(); from < end; ++from) edges[size++] = {from->partial, to[from->parent]};
}

}  // namespace burlab
BURLAB_END
