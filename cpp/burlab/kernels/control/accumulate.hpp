#pragma once
// Scans whose body is one operation of the carry and an element, such as running products and extremes: a loop without
// a call for each element.
#include "../../numbers/lane.hpp"
#include "../../ops/arithmetic.hpp"
#include "../../ops/choice.hpp"
#include "scan.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Numbers that elements consist of, and where they lie: one row per iteration.
template <class Op, class T> struct Accumulation {
  const T* elements;
  T *stack, *trail;  // null where they are not stored
  Int width, step;   // of one iteration; the step is negative if the scan starts at the last element
  T* carry;          // the last carry in the end

  BURLAB_INLINE void number(Int begin, Int end) const {
    T total = *carry;
    BURLAB_ONE_BY_ONE
    for (Int i = begin; i < end; ++i) {
      if (trail != nullptr) trail[i * step] = total;
      total = Op::primal(total, elements[i * step]);
      if (stack != nullptr) stack[i * step] = total;
    }
    *carry = total;
  }
  BURLAB_INLINE void row(Int i) const {
    const T* x = elements + i * step;
    if (trail != nullptr) std::memcpy(trail + i * step, carry, static_cast<std::size_t>(width) * sizeof(T));
    BURLAB_LANES
    for (Int k = 0; k < width; ++k) carry[k] = Op::primal(carry[k], x[k]);
    if (stack != nullptr) std::memcpy(stack + i * step, carry, static_cast<std::size_t>(width) * sizeof(T));
  }
};

/// The next carry and what is stacked are Op(carry, element). Descriptor and memory: as of `run_scan`.
template <class Op, class T> Int run_accumulate(const Int* d, void* const* out, const void* const* in, char*) noexcept {
  const Scan scan(d);
  const Int width = scan.bytes[0] / static_cast<Int>(sizeof(T)), last = scan.length - 1;
  const Int first = scan.reverse && last > 0 ? last * width : 0;
  T *const stacked = static_cast<T*>(out[1]), *const trail = static_cast<T*>(out[2]);
  const Accumulation<Op, T> rows{static_cast<const T*>(in[1]) + first,
                                 scan.strides[0] != 0 ? stacked + first : nullptr,
                                 scan.stacks[0] != 0 ? trail + first : nullptr,
                                 width,
                                 scan.reverse ? -width : width,
                                 static_cast<T*>(out[0])};
  std::memcpy(rows.carry, in[0], static_cast<std::size_t>(width) * sizeof(T));
  StopCheck stop;
  BURLAB_ONE_BY_ONE
  for (Int i = 0; i < scan.length;) {
    const Int end = width == 1 ? end_of_chunk(i, scan.length) : i + 1;
    if (stop.after((end - i) * width)) return Stopped;
    if (width == 1) rows.number(i, end);
    else rows.row(i);
    i = end;
  }
  return Ok;
}

}  // namespace burlab::kernels
BURLAB_END
