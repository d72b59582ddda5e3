#pragma once
// The tape: operations in the order in which they were done, each with its value and its partial derivatives.
#include "holders.hpp"
#include "notes.hpp"
#include "rules.hpp"

BURLAB_BEGIN
namespace burlab {

/// A position on a tape, to go back to.
struct Mark {
  std::uint32_t nodes, edges;
};

constexpr std::uint32_t no_node = UINT32_MAX;
constexpr std::uint64_t renumbering = std::uint64_t(1) << 32;

/// Functions that a sweep calls at a node, see callbacks.hpp: before its gradient is passed to its operands, and after.
template <class T> struct CallbackOf {
  using Call = bool (*)(TapeOf<T>& tape, std::uint32_t node, void* context);  // false: the sweep ends
  Call before, after;                                                         // nullptr: none
  void* context;
};

/// A sequence of nodes; a node comes after its operands. Nothing throws: an error sets `status`, which
/// stays until it is cleared, and the result is `no_node`. Numbers are T = double, or float: half the bytes.
template <class T> class TapeOf {
 public:
  using Node = NodeOf<T>;
  using Edge = EdgeOf<T>;
  using Operand = OperandOf<T>;
  using Outcome = OutcomeOf<T>;

  Block<Node> nodes;
  Block<Edge> edges;
  NotesOf<void*> labels;
  NotesOf<CallbackOf<T>> callbacks;
  HoldersOf<T> holders;
  void* keeper = nullptr;         // the owner of the tape, which must outlive its holders
  std::uint64_t numbering = 0;    // how often nodes were renumbered, times 2^32
  std::uint32_t epoch = 0;        // the number of the last sweep, which `Node::stamp` is compared with
  std::uint32_t collections = 0;  // number of garbage collections
  std::uint32_t survivors = 0;    // the nodes that were alive after the last one
  bool reclaims = false;          // whether `make_room` may drop nodes that no holder reaches
  bool sweeps = false;            // during a sweep with callbacks, when nodes keep their numbers
  Status (*sweep_with_callbacks)(TapeOf&, std::uint32_t root, bool accumulate) = nullptr;  // set with a first callback

  TapeOf() = default;
  TapeOf(const TapeOf&) = delete;
  TapeOf& operator=(const TapeOf&) = delete;

  /// The number of recorded nodes, leaves included.
  std::uint32_t size() const { return nodes.size ? nodes.size - 1 : 0; }
  TapeBytes bytes() const { return {nodes.bytes(), edges.bytes(), labels.bytes() + callbacks.bytes()}; }

  Status status() const { return status_; }
  void clear_status() { status_ = Ok; }
  /// Store the first error; later ones are its consequences.
  BURLAB_OPTNONE std::uint32_t fail(Status status) {
    if (status_ == Ok) status_ = status;
    return no_node;
  }

  /// Record a leaf: an input of gradients.
  BURLAB_ANYWHERE std::uint32_t leaf(T value) { return append(leaf_code, Outcome{value, {0, 0}}, 0, 0); }
  /// Record the operation with this code (record.hpp).
  std::uint32_t record(std::uint32_t code, Operand x, Operand y);
  /// Record an evaluated operation, on a tape that is not full.
  BURLAB_ANYWHERE std::uint32_t put(std::uint32_t code, Outcome z, std::uint32_t x, std::uint32_t y) {
    const std::uint32_t index = nodes.size;
    Node& n = nodes.at[index];
    BURLAB_PREFETCH(&n + nodes_ahead<T>);
    n.value = z.value;
    n.partial[0] = z.partial[0];
    n.partial[1] = z.partial[1];
    n.parent[0] = x;
    n.parent[1] = y;
    n.gradient = 0;
    n.set_stamp(0);
    n.set_code(code);
    n.holder = {};
    nodes.size = index + 1;
    return index;
  }

  /// The current position of the tape. O(1).
  Mark mark() const { return {nodes.size, edges.size}; }
  /// Drop everything recorded since `mark`. O(1); the memory is reused.
  void rewind(Mark mark) {
    if (mark.nodes >= nodes.size) return;
    if (BURLAB_UNLIKELY(labels.size() | callbacks.size())) return rewind_notes(mark);
    nodes.size = mark.nodes ? mark.nodes : 1;
    edges.size = mark.edges;
  }

  /// The first of the `n.edges()` edges of a wide node.
  BURLAB_ANYWHERE Edge* first_edge(const Node& n) const { return edges.at + n.parent[0]; }
  /// Call f(parent, partial) for each operand of a node; for a constant, f(0, the constant).
  template <class F>
  BURLAB_ANYWHERE void for_each_operand(const Node& n, F f) const {
    if (BURLAB_LIKELY(!n.wide())) {
      f(n.parent[0], n.partial[0]);
      f(n.parent[1], n.partial[1]);
    } else {
      for (const Edge *e = first_edge(n), *end = e + n.edges(); e < end; ++e) f(e->parent, e->partial);
    }
  }

  /// Record an operation over a sequence (wide.hpp).
  std::uint32_t record_wide(std::uint32_t code, const Edge* operands, std::uint32_t count);
  /// Compute the nodes from number `first` on again (replay.hpp).
  void replay(std::uint32_t first = 1);
  /// Gradients of the node `root`, by every node that it depends on (sweep.hpp). With `accumulate` they are added to
  /// the old ones, else they replace them.
  Status backward(std::uint32_t root, bool accumulate = false);
  /// Call functions at a node in each sweep that reaches it (callbacks.hpp), in place of those that it has.
  Status on_backward(std::uint32_t node, CallbackOf<T> callback);
  /// A number for a new sweep; the next number is reserved for the sweep over a list.
  BURLAB_ANYWHERE std::uint32_t next_epoch() {
    if (BURLAB_UNLIKELY(epoch >= Node::last_epoch - 1)) forget_epochs();
    return epoch += 2;
  }
  // reclaim.hpp
  bool make_room();
  void tidy();
  void compact();
  void pop_unheld();

  BURLAB_ANYWHERE bool full() const { return BURLAB_UNLIKELY(nodes.size >= nodes.capacity); }
  /// Make room for one node by growing; no node moves to another number.
  BURLAB_OPTNONE bool grow() {
    if (!nodes.reserve(nodes.capacity ? 1 : 256)) return fail(OutOfMemory), false;
    if (!nodes.size) put(leaf_code, Outcome{static_cast<T>(__builtin_nan("")), {0, 0}}, 0, 0);  // node 0
    return true;
  }

 private:
  Status status_ = Ok;

  BURLAB_ANYWHERE std::uint32_t append(std::uint32_t code, Outcome z, std::uint32_t x, std::uint32_t y) {
    return full() && !grow() ? no_node : put(code, z, x, y);
  }
  BURLAB_OPTNONE void rewind_notes(Mark mark) {
    if (sweeps) return static_cast<void>(fail(Sweeping));
    nodes.size = mark.nodes ? mark.nodes : 1;
    edges.size = mark.edges;
    labels.drop(nodes.size);
    callbacks.drop(nodes.size);
  }
  /// Clear all stamps after the numbers of sweeps have run out, so that old stamps do not match new sweeps.
  BURLAB_OPTNONE void forget_epochs() {
    for (std::uint32_t i = 0; i < nodes.size; ++i) nodes[i].set_stamp(0);
    epoch = 0;
  }
  std::uint32_t mark_alive();
  void slide_edges(Node& n, const std::uint32_t* to, std::uint32_t& size);
};

}  // namespace burlab
BURLAB_END
