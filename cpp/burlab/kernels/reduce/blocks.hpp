#pragma once
// Long reductions to few numbers, in blocks that several threads share: `EachBlock` leaves the results of whole blocks,
// and `AllBlocks` takes these together in their order, to the bits of the kernel that goes through all of it.
#include "../matrix/contraction.hpp"
#include "extreme.hpp"
#include "reduce.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Descriptor: whole blocks, numbers of a column, columns, numbers of a column that a block has.
struct BlockReduction {
  Int count, numbers, width, size;

  BURLAB_INLINE explicit BlockReduction(const Int* d) : count(d[0]), numbers(d[1]), width(d[2]), size(d[3]) {}
  BURLAB_INLINE Int left() const { return numbers - count * size; }
};

/// Sums in blocks of `Block`, which are added with their rounding errors.
template <class T, class Block> struct CompensatedBlocks {
  using Number = T;
  using Result = Accumulator<T, false>;
  using Total = T;

  static BURLAB_INLINE void each(Result* to, const T* x, const T* y, Int n, Int) { *to = Block::sum(x, y, n); }

  static BURLAB_INLINE void all(const BlockReduction& d, T* total, const Result* sums, const T* x, const T* y) {
    CompensatedSum<T, false> sum{T(0)};
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < d.count; ++k) sum.add(sums[k]);
    if (d.left() > 0) sum.add(Block::sum(x, y, d.left()));
    *total = sum.value();
  }
};

struct PlainBlock {
  template <class T> static BURLAB_INLINE Accumulator<T, false> sum(const T* x, const T*, Int n) {
    return sum_block<Accumulator<T, false>>(x, n);
  }
};
struct DotBlock {
  template <class T> static BURLAB_INLINE Accumulator<T, false> sum(const T* x, const T* y, Int n) {
    Packet<T, 16> sum;
    add_in_lanes<T, 1>(sum, x, y, {0}, n);
    return static_cast<Accumulator<T, false>>(sum[0]);
  }
};

/// The bits of `Sum`, and those of `Contract` in lanes.
template <class T> using SumBlocks = CompensatedBlocks<T, PlainBlock>;
template <class T> using DotBlocks = CompensatedBlocks<T, DotBlock>;

/// The bits of `Extreme`.
template <class T, bool Largest> struct ExtremeBlocks {
  using Number = T;
  using Result = T;
  using Total = T;

  static BURLAB_INLINE void each(T* to, const T* x, const T*, Int n, Int) { *to = extreme_of<Largest>(x, n); }

  static BURLAB_INLINE void all(const BlockReduction& d, T* y, const T* parts, const T* x, const T*) {
    T best = x[-d.count * d.size];
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < d.count; ++k) best = beats<Largest>(parts[k], best) ? parts[k] : best;
    if (d.left() > 0) {
      const T next = extreme_of<Largest>(x, d.left());
      best = beats<Largest>(next, best) ? next : best;
    }
    *y = best;
  }
};

/// The bits of `SumColumns`, before a float is rounded.
template <class T> struct ColumnBlocks {
  using Number = T;
  using Result = Accumulator<T, false>;
  using Total = Result;
  static constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));

  static BURLAB_INLINE void each(Result* to, const T* x, const T*, Int rows, Int width) {
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j < width;) {
      const Int left = width - j;
      if (left > W) packets<2>(to + j, x + j, rows, width, left);
      else packets<1>(to + j, x + j, rows, width, left);
      j += left > W ? 2 * W : W;
    }
  }

  static BURLAB_INLINE void all(const BlockReduction& d, Result* totals, const Result* sums, const T* x, const T*) {
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j < d.width; ++j) {
      Result total = 0, last = 0;
      BURLAB_ONE_BY_ONE
      for (Int k = 0; k < d.count; ++k) total += sums[k * d.width + j];
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < d.left(); ++i) last += static_cast<Result>(x[i * d.width + j]);
      totals[j] = d.left() > 0 ? total + last : total;
    }
  }

 private:
  template <int P> static BURLAB_INLINE void packets(Result* to, const T* x, Int rows, Int width, Int left) {
    const Columns<T, W, P> columns(left);
    const Columns<Result, W, P> sums(left);
    Packet<Result, W> parts[P] = {};
    Packet<T, W> next;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < rows; ++i, x += width) {
      BURLAB_UNROLL
      for (int k = 0; k < P; ++k) {
        columns.load(next, x, k);
        parts[k] += __builtin_convertvector(next, Packet<Result, W>);
      }
    }
    BURLAB_UNROLL
    for (int k = 0; k < P; ++k) sums.store(to, parts[k], k);
  }
};

/// The result of each whole block. Operands: what is reduced.
template <class Kind> struct EachBlock {
  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* a, const void* b,
                                const void* const*) noexcept {
    const BlockReduction d(descriptor);
    const auto *x = static_cast<const typename Kind::Number*>(a), *y = static_cast<const typename Kind::Number*>(b);
    auto* to = static_cast<typename Kind::Result*>(out);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < d.count; ++k) {
      if (stop.after(d.size * d.width)) return Stopped;
      const Int at = k * d.size * d.width;
      Kind::each(to + k * d.width, x + at, y + at, d.size, d.width);
    }
    return Ok;
  }
};

/// What is left of all. Operands: results of whole blocks, and what is reduced.
template <class Kind> struct AllBlocks {
  static BURLAB_WIDE Status run(const Int* descriptor, void* out, const void* a, const void* b,
                                const void* const* more) noexcept {
    using T = typename Kind::Number;
    const BlockReduction d(descriptor);
    const Int end = d.count * d.size * d.width;
    const T *x = static_cast<const T*>(b) + end, *y = static_cast<const T*>(more[0]) + end;
    Kind::all(d, static_cast<typename Kind::Total*>(out), static_cast<const typename Kind::Result*>(a), x, y);
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
