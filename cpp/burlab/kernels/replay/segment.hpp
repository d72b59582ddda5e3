#pragma once
// Segments of the replay gear: operations on single numbers, or on a few lanes each, in order.
//
// An instruction is a few 32-bit words: the places of its result and its operands. Instructions of one operation form a
// group, and an interpreter is a loop over a group, without dispatch inside it. Addition, subtraction, negation and
// multiplication are one operation, x y + z with both roundings: x + y is x 1 + y, x - y is y (-1) + x, and x y is x y
// + (-0), each to the bit. All other operations are in `apply.hpp`.
#include <cstring>

#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// A part of an instruction: a place in memory, in bytes from its start, or an immediate operand.
using Word = std::uint32_t;
/// Inputs, outputs, constants and the workspace, each a table of arrays; `memory` is the workspace.
using Tables = const void* const* const*;
/// Executes the instructions from `t` to `end`.
using Interpreter = void(const Word* t, const Word* end, char* memory, Tables tables) noexcept;

/// Defines an interpreter as a function that Python finds by its name.
#define BURLAB_INTERPRETER(symbol, ...)                                                                              \
  extern "C" BURLAB_WIDE void symbol(const burlab::kernels::Word* t, const burlab::kernels::Word* end, char* memory, \
                                     burlab::kernels::Tables tables) noexcept {                                      \
    burlab::kernels::__VA_ARGS__(t, end, memory, tables);                                                            \
  }

/// Instructions for one interpreter, up to the word at `end`. Mirrored in Python.
struct Group {
  Interpreter* interpreter;
  const Word* end;
};

/// Groups, whose instructions are contiguous from `code` on. Mirrored in Python.
struct Segment {
  const Group* groups;
  const Word* code;
  Int length;  // groups
};

BURLAB_INLINE void run_segment(const Segment& segment, char* memory, Tables tables) noexcept {
  const Word* t = segment.code;
  BURLAB_ONE_BY_ONE
  for (const Group *group = segment.groups, *end = group + segment.length; group != end; ++group) {
    group->interpreter(t, group->end, memory, tables);
    t = group->end;
  }
}

template <class T> BURLAB_INLINE T* at(char* memory, Word place) { return reinterpret_cast<T*>(memory + place); }

/// x y + z, rounded twice. An instruction: result, x, y, z. W: lanes.
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

/// Copies literals to memory. One instruction: their place, and the literals, in blocks of 64 bytes.
struct LoadLiterals {
  BURLAB_INLINE static void run(const Word* t, const Word* end, char* memory, Tables) noexcept {
    char* to = memory + t[0];
    BURLAB_ONE_BY_ONE
    for (++t; t != end; t += 16, to += 64) std::memcpy(to, t, 64);
  }
};

/// An array of a table: the number of the table in the low two bits of `which`, that of the array above.
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

/// Load from an array of a table. An instruction: result, array, first byte, bytes from one lane to the next.
template <class T, int W> struct Load {
  BURLAB_INLINE static void run(const Word* t, const Word* end, char* memory, Tables tables) noexcept {
    BURLAB_ONE_BY_ONE
    for (; t != end; t += 4) {
      T* const r = at<T>(memory, t[0]);
      const char* const from = array(tables, t[1]) + t[2];
      move<T, W>(reinterpret_cast<char*>(r), sizeof(T), from, static_cast<std::int32_t>(t[3]));
    }
  }
};

/// Store in an array of a table. An instruction: array, first byte, bytes from one lane to the next, operand.
template <class T, int W> struct Store {
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
