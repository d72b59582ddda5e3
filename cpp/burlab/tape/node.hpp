#pragma once
// What a tape of numbers T consists of, T = double or float: a graph is two blocks of records.
#include "arena.hpp"

BURLAB_BEGIN
namespace burlab {

template <class T> class TapeOf;
using Tape = TapeOf<double>;
using Tape32 = TapeOf<float>;

constexpr std::uint32_t leaf_code = 0;          // no operation: an input of gradients
constexpr std::uint32_t first_wide_code = 128;  // first code of operations over sequences, see wide.hpp

/// The one holder of a node: compaction moves nodes, and writes the new number to the holder.
struct Handle {
  Tape* tape;
  std::uint32_t index;
  std::uint32_t slot;  // its place among the holders of a float32 tape; 0 on another
};

/// One recorded operation. Node 0 represents a constant operand, and "no such node": the sweep adds to its gradient,
/// which is never read, and so needs no branch.
template <class T> struct NodeOf;

/// In one cache line.
template <> struct alignas(64) NodeOf<double> {
  static constexpr std::uint32_t last_epoch = UINT32_MAX;

  double value;
  double partial[2];        // derivative by each operand; for a constant operand: the constant
  std::uint32_t parent[2];  // of a wide operation: its first edge and the number of its edges
  double gradient;
  std::uint32_t stamp;  // the last sweep that reached it
  std::uint32_t code;   // which operation, see rules.hpp
  Handle* holder;

  BURLAB_ANYWHERE bool interior() const { return code != leaf_code; }
  BURLAB_ANYWHERE bool wide() const { return code >= first_wide_code; }
  BURLAB_ANYWHERE std::uint32_t edges() const { return parent[1]; }  // of a wide operation
  BURLAB_ANYWHERE void set_stamp(std::uint32_t sweep) { stamp = sweep; }
  BURLAB_ANYWHERE void set_code(std::uint32_t operation) { code = operation; }
};
static_assert(sizeof(NodeOf<double>) == 64);

/// In half a cache line: the stamp has 24 bits, and the holder is a number.
template <> struct alignas(32) NodeOf<float> {
  static constexpr std::uint32_t last_epoch = (1u << 24) - 1;

  float value;
  float partial[2];
  std::uint32_t parent[2];
  float gradient;
  std::uint32_t stamp : 24;
  std::uint32_t code : 8;
  std::uint32_t holder;  // its slot; 0: none

  BURLAB_ANYWHERE bool interior() const { return code != leaf_code; }
  BURLAB_ANYWHERE bool wide() const { return code >= first_wide_code; }
  BURLAB_ANYWHERE std::uint32_t edges() const { return parent[1]; }
  BURLAB_ANYWHERE void set_stamp(std::uint32_t sweep) { stamp = sweep & last_epoch; }
  BURLAB_ANYWHERE void set_code(std::uint32_t operation) { code = operation & 0xFF; }
};
static_assert(sizeof(NodeOf<float>) == 32);

/// The distance of prefetching, in bytes. The CPU prefetches only to the end of a page, so a sweep over a tape larger
/// than its caches would wait at the start of each page.
constexpr std::uint32_t bytes_ahead = 6400;
template <class T> constexpr std::uint32_t nodes_ahead = bytes_ahead / sizeof(NodeOf<T>);

/// One operand of a wide operation, such as a sum over a sequence: parent 0 for a constant, then `partial` is the
/// constant.
template <class T> struct EdgeOf {
  T partial;
  std::uint32_t parent;
};

/// An operand of a new node: a node of this tape, or a constant (index 0).
template <class T> struct OperandOf {
  std::uint32_t index;
  T value;
};

/// The value of an operation and its partial derivatives by both operands.
template <class T> struct OutcomeOf {
  T value, partial[2];
};

/// The memory of a tape, by kind, in bytes.
struct TapeBytes {
  std::size_t nodes, edges, notes;
};

using Node = NodeOf<double>;
using Edge = EdgeOf<double>;
using Operand = OperandOf<double>;
using Outcome = OutcomeOf<double>;

}  // namespace burlab
BURLAB_END
