#pragma once
// The K-th partial of an operation, itself an operation. It takes the arguments and the result of the operation, and it
// is differentiated through dual numbers: every higher derivative follows from the one rule that the struct states.
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
  // The last argument, the result, is not read. Up to the third order there is one overload per number of arguments:
  // the tuple of the general one costs the just-in-time compiler ten milliseconds for every operation.
  template <int J, class A, class B, class Z>
  BURLAB_RULE Z partial(A a, B b, Z) {
    return Op::template partial<K>(seed<J == 0>(a), seed<J == 1>(b)).tangent;
  }
  template <int J, class A, class B, class C, class Z>
  BURLAB_RULE Z partial(A a, B b, C c, Z) {
    return Op::template partial<K>(seed<J == 0>(a), seed<J == 1>(b), seed<J == 2>(c)).tangent;
  }
  template <int J, class A, class B, class C, class E, class Z>
  BURLAB_RULE Z partial(A a, B b, C c, E e, Z) {
    return Op::template partial<K>(seed<J == 0>(a), seed<J == 1>(b), seed<J == 2>(c), seed<J == 3>(e)).tangent;
  }
  template <int J, class... Xs>
    requires(sizeof...(Xs) > 5)
  BURLAB_RULE auto partial(Xs... xs_and_result) {
    const auto xs = std::make_tuple(xs_and_result...);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
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
