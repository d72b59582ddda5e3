#pragma once
// Stretches of the replay gear: operations on single numbers, or on a few lanes each, one after the other.
//
// An operation is a term: the places of its result and its operands, a few words of a list. Terms of one kind stand
// together in a run, and a kind is a loop over its terms, so nothing is dispatched inside of a run. Addition,
// subtraction, negation and multiplication are one kind, x y + z with both roundings: x + y is x 1 + y, x - y is
// y (-1) + x, and x y is x y + (-0), each to the bit. All other kinds are in `apply.hpp`.
#include <cstring>

#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// A place in memory, in bytes from its start, or what else a term has to say.
using Word = std::uint32_t;
/// Inputs, outputs, constants and the workspace, each a table of arrays; `memory` is the workspace.
using Tables = const void* const* const*;
/// A kind: carries out the terms from `t` to `end`.
using TermLoop = void (*)(const Word* t, const Word* end, char* memory, Tables tables) noexcept;

/// Makes a kind a function that Python finds by its name.
#define BURLAB_TURNS(symbol, ...)                                                                                    \
  extern "C" BURLAB_WIDE void symbol(const burlab::kernels::Word* t, const burlab::kernels::Word* end, char* memory, \
                                     burlab::kernels::Tables tables) noexcept {                                      \
    burlab::kernels::__VA_ARGS__(t, end, memory, tables);                                                            \
  }

/// Terms of one kind, up to the word at `end`.
struct Run {
  TermLoop turns;
  const Word* end;
};

/// Runs, whose words lie one behind the other. Mirrored by `burlab/compiler/replay/segments.py`.
struct Stretch {
  const Run* runs;
  const Word* words;
  Int length;
};

BURLAB_INLINE void run_stretch(const Stretch& stretch, char* memory, Tables tables) noexcept {
  const Word* t = stretch.words;
  BURLAB_ONE_BY_ONE
  for (const Run *run = stretch.runs, *end = run + stretch.length; run != end; ++run) {
    run->turns(t, run->end, memory, tables);
    t = run->end;
  }
}

template <class T> BURLAB_INLINE T* at(char* memory, Word place) { return reinterpret_cast<T*>(memory + place); }

/// x y + z, rounded twice. A term: result, x, y, z. W: lanes.
template <class T, int W> struct MulAdd {
  BURLAB_INLINE static void run(const Word* t, const Word* end, char* memory, Tables) noexcept {
    BURLAB_ONE_BY_ONE
    for (; t != end; t += 4) {
      T* const r = at<T>(memory, t[0]);
      const T *const x = at<T>(memory, t[1]), *const y = at<T>(memory, t[2]), *const z = at<T>(memory, t[3]);
      if constexpr (W == 1) {
        *r = *x * *y + *z;
      } else {
        BURLAB_LANES
        for (int k = 0; k < W; ++k) r[k] = x[k] * y[k] + z[k];
      }
    }
  }
};

/// Numbers that are written in the list. One term: where they go, then they, in blocks of 64 bytes.
struct Numbers {
  BURLAB_INLINE static void run(const Word* t, const Word* end, char* memory, Tables) noexcept {
    char* to = memory + t[0];
    BURLAB_ONE_BY_ONE
    for (++t; t != end; t += 16, to += 64) std::memcpy(to, t, 64);
  }
};

/// The array that a place in a table means: the kind of table in the low two bits, the number of the array above.
BURLAB_INLINE char* array(Tables tables, Word which) {
  return static_cast<char*>(const_cast<void*>(tables[which & 3][which >> 2]));
}

/// Moves W numbers, some bytes from one to the next on either side.
template <class T, int W> BURLAB_INLINE void move(char* to, Int to_step, const char* from, Int from_step) {
  if constexpr (W == 1) {
    std::memcpy(to, from, sizeof(T));
  } else if (to_step == sizeof(T) && from_step == sizeof(T)) {
    std::memcpy(to, from, W * sizeof(T));
  } else if (to_step == sizeof(T) && from_step == 0) {
    const T number = *reinterpret_cast<const T*>(from);
    BURLAB_LANES
    for (int k = 0; k < W; ++k) reinterpret_cast<T*>(to)[k] = number;
  } else {
    BURLAB_ONE_BY_ONE
    for (int k = 0; k < W; ++k) std::memcpy(to + k * to_step, from + k * from_step, sizeof(T));
  }
}

/// Fetch from an array of a table. A term: result, array, first byte, bytes from one lane to the next.
template <class T, int W> struct Fetch {
  BURLAB_INLINE static void run(const Word* t, const Word* end, char* memory, Tables tables) noexcept {
    BURLAB_ONE_BY_ONE
    for (; t != end; t += 4) {
      T* const r = at<T>(memory, t[0]);
      const char* const from = array(tables, t[1]) + t[2];
      move<T, W>(reinterpret_cast<char*>(r), sizeof(T), from, static_cast<std::int32_t>(t[3]));
    }
  }
};

/// Keep in an array of a table. A term: array, first byte, bytes from one lane to the next, operand.
template <class T, int W> struct Keep {
  BURLAB_INLINE static void run(const Word* t, const Word* end, char* memory, Tables tables) noexcept {
    BURLAB_ONE_BY_ONE
    for (; t != end; t += 4) {
      char* const to = array(tables, t[0]) + t[1];
      move<T, W>(to, static_cast<std::int32_t>(t[2]), memory + t[3], sizeof(T));
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
