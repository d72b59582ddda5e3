#pragma once
// Numbers that count the operations on them, in a tally that the program owns and hands in. So several counts live side
// by side, and threads have one each. The words are those of Python's `bl.counts`.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "assignment.hpp"
#include "function_names.hpp"
#include "mask.hpp"

BURLAB_BEGIN
namespace burlab {

/// Numbers of operations. multiplications: products and quotients. additions: sums, differences and changes of sign.
/// transcendental: roots, powers, exponentials and all other functions. logic: comparisons, magnitudes, max and min.
struct Tally {
  std::int64_t multiplications = 0, additions = 0, transcendental = 0, logic = 0;
  std::int64_t flops() const { return multiplications + additions + transcendental; }
};

/// A number T of which each operation counts in a tally, which must outlive it. What is computed from it counts there
/// too; a constant has no tally, and arithmetic of constants alone counts nowhere. If two tallies meet, the one of the
/// left number counts. Of a Dual of it the derivative's operations count with those of the value.
template <class T>
struct Counted {
  T number = T(0);
  Tally* tally = nullptr;

  constexpr Counted() = default;
  template <class S>
    requires std::is_arithmetic_v<S>
  constexpr Counted(S constant) : number(static_cast<T>(constant)) {}
  constexpr Counted(T any, Tally& counts) : number(any), tally(&counts) {}
  constexpr Counted(T any, Tally* counts) : number(any), tally(counts) {}

  friend Counted operator-(Counted x) { return {-x.number, x.count(&Tally::additions)}; }
#define BURLAB_COUNTED_ARITHMETIC(op, kind) \
  friend Counted operator op(Counted x, Counted y) { return {x.number op y.number, x.count(&Tally::kind, y)}; }
  BURLAB_COUNTED_ARITHMETIC(+, additions)
  BURLAB_COUNTED_ARITHMETIC(-, additions)
  BURLAB_COUNTED_ARITHMETIC(*, multiplications)
  BURLAB_COUNTED_ARITHMETIC(/, multiplications)
#undef BURLAB_COUNTED_ARITHMETIC

#define BURLAB_COUNTED_COMPARISON(op)             \
  friend auto operator op(Counted x, Counted y) { \
    x.count(&Tally::logic, y);                    \
    return x.number op y.number;                  \
  }
  BURLAB_COUNTED_COMPARISON(<)
  BURLAB_COUNTED_COMPARISON(<=)
  BURLAB_COUNTED_COMPARISON(>)
  BURLAB_COUNTED_COMPARISON(>=)
  BURLAB_COUNTED_COMPARISON(==)
  BURLAB_COUNTED_COMPARISON(!=)
#undef BURLAB_COUNTED_COMPARISON

#define BURLAB_COUNTED_OF_ONE(name, kind)              \
  friend Counted name(Counted x) {                     \
    using std::name;                                   \
    return {T(name(x.number)), x.count(&Tally::kind)}; \
  }
#define BURLAB_COUNTED_FUNCTION(name) BURLAB_COUNTED_OF_ONE(name, transcendental)
#define BURLAB_COUNTED_OF_TWO(name, function, kind)                     \
  friend Counted name(Counted x, Counted y) {                           \
    using std::function;                                                \
    return {T(function(x.number, y.number)), x.count(&Tally::kind, y)}; \
  }
  BURLAB_FUNCTION_NAMES(BURLAB_COUNTED_FUNCTION)
  BURLAB_COUNTED_OF_ONE(fabs, logic)
  BURLAB_COUNTED_OF_TWO(pow, pow, transcendental)
  BURLAB_COUNTED_OF_TWO(atan2, atan2, transcendental)
  BURLAB_COUNTED_OF_TWO(max, fmax, logic)
  BURLAB_COUNTED_OF_TWO(min, fmin, logic)
#undef BURLAB_COUNTED_OF_ONE
#undef BURLAB_COUNTED_FUNCTION
#undef BURLAB_COUNTED_OF_TWO

  /// A choice is counted by its comparison. That a tangent is 0 is asked by burlab, not by the program: no count.
  template <class M>
  friend Counted select(M mask, Counted yes, Counted no) {
    return {select(mask, yes.number, no.number), yes.tally ? yes.tally : no.tally};
  }
  friend auto is_zero(Counted x) { return is_zero(x.number); }

 private:
  Tally* count(std::int64_t Tally::* kind) const {
    if (tally) ++(tally->*kind);
    return tally;
  }
  Tally* count(std::int64_t Tally::* kind, const Counted& right) const { return (tally ? *this : right).count(kind); }
};

template <class T>
inline constexpr bool has_fabs<Counted<T>> = true;
template <class T>
inline constexpr bool is_number<Counted<T>> = true;

}  // namespace burlab
BURLAB_END
