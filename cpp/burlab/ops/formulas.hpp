#pragma once
// The formulas of operations and of their partial derivatives as text: what their structs say, in words for people.
#include <cstdint>
#include <string>
#include <utility>

#include "../numbers/formula.hpp"
#include "table.hpp"

BURLAB_BEGIN
namespace burlab::ops {

/// The name of argument k: a, b and so on.
template <class Op, int K>
auto letter() {
  const char name[] = {static_cast<char>('a' + K), 0};
  if constexpr (takes_mask<Op, K>) return FormulaMask{Formula(name)};
  else return Formula(name);
}

/// The K-th partial; nothing where it is that of a choice by its mask.
template <class Op, int K, int... I>
std::string partial_formula(std::integer_sequence<int, I...>) {
  if constexpr (K == 0 && chooses<Op>) return "0";
  else return Op::template partial<K>(letter<Op, I>()..., Formula("y")).text;
}

template <class Op, int... K>
std::string formulas(std::integer_sequence<int, K...> arguments) {
  std::string text = Op::primal(letter<Op, K>()...).text;
  if constexpr (differentiable<Op>) ((text += "\n" + partial_formula<Op, K>(arguments)), ...);
  return text;
}

/// A line for each operation's value and each partial, in terms of its arguments a, b, c and its result y. Writes at
/// most `size` characters, and gives how many there are.
template <class... Ops>
std::int64_t write_formulas(List<Ops...>, char* text, std::int64_t size) {
  std::string all;
  ((all += formulas<Ops>(std::make_integer_sequence<int, Ops::arity>()) + "\n"), ...);
  for (std::int64_t k = 0; k < size && k < static_cast<std::int64_t>(all.size()); ++k)
    text[k] = all[static_cast<std::size_t>(k)];
  return static_cast<std::int64_t>(all.size());
}

}  // namespace burlab::ops
BURLAB_END
