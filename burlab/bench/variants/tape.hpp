#pragma once
// The eager gear in C++: a graph recorded on a tape and swept, point by point.
#include "loop.hpp"

BURLAB_BEGIN
namespace burlab::bench {

/// A Value whose operations are calls that the optimiser cannot see through, as in a program of many files: what is
/// recorded is not known where it is swept.
struct Opaque {
  Value v;
};
BURLAB_NOINLINE Opaque operator+(Opaque x, Opaque y) { return {x.v + y.v}; }
BURLAB_NOINLINE Opaque operator-(Opaque x, Opaque y) { return {x.v - y.v}; }
BURLAB_NOINLINE Opaque operator*(Opaque x, Opaque y) { return {x.v * y.v}; }
BURLAB_NOINLINE Opaque operator+(Opaque x, double y) { return {x.v + y}; }
BURLAB_NOINLINE Opaque operator*(Opaque x, double y) { return {x.v * y}; }
BURLAB_NOINLINE Opaque operator/(Opaque x, double y) { return {x.v / y}; }
BURLAB_NOINLINE Opaque operator/(double x, Opaque y) { return {x / y.v}; }
BURLAB_NOINLINE Opaque square(Opaque x) { return {square(x.v)}; }
BURLAB_NOINLINE Opaque cube(Opaque x) { return {cube(x.v)}; }
BURLAB_NOINLINE Opaque relu(Opaque x) { return {apply<ops::Relu>(x.v)}; }

/// The nodes that a sweep from the root has to come by, counted without it.
BURLAB_COLD Int reachable(const Tape& tape, std::uint32_t root) {
  Block<std::uint32_t> seen;
  if (!seen.reserve(tape.nodes.size)) return -1;
  for (std::uint32_t i = 0; i < tape.nodes.size; ++i) seen[i] = i == root;
  Int count = 0;
  for (std::uint32_t i = root; i > 0; --i) {
    if (!seen[i]) continue;
    ++count;
    if (tape.nodes[i].interior()) tape.for_each_operand(tape.nodes[i], [&](std::uint32_t p, double) { seen[p] = 1; });
  }
  return count;
}

/// The nodes that the last sweep came by.
BURLAB_COLD Int visited(const Tape& tape) {
  Int count = 0;
  for (std::uint32_t i = 1; i < tape.nodes.size; ++i) count += tape.nodes[i].stamp >= tape.epoch;
  return count;
}

/// Record `formula(Opaque* leaves)` at the points in turn and sweep. out: (m, 1 + k); visits, unless null: what the
/// last sweep came by, and what it had to.
template <Int k, class F>
BURLAB_INLINE Int record_in_turn(Tape& tape, Int count, const double* points, Int m, double* out, Int* visits,
                                 F formula) {
  std::uint32_t root = 0;
  in_turn(count, m, [&](Int row) {
    tape.rewind(Mark{0, 0});
    Opaque x[k];
    for (Int j = 0; j < k; ++j) x[j].v = Value(tape, points[row * k + j]);
    const Value y = formula(static_cast<const Opaque*>(x)).v;
    y.backward();
    double* to = out + row * (k + 1);
    to[0] = y.data();
    for (Int j = 0; j < k; ++j) to[1 + j] = x[j].v.grad();
    root = y.index();
  });
  if (visits) {
    visits[0] = visited(tape);
    visits[1] = reachable(tape, root);
  }
  return tape.status();
}

}  // namespace burlab::bench
BURLAB_END
