#pragma once
// The K-th partial of an operation, itself an operation. It takes the arguments and the result of the operation, and it is
// differentiated through dual numbers: every higher derivative follows from the one rule that the struct states.
#include <tuple>
#include <type_traits>
#include <utility>

#include "../numbers/dual.hpp"

BURLAB_BEGIN
namespace burlab::ops {

/// D<Op, K>(x..., y) = dOp/dx_K at x with y = Op(x). D<D<Tanh, 0>, 1> is the derivative of 1 - y^2 by y.
/// x and y count as independent: that y depends on x is known to the graph, which has a node for y.
template <class Op, int K>
struct D {
  static constexpr auto name = Op::name;
  static constexpr auto doc = "A partial derivative.";
  static constexpr int arity = Op::arity + 1;

  template <class... Xs>
  BURLAB_RULE auto primal(Xs... xs) {
    return Op::template partial<K>(xs...);
  }
  template <int J, class... Xs>
  BURLAB_RULE auto partial(Xs... xs_and_result) {
    const auto xs = std::make_tuple(xs_and_result...);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {  // the result, last, is not needed
      return Op::template partial<K>(seed<I == J>(std::get<I>(xs))...).tangent;
    }(std::make_index_sequence<sizeof...(Xs) - 1>());
  }

 private:
  template <bool Seeded, class X>
  BURLAB_RULE auto seed(X x) {
    if constexpr (is_mask<X>) return x;
    else return Dual<X>(x, X(Seeded ? 1 : 0));
  }
};

}  // namespace burlab::ops
BURLAB_END
