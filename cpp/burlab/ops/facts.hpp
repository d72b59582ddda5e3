#pragma once
// What structs of operations state, as text: `cpp/generate/scalar_table.py` writes the table of Python from it. A line
// for each operation, whose fields are separated by tabs.
#include <string>
#include <type_traits>
#include <utility>

#include "../numbers/spelling.hpp"
#include "formulas.hpp"

BURLAB_BEGIN
namespace burlab::ops {

inline std::string spelled_text(const Spelled& x) { return x.calls ? "" : x.text; }

/// Argument k as text: {0} and so on; a mask where the operation takes one.
template <class Op, class T, int K>
auto spelled_argument() {
  const Spelled place{"{" + std::to_string(K) + "}"};
  constexpr bool logic =
      std::is_same_v<Op, LogicalAnd> || std::is_same_v<Op, LogicalOr> || std::is_same_v<Op, LogicalNot>;
  if constexpr ((K == 0 && chooses<Op>) || logic) return SpelledMask{place, false, true};
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

/// Name, documentation, arity, tags; then the formulas of floats, of integers and of the partials, if they are short.
template <bool Short, class Op>
std::string facts() {
  const auto arguments = std::make_integer_sequence<int, Op::arity>();
  std::string text = std::string(Op::name) + "\t" + Op::doc + "\t" + std::to_string(Op::arity) + "\t";
  constexpr bool floats = requires { typename Op::of_floats; }, integers = requires { typename Op::of_integers; };
  if constexpr (differentiable<Op>) text += "differentiable ";
  if constexpr (floats) text += "of_floats ";
  if constexpr (integers) text += "of_integers ";
  if constexpr (requires { typename Op::cheap; }) text += "cheap ";
  if constexpr (requires { typename Op::own_lanes; }) text += "own_lanes ";
  if constexpr (requires { Op::linear_in; }) text += std::string("linear_in_") + Op::linear_in;
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
