#pragma once
// What structs of operations state, as text: `cpp/generate/scalar_table.py` writes the table of Python from it. A line
// for each operation, whose fields are separated by tabs.
#include <string>
#include <utility>

#include "../numbers/spelling.hpp"
#include "formulas.hpp"

BURLAB_BEGIN
namespace burlab::ops {

inline std::string spelled_text(const Spelled& x) { return x.calls ? "" : x.text; }

/// Argument k as text: {0} and so on.
template <class Op, class T, int K>
auto spelled_argument() {
  const Spelled place{"{" + std::to_string(K) + "}"};
  if constexpr (takes_mask<Op, K>) return SpelledMask{place, false, true};
  else return T(place);
}

template <class Op, class T, int... I>
std::string spelled_value(std::integer_sequence<int, I...>) {
  if constexpr (spelling<Op> != nullptr) return spelling<Op>;
  else return spelled_text(Op::primal(spelled_argument<Op, T, I>()...));
}

template <class Op, int K, int... I>
std::string spelled_partial(std::integer_sequence<int, I...>) {
  using T = Spelling<false>;
  if constexpr (K == 0 && chooses<Op>) return "";
  else
    return spelled_text(
        Op::template partial<K>(spelled_argument<Op, T, I>()..., T(Spelled{"{" + std::to_string(Op::arity) + "}"})));
}

template <class Op, int... K>
std::string spelled_partials(std::integer_sequence<int, K...> arguments) {
  std::string text;
  if constexpr (differentiable<Op> && !requires { typename Op::called_partials; })
    ((text += "\t" + spelled_partial<Op, K>(arguments)), ...);
  return text;
}

/// Name, documentation, arity, why it has no lanes, facts; then the formulas of floats, of integers and of the
/// partials, if they are short.
template <bool Short, class Op>
std::string facts() {
  const auto arguments = std::make_integer_sequence<int, Op::arity>();
  std::string text = std::string(Op::name) + "\t" + Op::doc + "\t" + std::to_string(Op::arity) + "\t";
  if constexpr (requires { Op::no_lanes; }) text += Op::no_lanes;
  text += "\t";
  constexpr bool floats = requires { typename Op::of_floats; }, integers = requires { typename Op::of_integers; };
  const auto flag = [&](bool holds, const char* fact) { text += holds ? std::string(fact) + "=True " : ""; };
  const auto number = [&](const char* fact, int value) { text += fact + ("=" + std::to_string(value)) + " "; };
  flag(differentiable<Op>, "differentiable");
  flag(floats, "of_floats");
  flag(integers, "of_integers");
  flag(of_masks<Op>, "of_masks");
  flag(chooses<Op>, "chooses");
  flag(requires { typename Op::cheap; }, "cheap");
  flag(requires { typename Op::activation; }, "activation");
  flag(requires { typename Op::inlined; }, "inlined");
  flag(requires { typename Op::long_chain; }, "long_chain");
  flag(requires { typename Op::own_lanes; }, "own_lanes");
  flag(requires { typename Op::common_lanes; }, "common_lanes");
  if constexpr (requires { Op::first_own; }) number("first_own", Op::first_own), number("last_own", Op::last_own);
  if constexpr (requires { Op::max_own_order; }) number("max_own_order", Op::max_own_order);
  if constexpr (requires { Op::literal; }) number("literal", Op::literal);
  if constexpr (requires { Op::linear_in; }) text += std::string("linear_in=\"") + Op::linear_in + "\"";
  if constexpr (Short) {
    text += "\t";
    if constexpr (!integers) text += spelled_value<Op, Spelling<false>>(arguments);
    text += "\t";
    if constexpr (!floats) text += spelled_value<Op, Spelling<true>>(arguments);
    text += spelled_partials<Op>(arguments);
  }
  return text + "\n";
}

/// Writes at most `size` characters, and gives how many there are.
template <bool Short, class... Ops>
std::int64_t write_facts(List<Ops...>, char* text, std::int64_t size) {
  std::string all;
  ((all += facts<Short, Ops>()), ...);
  for (std::int64_t k = 0; k < size && k < static_cast<std::int64_t>(all.size()); ++k)
    text[k] = all[static_cast<std::size_t>(k)];
  return static_cast<std::int64_t>(all.size());
}

}  // namespace burlab::ops
BURLAB_END
