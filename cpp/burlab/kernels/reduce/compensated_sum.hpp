#pragma once
// Sums that carry their rounding errors along.
#include <type_traits>

#include "../../numbers/packet.hpp"
#include "../kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The type that a sum of T is stored in: float sums in double, unless it must be plain.
template <class T, bool Plain> using Accumulator = std::conditional_t<std::is_same_v<T, float> && !Plain, double, T>;

/// A running sum, plain or with the error of every step in a second number (Neumaier 1974).
template <class T, bool Plain> class CompensatedSum {
 public:
  using A = Accumulator<T, Plain>;
  BURLAB_ANYWHERE explicit CompensatedSum(T start) : sum_(static_cast<A>(start)) {}

  BURLAB_ANYWHERE void add(A part) {
    const A next = sum_ + part;
    if constexpr (!Plain) {
      const bool larger = (sum_ < 0 ? -sum_ : sum_) >= (part < 0 ? -part : part);
      carry_ += larger ? (sum_ - next) + part : (part - next) + sum_;
    }
    sum_ = next;
  }

  BURLAB_ANYWHERE T value() const {
    if constexpr (Plain) return sum_;
    const A total = sum_ + carry_;
    return static_cast<T>(total - total == 0 ? total : sum_);  // infinite sums have a carry of nan
  }

 private:
  A sum_, carry_ = 0;
};

/// The same for N numbers in the lanes of a packet, each to the bit.
template <class A, int N> struct CompensatedLanes {
  using P = Packet<A, N>;
  P sum = {}, carry = {};

  BURLAB_INLINE void add(const P& part) {
    const P next = sum + part;
    const P a = sum < 0 ? -sum : sum, b = part < 0 ? -part : part;
    carry += a >= b ? (sum - next) + part : (part - next) + sum;
    sum = next;
  }
  BURLAB_INLINE A value(int lane) const {
    const A total = sum[lane] + carry[lane];
    return total - total == 0 ? total : sum[lane];
  }
};

}  // namespace burlab::kernels
BURLAB_END
