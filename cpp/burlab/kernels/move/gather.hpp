#pragma once
// Rows selected by an integer index, and the transpose: rows added, or written, at the index. All arrays dense.
// Descriptor of all: number of batches, rows of the table in each, indices in each, elements of a row.
#include <cstring>
#include <type_traits>

#include "layout.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Return true if all of these indices name one of the rows.
template <class I> BURLAB_INLINE bool are_inside(const I* index, Int count, Int rows) {
  using Unsigned = std::make_unsigned_t<I>;  // in which negative ones are the largest
  Unsigned largest = 0;
  BURLAB_LANES
  for (Int i = 0; i < count; ++i) {
    const Unsigned next = static_cast<Unsigned>(index[i]);
    largest = largest < next ? next : largest;
  }
  return count == 0 || static_cast<std::uint64_t>(largest) < static_cast<std::uint64_t>(rows);
}

/// Calls work(begin, end) for each block of indices in order, after checking that all of them are in range.
template <class I, class Work> BURLAB_INLINE Status by_lots(const I* index, Int count, Int rows, const Work& work) {
  constexpr Int kLot = 4096;
  StopCheck stop;
  BURLAB_ONE_BY_ONE
  for (Int begin = 0; begin < count; begin += kLot) {
    const Int end = count - begin < kLot ? count : begin + kLot;
    if (!are_inside(index + begin, end - begin, rows)) return IndexOutOfRange;
    if (stop.after(end - begin)) return Stopped;
    work(begin, end);
  }
  return Ok;
}

/// out[b, i] = a[b, index[b, i]]. T: an unsigned integer of the element's size; I: the dtype of the index.
template <class T, class I> struct Gather {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const*) noexcept {
    const Int batches = d[0], rows = d[1], count = d[2], width = d[3];
    T* y = static_cast<T*>(out);
    const T* table = static_cast<const T*>(a);
    const I* index = static_cast<const I*>(b);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int batch = 0; batch < batches; ++batch, table += rows * width) {
      if (width == 1) {
        const Status status = by_lots(index, count, rows, [=](Int begin, Int end) {
          BURLAB_LANES
          for (Int i = begin; i < end; ++i) y[i] = table[index[i]];
        });
        if (status != Ok) return status;
        y += count, index += count;
        continue;
      }
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < count; ++i, y += width) {
        const Int row = static_cast<Int>(*index++);
        if (row < 0 || row >= rows) return IndexOutOfRange;
        if (stop.after(width)) return Stopped;
        std::memcpy(y, table + row * width, static_cast<std::size_t>(width) * sizeof(T));
      }
    }
    return Ok;
  }
};

/// out[b, index[b, i]] += a[b, i], from zeros, or `Accumulate`: from what is there, in the order of i.
template <class T, class I, bool Accumulate = false> struct Scatter {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const*) noexcept {
    const Int batches = d[0], rows = d[1], count = d[2], width = d[3];
    T* table = static_cast<T*>(out);
    const T* x = static_cast<const T*>(a);
    const I* index = static_cast<const I*>(b);
    StopCheck stop;
    const Int size = batches * rows * width;
    if (!Accumulate && clear(static_cast<char*>(out), size * static_cast<Int>(sizeof(T))) != Ok) return Stopped;
    BURLAB_ONE_BY_ONE
    for (Int batch = 0; batch < batches; ++batch, table += rows * width) {
      if (width == 1) {
        const Status status = by_lots(index, count, rows, [=](Int begin, Int end) {
          BURLAB_ONE_BY_ONE
          for (Int i = begin; i < end; ++i) table[index[i]] += x[i];
        });
        if (status != Ok) return status;
        x += count, index += count;
        continue;
      }
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < count; ++i, x += width) {
        const Int row = static_cast<Int>(*index++);
        if (row < 0 || row >= rows) return IndexOutOfRange;
        if (stop.after(width)) return Stopped;
        BURLAB_LANES
        for (Int j = 0; j < width; ++j) table[row * width + j] += x[j];
      }
    }
    return Ok;
  }
};

/// out[b, index[b, i]] = a[b, i], in the order of i; the other rows stay. T: as for `Gather`.
template <class T, class I> struct Put {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const*) noexcept {
    const Int batches = d[0], rows = d[1], count = d[2], width = d[3];
    T* table = static_cast<T*>(out);
    const T* x = static_cast<const T*>(a);
    const I* index = static_cast<const I*>(b);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int batch = 0; batch < batches; ++batch, table += rows * width) {
      BURLAB_ONE_BY_ONE
      for (Int i = 0; i < count; ++i, x += width) {
        const Int row = static_cast<Int>(*index++);
        if (row < 0 || row >= rows) return IndexOutOfRange;
        if (stop.after(width)) return Stopped;
        std::memcpy(table + row * width, x, static_cast<std::size_t>(width) * sizeof(T));
      }
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
