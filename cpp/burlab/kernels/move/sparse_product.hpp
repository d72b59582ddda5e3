#pragma once
// Products with a sparse matrix, whose entries are values with a row and a
// column each, and the derivative by its values. All arrays dense. Additions
// are in the order of the entries. Operands: two arrays, columns, rows.
#include "../../numbers/packet.hpp"
#include "gather.hpp"
#include "sparse_runs.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// An index into `size` rows. wraps: whether negative ones count from the end.
template <class I> struct WrappedIndex {
  const I* index;
  Int size, added;

  WrappedIndex(const void* index, Int size, Int wraps) noexcept
      : index(static_cast<const I*>(index)), size(size), added(wraps ? size : 0) {}

  BURLAB_INLINE Int operator[](Int i) const noexcept {
    const Int k = static_cast<Int>(index[i]);
    return k + (k < 0 ? added : 0);
  }

  BURLAB_INLINE bool are_inside(Int begin, Int end) const noexcept {
    std::uint64_t outside = 0;
    const std::uint64_t all = static_cast<std::uint64_t>(size + added), shift = static_cast<std::uint64_t>(added);
    BURLAB_LANES
    for (Int i = begin; i < end; ++i) outside |= static_cast<std::uint64_t>(static_cast<Int>(index[i])) + shift >= all;
    return outside == 0;
  }

  /// The same from an entry on.
  BURLAB_INLINE WrappedIndex from(Int begin) const noexcept {
    WrappedIndex rest = *this;
    rest.index += begin;
    return rest;
  }

  /// Return true if all are inside and none counts from the end.
  BURLAB_INLINE bool are_from_start(Int begin, Int end) const noexcept {
    std::uint64_t outside = 0;
    const std::uint64_t all = static_cast<std::uint64_t>(size);
    BURLAB_LANES
    for (Int i = begin; i < end; ++i) outside |= static_cast<std::uint64_t>(static_cast<Int>(index[i])) >= all;
    return outside == 0;
  }

  /// Return true if at least three quarters of the entries have the row of the
  /// entry before.
  BURLAB_INLINE bool is_in_runs(Int begin, Int end) const noexcept {
    Int same = 0;
    BURLAB_LANES
    for (Int i = begin + 1; i < end; ++i) same += index[i] == index[i - 1];
    return 4 * same >= 3 * (end - begin);
  }
};

/// Calls work(begin, end) for each block of entries in order, after checking that all of their indices are in range.
/// try_first: returns true if it has checked and done a block by itself.
template <class I, class J, class Try, class Work>
BURLAB_INLINE Status by_entries(const WrappedIndex<I>& columns, const WrappedIndex<J>& rows, Int count, Int width,
                                const Try& try_first, const Work& work) {
  const Int lot = width < 64 ? 4096 : width < 1 << 18 ? (1 << 18) / width : 1;
  StopCheck stop;
  BURLAB_ONE_BY_ONE
  for (Int begin = 0; begin < count; begin += lot) {
    const Int end = count - begin < lot ? count : begin + lot;
    if (stop.after((end - begin) * width)) return Stopped;
    if (try_first(begin, end)) continue;
    if (!columns.are_inside(begin, end) || !rows.are_inside(begin, end)) return IndexOutOfRange;
    work(begin, end);
  }
  return Ok;
}

template <class I, class J, class Work>
BURLAB_INLINE Status by_entries(const WrappedIndex<I>& columns, const WrappedIndex<J>& rows, Int count, Int width,
                                const Work& work) {
  return by_entries(columns, rows, count, width, [](Int, Int) { return false; }, work);
}

/// out[rows[i]] += values[i] * x[columns[i]], from zeros. Descriptor: rows of
/// the result and of x, entries, elements of a row; whether columns and rows
/// wrap.
template <class T, class I, class J> struct SparseProduct {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const* more) noexcept {
    const Int size = d[0], count = d[2], width = d[3];
    T* const y = static_cast<T*>(out);
    const T* const values = static_cast<const T*>(a);
    const T* const x = static_cast<const T*>(b);
    const WrappedIndex<I> columns(more[0], d[1], d[4]);
    const WrappedIndex<J> rows(more[1], size, d[5]);
    if (clear(static_cast<char*>(out), size * width * static_cast<Int>(sizeof(T))) != Ok) return Stopped;
    if (width == 1) {
      const auto side_by_side = [&](Int begin, Int end) {
        return rows_side_by_side(y, values, x, columns, rows, begin, end);
      };
      return by_entries(columns, rows, count, 1, side_by_side, [&](Int begin, Int end) {
        if (rows.is_in_runs(begin, end)) in_runs(y, values, x, columns, rows, begin, end);
        else {
          BURLAB_ONE_BY_ONE
          for (Int i = begin; i < end; ++i) y[rows[i]] += values[i] * x[columns[i]];
        }
      });
    }
    Runs<J> runs;
    const auto by_runs = [&](Int begin, Int end) {
      runs.find(rows.index + begin, static_cast<int>(end - begin), size);
      if (!runs.ascend || !columns.are_from_start(begin, end)) return false;
      add_by_runs<4>(y, values + begin, x, columns.from(begin), rows.from(begin), runs, width);
      return true;
    };
    return by_entries(columns, rows, count, width, by_runs, [&](Int begin, Int end) {
      if (runs.count > 0)
        return add_by_runs<1>(y, values + begin, x, columns.from(begin), rows.from(begin), runs, width);
      BURLAB_ONE_BY_ONE
      for (Int i = begin; i < end; ++i) {
        const T value = values[i];
        const T* const from = x + columns[i] * width;
        T* const to = y + rows[i] * width;
        BURLAB_LANES
        for (Int j = 0; j < width; ++j) to[j] += value * from[j];
      }
    });
  }

 private:
  /// The same for rows of x: sums of R runs stay in registers. No two of these runs have the same row.
  template <int R>
  static BURLAB_NOINLINE BURLAB_WIDE void add_by_runs(T* y, const T* values, const T* x, const WrappedIndex<I>& columns,
                                                      const WrappedIndex<J>& rows, const Runs<J>& runs,
                                                      Int width) noexcept {
    int run = 0;
    BURLAB_ONE_BY_ONE
    for (; run + R <= runs.count; run += R) add_runs_of<R>(y, values, x, columns, rows, runs.start + run, width);
    BURLAB_ONE_BY_ONE
    for (; run < runs.count; ++run) add_runs_of<1>(y, values, x, columns, rows, runs.start + run, width);
  }

  template <int R>
  static BURLAB_INLINE void add_runs_of(T* y, const T* values, const T* x, const WrappedIndex<I>& columns,
                                        const WrappedIndex<J>& rows, const int* start, Int width) noexcept {
    T* to[R];
    BURLAB_UNROLL
    for (int r = 0; r < R; ++r) to[r] = y + rows[start[r]] * width;
    Int j = 0;
    for (; j + kBlock <= width; j += kBlock) {
      BURLAB_ONE_BY_ONE
      for (int r = 0; r < R; ++r) add_run<1, kBlock / W>(to + r, j, values, x, columns, start + r, width);
    }
    for (; j + W <= width; j += W) add_run<R>(to, j, values, x, columns, start, width);
    if (2 * (width - j) == W) {
      add_run<R, 1, W / 2>(to, j, values, x, columns, start, width);
    } else if (j < width) {
#if defined(BURLAB_AVX2)  // which has masks
      add_run<R, 1>(to, j, values, x, columns, start, width, First<T, W>(width - j));
#else
      for (; j < width; ++j) add_run<R, 1, 1>(to, j, values, x, columns, start, width);
#endif
    }
  }

  static constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
  static constexpr Int kBlock = 4 * W;

  /// All lanes of a packet.
  template <int L> struct All {
    BURLAB_INLINE void load(Packet<T, L>& x, const T* from) const { burlab::load(x, from); }
    BURLAB_INLINE void store(T* to, const Packet<T, L>& x) const { burlab::store(to, x); }
  };

  /// P packets of L lanes, from column j on, of the sums of R runs. lanes: those which count.
  template <int R, int P = 1, int L = W, class Lanes = All<L>>
  static BURLAB_INLINE void add_run(T* const* to, Int j, const T* values, const T* x, const WrappedIndex<I>& columns,
                                    const int* start, Int width, const Lanes& lanes = {}) noexcept {
    Packet<T, L> sums[R][P];
    int shortest = start[1] - start[0];
    BURLAB_UNROLL
    for (int r = 0; r < R; ++r) {
      shortest = start[r + 1] - start[r] < shortest ? start[r + 1] - start[r] : shortest;
      BURLAB_UNROLL
      for (int p = 0; p < P; ++p) lanes.load(sums[r][p], to[r] + j + p * L);
    }
    const auto add = [&](int r, int k) __attribute__((always_inline)) {
      const T value = values[k], *const from = x + columns[k] * width + j;
      BURLAB_UNROLL
      for (int p = 0; p < P; ++p) {
        Packet<T, L> some;
        lanes.load(some, from + p * L);
        sums[r][p] += value * some;
      }
    };
    BURLAB_ONE_BY_ONE
    for (int k = 0; k < shortest; ++k) {
      BURLAB_UNROLL
      for (int r = 0; r < R; ++r) add(r, start[r] + k);
    }
    BURLAB_UNROLL
    for (int r = 0; r < R; ++r) {
      if constexpr (R > 1) {
        BURLAB_ONE_BY_ONE
        for (int k = start[r] + shortest; k < start[r + 1]; ++k) add(r, k);
      }
      BURLAB_UNROLL
      for (int p = 0; p < P; ++p) lanes.store(to[r] + j + p * L, sums[r][p]);
    }
  }

  /// The same for numbers, where rows ascend: products first, and then the sums of several rows.
  static BURLAB_INLINE bool rows_side_by_side(T* y, const T* values, const T* x, const WrappedIndex<I>& columns,
                                              const WrappedIndex<J>& rows, Int begin, Int end) noexcept {
    if constexpr (W >= 4) {
      if (!columns.are_from_start(begin, end)) return false;
      Runs<J> runs;
      const J* const row = rows.index + begin;
      const int count = static_cast<int>(end - begin);
      runs.find(row, count, rows.size);
      if (!runs.ascend) return false;
      T products[2 * Runs<J>::kEntries + 4];
      multiply_gathered<T, W>(products, values + begin, x, columns.index + begin, count);
      add_runs(y, row, products, runs);
      return true;
    }
    return false;
  }

  /// Entries of one row after the other: their sum stays in a register.
  /// Products are computed before, in lanes.
  static BURLAB_INLINE void in_runs(T* y, const T* values, const T* x, const WrappedIndex<I>& columns,
                                    const WrappedIndex<J>& rows, Int begin, Int end) noexcept {
    constexpr Int kBlock = 512;
    T products[kBlock];
    for (Int first = begin; first < end; first += kBlock) {
      const Int count = end - first < kBlock ? end - first : kBlock;
      BURLAB_LANES
      for (Int i = 0; i < count; ++i) products[i] = values[first + i] * x[columns[first + i]];
      const J* const index = rows.index + first;
      for (Int i = 0; i < count;) {
        const J row = index[i];
        T* const to = y + rows[first + i];
        T sum = *to;
        BURLAB_ONE_BY_ONE
        do sum += products[i++];
        while (i < count && index[i] == row);
        *to = sum;
      }
    }
  }
};

/// out[i] = the sum of x[columns[i]] * y[rows[i]], or `Accumulate`: added to
/// what is there, in plain order. S: the type of the sum. Descriptor: rows of x
/// and y, entries, elements of a row that count, elements of a row; whether
/// columns and rows wrap.
template <class T, class S, class I, class J, bool Accumulate = false>
struct SampledProduct {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const* more) noexcept {
    const Int count = d[2], width = d[3], stride = d[4];
    T* const result = static_cast<T*>(out);
    const T* const x = static_cast<const T*>(a);
    const T* const y = static_cast<const T*>(b);
    const WrappedIndex<I> columns(more[0], d[0], d[5]);
    const WrappedIndex<J> rows(more[1], d[1], d[6]);
    return by_entries(columns, rows, count, width, [&](Int begin, Int end) {
      Int i = begin;
      if (stride == 1) {
        BURLAB_LANES
        for (; i < end; ++i) {
          const T product = x[columns[i]] * y[rows[i]];
          result[i] = Accumulate ? result[i] + product : product;
        }
      }
      for (; i + kTogether <= end; i += kTogether) add<kTogether>(result, x, y, columns, rows, i, width, stride);
      for (; i < end; ++i) add<1>(result, x, y, columns, rows, i, width, stride);
    });
  }

 private:
  static constexpr int kTogether = 4;  // sums, none of which waits for another

  template <int N>
  static BURLAB_INLINE void add(T* result, const T* x, const T* y, const WrappedIndex<I>& columns,
                                const WrappedIndex<J>& rows, Int i, Int width, Int stride) noexcept {
    const T *p[N], *q[N];
    S sum[N];
    BURLAB_UNROLL
    for (int k = 0; k < N; ++k) {
      p[k] = x + columns[i + k] * stride;
      q[k] = y + rows[i + k] * stride;
      sum[k] = Accumulate ? S(result[i + k]) : S(0);
    }
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j < width; ++j) {
      BURLAB_UNROLL
      for (int k = 0; k < N; ++k) sum[k] += S(p[k][j] * q[k][j]);
    }
    BURLAB_UNROLL
    for (int k = 0; k < N; ++k) result[i + k] = static_cast<T>(sum[k]);
  }
};

}  // namespace burlab::kernels
BURLAB_END
