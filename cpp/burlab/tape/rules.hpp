#pragma once
// From the code of an operation to its rule, and back: the structs of ops/ as the tape calls them.
#include "../ops/table.hpp"
#include "node.hpp"

BURLAB_BEGIN
namespace burlab {

/// What a node may record: a scalar operation with a derivative and at most two operands.
template <class Op>
concept Recordable = ops::differentiable<Op> && Op::arity <= 2;

/// Name and arity of each operation, by row.
constexpr auto scalar_rows = ops::entries(ops::Scalar{});
static_assert(scalar_rows.size() < 64);  // codes are bits of a mask, see python/value_arithmetic.hpp

constexpr std::uint32_t row_named(const char* name) {
  std::uint32_t row = 0;
  for (const char *a = name, *b = scalar_rows[0].name; *a || *b;)
    if (*a++ != *b++) a = name, b = scalar_rows[++row].name;
  return row;
}
/// The code of a scalar operation: its row in the table, from 1.
template <class Op>
constexpr std::uint32_t code_of = 1 + row_named(Op::name);

/// One operation at x (and y): value and partials. The partial by a constant is not computed: the constant
/// stands in its place.
template <Recordable Op, class T>
BURLAB_ANYWHERE OutcomeOf<T> evaluate(T x, T y, bool by_x = true, bool by_y = true) {
  if constexpr (Op::arity == 1) {
    const T z = Op::primal(x);
    return {z, {Op::template partial<0>(x, z), 0}};
  } else {
    const T z = Op::primal(x, y);
    return {z, {by_x ? Op::template partial<0>(x, y, z) : x, by_y ? Op::template partial<1>(x, y, z) : y}};
  }
}

/// An operation that is known by its code: one chain of comparisons, which becomes one switch, for a list of
/// operations. (A table of functions would cost the just-in-time compiler a millisecond per function.)
template <class T> struct EvaluationOf {
  std::uint32_t code;
  T x, y;
  bool by_x, by_y;
  OutcomeOf<T> result{};

  template <class... Ops>
  BURLAB_ANYWHERE bool among(ops::List<Ops...>) {
    return (is<Ops>() || ...);
  }

 private:
  template <class Op>
  BURLAB_ANYWHERE bool is() {
    if constexpr (!Recordable<Op>) return false;
    else return code == code_of<Op> && (result = evaluate<Op>(x, y, by_x, by_y), true);
  }
};

}  // namespace burlab
BURLAB_END
