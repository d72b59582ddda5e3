#pragma once
// Products with rows of a sparse matrix: row r has the entries starts[r] to ends[r] - 1 of `values` and `columns`. So
// any rows of a matrix in CSR form can be taken without copying an entry. All arrays dense. Operands: two arrays,
// columns, starts, ends. Descriptor: rows; rows of x, which the columns number; entries; elements of a row of x;
// whether x has rows of its own for each row of the matrix.
#include "gather.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Some rows of a sparse matrix. I, P: integers of columns, and of starts and ends.
template <class I, class P> class SparseRows {
 public:
  SparseRows(const Int* d, const void* const* more) noexcept
      : columns(static_cast<const I*>(more[0])),
        starts_(static_cast<const P*>(more[1])),
        ends_(static_cast<const P*>(more[2])),
        rows_(d[0]),
        size_(d[1]),
        entries_(d[2]),
        width_(d[3]) {}

  /// Call work(row, begin, end) for each row in order, after a check that its entries and their columns exist.
  template <class Work> BURLAB_INLINE Status each(const Work& work) const noexcept {
    constexpr Int kLot = 64;
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int first = 0; first < rows_; first += kLot) {
      const Int last = rows_ - first < kLot ? rows_ : first + kLot;
      if (!are_entries(first, last)) return IndexOutOfRange;
      const bool joined = are_joined(first, last);
      if (joined && !has_columns(begin(first), end(last - 1))) return IndexOutOfRange;
      Int count = 0;
      BURLAB_ONE_BY_ONE
      for (Int row = first; row < last; ++row) {
        const Int from = begin(row), to = end(row);
        if (!joined && !has_columns(from, to)) return IndexOutOfRange;
        work(row, from, to);
        count += to - from;
      }
      if (stop.after(count * width_ + 1)) return Stopped;
    }
    return Ok;
  }

  const I* const columns;

 private:
  BURLAB_INLINE Int begin(Int row) const noexcept { return static_cast<Int>(starts_[row]); }
  BURLAB_INLINE Int end(Int row) const noexcept { return static_cast<Int>(ends_[row]); }

  /// Return true if the places of the entries of some rows are in range.
  BURLAB_INLINE bool are_entries(Int first, Int last) const noexcept {
    std::uint64_t outside = 0;
    BURLAB_LANES
    for (Int row = first; row < last; ++row)
      outside |= static_cast<std::uint64_t>(begin(row) | (end(row) - begin(row)) | (entries_ - end(row)));
    return static_cast<Int>(outside) >= 0;  // no number was negative
  }
  /// Return true if each row begins where the one before ends.
  BURLAB_INLINE bool are_joined(Int first, Int last) const noexcept {
    std::uint64_t apart = 0;
    BURLAB_LANES
    for (Int row = first; row + 1 < last; ++row) apart |= static_cast<std::uint64_t>(end(row) ^ begin(row + 1));
    return apart == 0;
  }
  BURLAB_INLINE bool has_columns(Int from, Int to) const noexcept {
    return are_inside(columns + from, to - from, size_);
  }

  const P *const starts_, *const ends_;
  const Int rows_, size_, entries_, width_;
};

/// out[r] = the sum over the entries e of row r of values[e] * x[columns[e]].
template <class T, class I, class P> struct RowProducts {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const* more) noexcept {
    const SparseRows<I, P> rows(d, more);
    const T* const values = static_cast<const T*>(a);
    const T* const x = static_cast<const T*>(b);
    T* const y = static_cast<T*>(out);
    const Int width = d[3], apart = d[4] != 0 ? d[1] * width : 0;
    if (width == 1)
      return rows.each([&](Int row, Int begin, Int end) {
        y[row] = dot(values + begin, rows.columns + begin, x + row * apart, end - begin);
      });
    return rows.each([&](Int row, Int begin, Int end) {
      const T* const from = x + row * apart;
      T* const to = y + row * width;
      BURLAB_LANES
      for (Int j = 0; j < width; ++j) to[j] = T(0);
      BURLAB_ONE_BY_ONE
      for (Int e = begin; e < end; ++e) {
        const T value = values[e], *const some = from + static_cast<Int>(rows.columns[e]) * width;
        BURLAB_LANES
        for (Int j = 0; j < width; ++j) to[j] += value * some[j];
      }
    });
  }

 private:
  /// Four sums, none of which waits for another. Their order depends on the number of entries alone.
  static BURLAB_INLINE T dot(const T* values, const I* columns, const T* x, Int count) noexcept {
    T sums[4] = {};
    Int e = 0;
    BURLAB_ONE_BY_ONE
    for (; e + 4 <= count; e += 4) {
      BURLAB_UNROLL
      for (int k = 0; k < 4; ++k) sums[k] += values[e + k] * x[columns[e + k]];
    }
    BURLAB_ONE_BY_ONE
    for (; e < count; ++e) sums[0] += values[e] * x[columns[e]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
};

/// out[columns[e]] += values[e] * y[r] for the entries e of each row r, from zeros or, `Accumulate`, to what is there.
template <class T, class I, class P, bool Accumulate = false> struct SpreadRows {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const* more) noexcept {
    const SparseRows<I, P> rows(d, more);
    const T* const values = static_cast<const T*>(a);
    const T* const y = static_cast<const T*>(b);
    T* const x = static_cast<T*>(out);
    const Int width = d[3], apart = d[4] != 0 ? d[1] * width : 0;
    if constexpr (!Accumulate) {
      const Int rows_of_x = d[4] != 0 ? d[0] * d[1] : d[1];
      if (clear(static_cast<char*>(out), rows_of_x * width * static_cast<Int>(sizeof(T))) != Ok) return Stopped;
    }
    if (width == 1)
      return rows.each([&](Int row, Int begin, Int end) {
        T* const to = x + row * apart;
        const T factor = y[row];
        BURLAB_ONE_BY_ONE
        for (Int e = begin; e < end; ++e) to[rows.columns[e]] += values[e] * factor;
      });
    return rows.each([&](Int row, Int begin, Int end) {
      const T* const from = y + row * width;
      BURLAB_ONE_BY_ONE
      for (Int e = begin; e < end; ++e) {
        const T value = values[e];
        T* const to = x + row * apart + static_cast<Int>(rows.columns[e]) * width;
        BURLAB_LANES
        for (Int j = 0; j < width; ++j) to[j] += value * from[j];
      }
    });
  }
};

/// out[e] += the sum of x[columns[e]] * y[r] for the entries e of each row r, from zeros: the derivative by values.
template <class T, class I, class P> struct RowSamples {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const* more) noexcept {
    const SparseRows<I, P> rows(d, more);
    const T* const x = static_cast<const T*>(a);
    const T* const y = static_cast<const T*>(b);
    T* const to = static_cast<T*>(out);
    const Int width = d[3], apart = d[4] != 0 ? d[1] * width : 0;
    if (clear(static_cast<char*>(out), d[2] * static_cast<Int>(sizeof(T))) != Ok) return Stopped;
    return rows.each([&](Int row, Int begin, Int end) {
      const T* const other = y + row * width;
      BURLAB_ONE_BY_ONE
      for (Int e = begin; e < end; ++e) {
        const T* const from = x + row * apart + static_cast<Int>(rows.columns[e]) * width;
        T sum = 0;
        BURLAB_ONE_BY_ONE
        for (Int j = 0; j < width; ++j) sum += from[j] * other[j];
        to[e] += sum;
      }
    });
  }
};

}  // namespace burlab::kernels
BURLAB_END
