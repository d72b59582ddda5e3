#pragma once
// Sums over axes. The order of every sum is fixed by the shape alone: plain where `Strict`, else in lanes and halves,
// whose error grows with the logarithm of the length. float sums in double.
#include <type_traits>

#include "../numbers/packet.hpp"
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// What a sum of T is kept in.
template <class T, bool Strict> using Accumulator = std::conditional_t<std::is_same_v<T, float> && !Strict, double, T>;

/// The sum of n numbers, `step` apart: 16 lanes up to 512 numbers, halves beyond.
template <class A, class T> A pairwise(const T* x, Int n, Int step) {
  constexpr int kWidth = 16;
  if (n > 512) {
    const Int half = n / 2 / kWidth * kWidth;
    return pairwise<A>(x, half, step) + pairwise<A>(x + half * step, n - half, step);
  }
  A lanes[kWidth] = {};
  Int i = 0;
  if (step == 1 && n >= kWidth) {
    Packet<A, kWidth> sum = {};
    for (; i + kWidth <= n; i += kWidth) {
      Packet<T, kWidth> next;
      load(next, x + i);
      sum += __builtin_convertvector(next, Packet<A, kWidth>);
    }
    store(sum, lanes);
  }
  BURLAB_ONE_BY_ONE
  for (; i < n; ++i) lanes[i % kWidth] += static_cast<A>(x[i * step]);
  for (int width = kWidth / 2; width > 0; width /= 2) {
    BURLAB_ONE_BY_ONE
    for (int j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  }
  return lanes[0];
}

/// A running sum: plain, or with the rounding error of every step carried along (Neumaier 1974).
template <class A, bool Plain> struct Total {
  A sum = 0, carry = 0;
  void add(A x) {
    const A next = sum + x;
    if constexpr (!Plain) carry += (sum < 0 ? -sum : sum) >= (x < 0 ? -x : x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  A value() const { return Plain || carry - carry != 0 ? sum : sum + carry; }  // infinite sums leave a carry of nan
};

/// Each result is the sum of rows.
/// Descriptor: length of a row and its stride; the Box of one result's rows; the Box of results.
template <class T, bool Strict> struct Sum {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    using A = Accumulator<T, Strict>;
    constexpr bool plain = Strict || std::is_integral_v<T>;
    const T* x = static_cast<const T*>(a);
    T* y = static_cast<T*>(out);
    const Int n = d[0], step = d[1];
    const Box<1> rows(d + 2), results(rows.end());
    walk(results, [&](const Int* at) {
      Total<A, plain> total;
      walk(rows, [&](const Int* row) {
        const T* first = x + at[0] + row[0];
        if constexpr (plain) {
          BURLAB_ONE_BY_ONE
          for (Int i = 0; i < n; ++i) total.add(static_cast<A>(first[i * step]));
        } else {
          total.add(pairwise<A>(first, n, step));
        }
      });
      *y++ = static_cast<T>(total.value());
    });
    return Ok;
  }
};

/// Sums down columns: each result is a row, the sum of rows. Column sums keep the order of the rows, in blocks of 64
/// rows unless `Strict`. Descriptor: width of a row (stride 1); number of rows and their stride; the Box of the blocks
/// of one result; the Box of results.
template <class T, bool Strict> struct SumColumns {
  using A = Accumulator<T, Strict>;
  static constexpr bool plain = Strict || std::is_integral_v<T>;
  static constexpr Int kTile = 64;

  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const T* x = static_cast<const T*>(a);
    T* y = static_cast<T*>(out);
    const Int width = d[0];
    const Box<1> blocks(d + 3), results(blocks.end());
    walk(results, [&](const Int* at) {
      for (Int j = 0; j < width; j += kTile) {
        const Int w = width - j < kTile ? width - j : kTile;
        A total[kTile] = {};
        walk(blocks, [&](const Int* block) { add_rows(x + at[0] + block[0] + j, d[1], d[2], w, total); });
        for (Int k = 0; k < w; ++k) y[j + k] = static_cast<T>(total[k]);
      }
      y += width;
    });
    return Ok;
  }

 private:
  static void add_rows(const T* x, Int n, Int step, Int width, A* total) {
    if (plain || n <= kTile) {
      for (Int i = 0; i < n; ++i) {
        BURLAB_LANES
        for (Int j = 0; j < width; ++j) total[j] += static_cast<A>(x[i * step + j]);
      }
      return;
    }
    A part[kTile];
    for (Int begin = 0, half = n / 2; begin < n; begin = begin == 0 ? half : n) {
      for (Int j = 0; j < width; ++j) part[j] = 0;
      add_rows(x + begin * step, begin == 0 ? half : n - half, step, width, part);
      for (Int j = 0; j < width; ++j) total[j] += part[j];
    }
  }
};

}  // namespace burlab::kernels
BURLAB_END
