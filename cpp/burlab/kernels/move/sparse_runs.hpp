#pragma once
// Entries of a sparse matrix that lie row by row, as in CSR: sums of several rows at once, one in each lane. The sum of
// a row keeps the order of its entries.
#include <cstring>

#include "../matrix/pack.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Runs of equal numbers in a block of an index.
template <class J> class Runs {
 public:
  static constexpr int kEntries = 4096, kWord = 64;

  /// Finds the runs of `size` <= kEntries numbers, or none if they have fewer than three numbers on average.
  BURLAB_NOINLINE BURLAB_WIDE void find(const J* index, int size, Int rows) noexcept {
    int runs = 0, i = 0;
    count = 0, ascend = false;
    start[runs++] = 0;
    BURLAB_ONE_BY_ONE
    for (; i + kWord < size; i += kWord) {
      std::uint64_t word = 0;
      BURLAB_UNROLL
      for (int part = 0; part < kWord; part += 16) {
        Packet<J, 16> before, after;
        load(before, index + i + part);
        load(after, index + i + part + 1);
        word |= lanes_where<16>(before != after) << part;
      }
      BURLAB_ONE_BY_ONE
      for (; word != 0; word &= word - 1) start[runs++] = i + 1 + __builtin_ctzll(word);
      if (3 * runs > i + 2 * kWord) return;
    }
    BURLAB_ONE_BY_ONE
    for (; i + 1 < size; ++i) {
      start[runs] = i + 1;
      runs += index[i] != index[i + 1];
    }
    if (3 * runs > size + 2) return;
    start[count = runs] = size;
    ascend = static_cast<Int>(index[0]) >= 0 && static_cast<Int>(index[size - 1]) < rows;
    BURLAB_ONE_BY_ONE
    for (int k = 1; k < runs; ++k) ascend &= index[start[k - 1]] < index[start[k]];
  }

  int count, start[kEntries + 1];  // start: where runs begin, and where the last one ends
  bool ascend;                     // whether numbers ascend, and lie in 0 to rows - 1
};

/// to[i] = values[i] * x[index[i]].
template <class T, int W, class I>
BURLAB_NOINLINE BURLAB_WIDE void multiply_gathered(T* to, const T* values, const T* x, const I* index,
                                                   int count) noexcept {
  int i = 0;
  BURLAB_ONE_BY_ONE
  for (; i + W <= count; i += W) {
    Packet<T, W> factor, gathered;
    load(factor, values + i);
    BURLAB_UNROLL
    for (int lane = 0; lane < W; ++lane) gathered[lane] = x[index[i + lane]];
    store(to + i, gathered * factor);
  }
  BURLAB_ONE_BY_ONE
  for (; i < count; ++i) to[i] = values[i] * x[index[i]];
}

/// Adds the runs of `products` to numbers of y; four numbers after the last product may be read, but do not count.
template <class T, class J>
BURLAB_NOINLINE BURLAB_WIDE void add_runs(T* y, const J* row, const T* products, const Runs<J>& runs) noexcept {
  constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
  using At = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  BURLAB_ONE_BY_ONE
  for (int first = 0; first < runs.count; first += W) {
    const int lanes = runs.count - first < W ? runs.count - first : W;
    Int places[W];
    Packet<T, W> sum;
    Packet<At, W> length;
    int shortest = Runs<J>::kEntries, longest = 0;
    BURLAB_UNROLL
    for (int lane = 0; lane < W; ++lane) {
      const int* const start = runs.start + first + (lane < lanes ? lane : 0);
      const int entries = lane < lanes ? start[1] - start[0] : 0;
      places[lane] = start[0];
      length[lane] = static_cast<At>(entries);
      sum[lane] = y[row[start[0]]];
      shortest = entries < shortest ? entries : shortest;
      longest = entries > longest ? entries : longest;
    }
    BURLAB_ONE_BY_ONE
    for (int k = 0; k < longest; k += 4) {
      Packet<T, W> x[4];
      BURLAB_UNROLL
      for (int s = 0; s < 4; ++s) load_fours<T, W, 4>(x[s], products + k, places + s);
      transpose(x, std::make_integer_sequence<int, W>());
      BURLAB_UNROLL
      for (int s = 0; s < 4; ++s) sum = k + s < shortest || length > At(k + s) ? sum + x[s] : sum;
    }
    T sums[W];
    store(sums, sum);
    BURLAB_ONE_BY_ONE
    for (int lane = 0; lane < lanes; ++lane) y[row[places[lane]]] = sums[lane];
  }
}

}  // namespace burlab::kernels
BURLAB_END
