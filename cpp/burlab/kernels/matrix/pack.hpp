#pragma once
// A panel of b as register blocks read it: row k of the panel holds b[k, j] for all its columns j, one after the other.
#include "../../numbers/first.hpp"
#include "../reduce/lanes.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Four packets as 4 x 4 blocks, one in every four lanes: each block is transposed.
template <class P, int... Lane> BURLAB_INLINE void transpose(P (&x)[4], std::integer_sequence<int, Lane...>) {
  constexpr int kWidth = sizeof...(Lane);
  const P low0 = __builtin_shufflevector(x[0], x[1], (Lane / 4 * 4 + Lane % 4 / 2 + Lane % 2 * kWidth)...);
  const P low1 = __builtin_shufflevector(x[2], x[3], (Lane / 4 * 4 + Lane % 4 / 2 + Lane % 2 * kWidth)...);
  const P high0 = __builtin_shufflevector(x[0], x[1], (Lane / 4 * 4 + 2 + Lane % 4 / 2 + Lane % 2 * kWidth)...);
  const P high1 = __builtin_shufflevector(x[2], x[3], (Lane / 4 * 4 + 2 + Lane % 4 / 2 + Lane % 2 * kWidth)...);
  x[0] = __builtin_shufflevector(low0, low1, (Lane / 4 * 4 + Lane % 2 + Lane % 4 / 2 * kWidth)...);
  x[1] = __builtin_shufflevector(low0, low1, (Lane / 4 * 4 + 2 + Lane % 2 + Lane % 4 / 2 * kWidth)...);
  x[2] = __builtin_shufflevector(high0, high1, (Lane / 4 * 4 + Lane % 2 + Lane % 4 / 2 * kWidth)...);
  x[3] = __builtin_shufflevector(high0, high1, (Lane / 4 * 4 + 2 + Lane % 2 + Lane % 4 / 2 * kWidth)...);
}

/// Four numbers each from W / 4 places, one after another; the places are `Step` apart in their list.
template <class T, int W, int Step> BURLAB_INLINE void load_fours(Packet<T, W>& x, const T* from, const Int* places) {
  if constexpr (W == 4) {
    load(x, from + places[0]);
  } else {
    Packet<T, W / 2> low, high;
    load_fours<T, W / 2, Step>(low, from, places);
    load_fours<T, W / 2, Step>(high, from, places + W / 8 * Step);
    [&]<int... Lane>(std::integer_sequence<int, Lane...>) {
      x = __builtin_shufflevector(low, high, Lane...);
    }(std::make_integer_sequence<int, W>());
  }
}

/// Four rows of a panel: to[k, j] = b[columns[j] + k].
template <class T, int W>
BURLAB_INLINE void pack_fours(T* to, Int width, const T* b, const Int (&columns)[W]) {
  Packet<T, W> x[4];
  BURLAB_UNROLL
  for (int s = 0; s < 4; ++s) load_fours<T, W, 4>(x[s], b, columns + s);
  transpose(x, std::make_integer_sequence<int, W>());
  BURLAB_UNROLL
  for (int s = 0; s < 4; ++s) store(to + s * width, x[s]);
}

/// W columns of a panel: to[k, j] = b[columns[j] + k * b_depth].
template <class T, int W>
BURLAB_NOINLINE BURLAB_WIDE void pack_columns(T* to, Int width, const T* b, const Int (&columns)[W], Int b_depth,
                                              Int depth) {
  Int k = 0;
  if constexpr (W >= 4) {
    if (b_depth == 1 && depth >= 4) {
      BURLAB_ONE_BY_ONE
      for (; k <= depth - 4; k += 4) pack_fours<T, W>(to + k * width, width, b + k, columns);
      if (k < depth) pack_fours<T, W>(to + (depth - 4) * width, width, b + depth - 4, columns);  // some again
      return;
    }
  }
  BURLAB_ONE_BY_ONE
  for (; k < depth; ++k, b += b_depth, to += width) {
    BURLAB_ONE_BY_ONE
    for (int j = 0; j < W; ++j) to[j] = b[columns[j]];
  }
}

/// Fills `depth` rows of a panel of `width` columns, a multiple of W; numbers after the last of b do not matter.
template <class T, int W>
BURLAB_NOINLINE BURLAB_WIDE void pack(T* panel, Int width, const T* b, Int b_n, Int b_depth, Int columns, Int depth) {
  if (b_n == 1) {
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < depth; ++k, b += b_depth, panel += width) {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < width; j += W) {
        Packet<T, W> x;
        load(x, b + j);
        store(panel + j, x);
      }
    }
    return;
  }
  BURLAB_ONE_BY_ONE
  for (Int first = 0; first < width; first += W) {
    if constexpr (W == 16) {
      if (columns - first <= W / 2) {  // later numbers are not read
        Int places[W / 2];
        place_rows(places, columns - first, b_n);
        pack_columns<T, W / 2>(panel + first, width, b + first * b_n, places, b_depth, depth);
        continue;
      }
    }
    Int places[W];
    place_rows(places, columns - first, b_n);
    pack_columns<T, W>(panel + first, width, b + first * b_n, places, b_depth, depth);
  }
}

/// Rows of packets from one place to another, see `store_transposed`.
struct Transposed {
  Int rows, count, lanes;
  Int to_row, to_step;
  Int from_row, from_lane;
};

/// to[i * to_row + k * to_step + lane] = from[i * from_row + lane * from_lane + k] for lanes of up to a line of the
/// cache. Reads whole fours along k. Writes along the axis whose numbers are nearer to each other.
template <class T, int W> BURLAB_NOINLINE BURLAB_WIDE void store_transposed(T* to, const T* from, const Transposed& t) {
  if constexpr (W > 4) {
    if (t.lanes <= W / 2) return store_transposed<T, W / 2>(to, from, t);
  }
  constexpr Int kLine = 64 / static_cast<Int>(sizeof(T));
  const Int lanes = t.lanes, whole = lanes / W * W;
  const First<T, W> some(lanes - whole);
  const Int fours = (t.count + 3) / 4, to_row = t.to_row, to_step = t.to_step, from_row = t.from_row;
  const bool by_rows = to_step < to_row;
  const Int outer = by_rows ? t.rows : fours, inner = by_rows ? fours : t.rows;
  Int places[kLine];
  place_rows(places, lanes, t.from_lane);
  BURLAB_ONE_BY_ONE
  for (Int u = 0; u < outer; ++u) {
    BURLAB_ONE_BY_ONE
    for (Int v = 0; v < inner; ++v) {
      const Int i = by_rows ? u : v, k = 4 * (by_rows ? v : u), left = t.count - k;
      const T* const row = from + i * from_row + k;
      BURLAB_ONE_BY_ONE
      for (Int lane = 0; lane < lanes; lane += W) {
        T* const at = to + i * to_row + k * to_step + lane;
        Packet<T, W> x[4];
        if constexpr (W >= 4) {
          BURLAB_UNROLL
          for (int s = 0; s < 4; ++s) load_fours<T, W, 4>(x[s], row, places + lane + s);
          transpose(x, std::make_integer_sequence<int, W>());
        } else {
          BURLAB_UNROLL
          for (int s = 0; s < 4; ++s) {
            BURLAB_UNROLL
            for (int one = 0; one < W; ++one) x[s][one] = row[places[lane + one] + s];
          }
        }
        BURLAB_UNROLL
        for (int s = 0; s < 4; ++s) {
          if (s >= left) break;
          if (lane < whole) store(at + s * to_step, x[s]);
          else some.store(at + s * to_step, x[s]);
        }
      }
    }
  }
}

}  // namespace burlab::kernels
BURLAB_END
