#pragma once
// Sums over axes. The order of every sum is fixed by the shape alone: plain where `Strict`, else in 16 lanes and blocks
// of 512 numbers, the blocks added with their rounding errors. float sums in double.
#include "../../numbers/first.hpp"
#include "compensated_sum.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The sum of n <= 512 contiguous numbers: number k goes to lane k mod 16, the lanes are added by halves. If n is a
/// literal, the loops are unrolled completely.
template <class A, class T> BURLAB_INLINE A sum_block(const T* x, Int n) {
  Packet<A, 16> lanes = {};
  Packet<T, 16> next;
  Int i = 0;
  BURLAB_ONE_BY_ONE
  for (; i + 16 <= n; i += 16) {
    load(next, x + i);
    lanes += __builtin_convertvector(next, Packet<A, 16>);
  }
  if (i < n) {
    T rest[16] = {};
    std::memcpy(rest, x + i, static_cast<std::size_t>(n - i) * sizeof(T));
    load(next, rest);
    lanes += __builtin_convertvector(next, Packet<A, 16>);
  }
  return sum_lanes<A>(lanes);
}

/// Each of m results is the sum of l rows of n numbers.
/// Descriptor: m and its stride, l and its stride, n and its stride, whether to add to the contents of out; results are
/// dense.
template <class T, bool Strict> struct Sum {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    constexpr bool kPlain = Strict || std::is_integral_v<T>;
    using A = Accumulator<T, kPlain>;
    const T* x = static_cast<const T*>(a);
    T* y = static_cast<T*>(out);
    constexpr bool kOneByOne = kPlain && !std::is_integral_v<T>;  // sums of integers have no order
    const Int n = d[4], step = d[5], block = kOneByOne || step != 1 ? 1 : 512;
    StopCheck stop;
    if constexpr (!kPlain)
      if (step != 1 && d[1] == 1 && 1 < d[0] && d[0] <= kMaxResults) return few(d, y, x, stop);
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < d[0]; ++i) {
      CompensatedSum<T, kPlain> sum(d[6] != 0 ? y[i] : T(0));
      BURLAB_ONE_BY_ONE
      for (Int row = 0; row < d[2]; ++row) {
        const T* first = x + i * d[1] + row * d[3];
        BURLAB_ONE_BY_ONE
        for (Int j = 0; j < n; j += block) {
          const Int size = n - j < block ? n - j : block;
          if (stop.after(size)) return Stopped;
          sum.add(block == 1 ? static_cast<A>(first[j * step]) : sum_block<A>(first + j, size));
        }
      }
      y[i] = sum.value();
    }
    return Ok;
  }

 private:
  static constexpr int kMaxResults = 4;

  /// Few contiguous results: their numbers are summed together.
  static BURLAB_INLINE Status few(const Int* d, T* y, const T* x, StopCheck& stop) {
    using A = Accumulator<T, false>;
    const First<T, kMaxResults> some(d[0]);
    CompensatedLanes<A, kMaxResults> sums;
    Packet<T, kMaxResults> next;
    if (d[6] != 0) {
      some.load(next, y);
      sums.sum = __builtin_convertvector(next, Packet<A, kMaxResults>);
    }
    BURLAB_ONE_BY_ONE
    for (Int row = 0; row < d[2]; ++row) {
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < d[4]; ++j) {
        if (stop.after(kMaxResults)) return Stopped;
        some.load(next, x + row * d[3] + j * d[5]);
        sums.add(__builtin_convertvector(next, Packet<A, kMaxResults>));
      }
    }
    for (int i = 0; i < d[0]; ++i) y[i] = static_cast<T>(sums.value(i));
    return Ok;
  }
};

/// P packets of columns, of which `left` exist: more than P - 1 packets.
template <class T, int W, int P> class Columns {
 public:
  BURLAB_INLINE explicit Columns(Int left) : last_(left < P * W ? left - (P - 1) * W : W) {}

  /// Packet k of a row.
  BURLAB_INLINE void load(Packet<T, W>& x, const T* row, int k) const {
    if (k + 1 < P) burlab::load(x, row + k * W);
    else last_.load(x, row + k * W);
  }
  BURLAB_INLINE void store(T* row, const Packet<T, W>& x, int k) const {
    if (k + 1 < P) burlab::store(row + k * W, x);
    else last_.store(row + k * W, x);
  }

 private:
  First<T, W> last_;
};

/// Sums down columns: out[j] = the sum of l * n rows, in their order, j < width; partial sums of 64 rows unless
/// `Strict`. Descriptor: width (stride 1); l and its stride, n and its stride.
template <class T, bool Strict> struct SumColumns {
  static constexpr bool kPlain = Strict || std::is_integral_v<T>;
  static constexpr int W = BURLAB_REGISTER / static_cast<int>(sizeof(T));
  using A = Accumulator<T, kPlain>;

  static BURLAB_WIDE Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    T* y = static_cast<T*>(out);
    const T* x = static_cast<const T*>(a);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j < d[0];) {
      const Int left = d[0] - j;
      if (stop.after(d[1] * d[3] * (left < 2 * W ? left : 2 * W))) return Stopped;
      if (left > W) packets<2>(d, y + j, x + j, left);
      else packets<1>(d, y + j, x + j, left);
      j += left > W ? 2 * W : W;
    }
    return Ok;
  }

 private:
  template <int P> static BURLAB_INLINE void packets(const Int* d, T* y, const T* x, Int left) {
    const Columns<T, W, P> columns(left);
    const Int block = kPlain ? d[1] * d[3] : 64;
    Packet<A, W> totals[P] = {}, parts[P] = {};
    Packet<T, W> next;
    const auto join = [&] {
      BURLAB_UNROLL
      for (int k = 0; k < P; ++k) totals[k] += parts[k], parts[k] = Packet<A, W>{};
    };
    Int until = block;
    BURLAB_ONE_BY_ONE
    for (Int l = 0; l < d[1]; ++l, x += d[2]) {
      const T* row = x;
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < d[3]; ++i, row += d[4]) {
        BURLAB_UNROLL
        for (int k = 0; k < P; ++k) {
          columns.load(next, row, k);
          parts[k] += __builtin_convertvector(next, Packet<A, W>);
        }
        if (--until > 0) continue;
        join();
        until = block;
      }
    }
    if (until < block) join();
    BURLAB_UNROLL
    for (int k = 0; k < P; ++k) {
      next = __builtin_convertvector(totals[k], Packet<T, W>);
      columns.store(y, next, k);
    }
  }
};

/// out[j] += a[r, i, j], row after row, in T: so a sum over samples is the same whether they come one by one or in
/// tiles. Descriptor: width and its strides in a and out; rows r and their stride; rows i and their stride. Bytes: of a
/// register.
template <class T, int Bytes> struct SumAccumulate {
  static constexpr Int W = Bytes / static_cast<Int>(sizeof(T));

  static BURLAB_WIDE Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const T* x = static_cast<const T*>(a);
    T* y = static_cast<T*>(out);
    const bool dense = d[1] == 1 && d[2] == 1;
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j < d[0];) {
      const Int left = d[0] - j, count = !dense ? 1 : left > 3 * W ? 4 * W : left > W ? 2 * W : W;
      if (stop.after(d[3] * d[5] * (count < left ? count : left))) return Stopped;
      if (!dense) one(d, y + j * d[2], x + j * d[1]);
      else if (count == 4 * W) packets<4>(d, y + j, x + j, left);
      else if (count == 2 * W) packets<2>(d, y + j, x + j, left);
      else packets<1>(d, y + j, x + j, left);
      j += count;
    }
    return Ok;
  }

 private:
  static BURLAB_INLINE void one(const Int* d, T* y, const T* x) {
    T total = *y;
    BURLAB_ONE_BY_ONE
    for (Int r = 0; r < d[3]; ++r) {
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < d[5]; ++i) total += x[r * d[4] + i * d[6]];
    }
    *y = total;
  }

  template <int P> static BURLAB_INLINE void packets(const Int* d, T* y, const T* x, Int left) {
    const Columns<T, W, P> columns(left);
    Packet<T, W> sums[P], next;
    BURLAB_UNROLL
    for (int k = 0; k < P; ++k) columns.load(sums[k], y, k);
    BURLAB_ONE_BY_ONE
    for (Int r = 0; r < d[3]; ++r, x += d[4]) {
      const T* row = x;
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < d[5]; ++i, row += d[6]) {
        BURLAB_UNROLL
        for (int k = 0; k < P; ++k) {
          columns.load(next, row, k);
          sums[k] += next;
        }
      }
    }
    BURLAB_UNROLL
    for (int k = 0; k < P; ++k) columns.store(y, sums[k], k);
  }
};

}  // namespace burlab::kernels
BURLAB_END
