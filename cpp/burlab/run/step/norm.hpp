#pragma once
// Euclidean norms for the record of a run: in 16 lanes of double, in an order that depends only on the length. Squares
// of floats are added in blocks of 128, as floats where these can hold them, with a relative error of at most 1e-6.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "../../numbers/packet.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The squares of numbers, added up in 16 lanes.
struct Squares {
  Packet<double, 16> lanes = {};
  double rest = 0;

  BURLAB_INLINE void add(const auto& packet) {
    const auto wide = __builtin_convertvector(packet, Packet<double, 16>);
    lanes += wide * wide;
  }
  BURLAB_INLINE void add_one(auto x) { rest += static_cast<double>(x) * static_cast<double>(x); }
  BURLAB_INLINE double total() const { return sum_lanes<double>(lanes) + rest; }
  BURLAB_INLINE void clear() {
    lanes = Packet<double, 16>{};
    rest = 0;
  }
  Squares& operator+=(const Squares& others) {
    lanes += others.lanes;
    rest += others.rest;
    return *this;
  }
};

/// Return true if a sum of squares is correct: no square overflowed, and underflow is negligible.
BURLAB_INLINE bool holds(double squares) { return squares > 1e-280 && squares <= std::numeric_limits<double>::max(); }

/// The norm of a - b, or of a if b is nullptr. Its squares may exceed the range of doubles: numbers are divided by a
/// power of 2 as large as the largest one.
template <class T> BURLAB_NOINLINE double scaled_norm(const T* a, const T* b, std::int64_t n) {
  const auto entry = [&](std::int64_t i) { return static_cast<double>(b == nullptr ? a[i] : a[i] - b[i]); };
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double size = std::abs(entry(i));
    if (!(size <= largest)) largest = size;  // nan stays
    if (!std::isfinite(size)) break;
  }
  if (largest == 0 || !std::isfinite(largest)) return largest;
  const int exponent = std::ilogb(largest);
  double squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double part = std::scalbn(entry(i), -exponent);
    squares += part * part;
  }
  return std::scalbn(std::sqrt(squares), exponent);
}

/// The norm of a - b, or of a if b is nullptr, given the sum of its squares.
template <class T> BURLAB_INLINE double norm_of(double squares, const T* a, const T* b, std::int64_t n) {
  return BURLAB_LIKELY(holds(squares)) ? std::sqrt(squares) : scaled_norm(a, b, n);
}

/// The norms of a gradient and of a step.
struct Norms {
  Squares gradient, step;

  BURLAB_INLINE void clear() {
    gradient.clear();
    step.clear();
  }
  Norms& operator+=(const Norms& others) {
    gradient += others.gradient;
    step += others.step;
    return *this;
  }
};

/// 128 floats whose squares are added as floats, which is faster. `add` returns true if their sums are accurate enough.
struct Block128 {
  Packet<float, 16> gradient, step;

  BURLAB_INLINE bool add(const float* g, const float* after, const float* before) {
    Packet<float, 16> sums[4] = {}, x, y;  // two of each: an addition waits for the one before
    for (std::int64_t i = 0; i < 128; i += 32) {
      BURLAB_UNROLL
      for (std::int64_t k = 0; k < 2; ++k) {
        load(x, g + i + 16 * k);
        sums[k] += x * x;
        load(x, after + i + 16 * k);
        load(y, before + i + 16 * k);
        x -= y;
        sums[2 + k] += x * x;
      }
    }
    gradient = sums[0] + sums[1];
    step = sums[2] + sums[3];
    // Underflow is negligible in a sum of this size.
    const auto near = [](const Packet<float, 16>& x) {
      const float sum = sum_lanes<float>(x);
      return sum > 1e-20f && sum < 1e30f;
    };
    return near(gradient) && near(step);
  }
};

/// Add n numbers to the norms of g and of after - before; every n but the last is a multiple of 128.
template <class T> BURLAB_NOINLINE void add(Norms& norms, const T* g, const T* after, const T* before, std::int64_t n) {
  Squares gradient = norms.gradient, step = norms.step;
  std::int64_t i = 0;
  for (; i + 128 <= n; i += 128) {
    if constexpr (std::is_same_v<T, float>) {
      Block128 block;
      if (BURLAB_LIKELY(block.add(g + i, after + i, before + i))) {
        gradient.lanes += __builtin_convertvector(block.gradient, Packet<double, 16>);
        step.lanes += __builtin_convertvector(block.step, Packet<double, 16>);
        continue;
      }
    }
    for (std::int64_t k = i; k < i + 128; k += 16) {
      Packet<T, 16> x, y;
      load(x, g + k);
      gradient.add(x);
      load(x, after + k);
      load(y, before + k);
      x -= y;
      step.add(x);
    }
  }
  for (; i < n; ++i) {
    gradient.add_one(g[i]);
    step.add_one(after[i] - before[i]);
  }
  norms = {gradient, step};
}

/// 128 floats whose squares, or those of a - b, are added as floats if these hold them accurately enough.
template <bool differs> BURLAB_INLINE bool add_block(Squares& squares, const float* a, const float* b) {
  Packet<float, 16> sums[2] = {}, x, y;
  for (std::int64_t i = 0; i < 128; i += 32) {
    BURLAB_UNROLL
    for (std::int64_t k = 0; k < 2; ++k) {
      load(x, a + i + 16 * k);
      if constexpr (differs) {
        load(y, b + i + 16 * k);
        x -= y;
      }
      sums[k] += x * x;
    }
  }
  const Packet<float, 16> both = sums[0] + sums[1];
  const float sum = sum_lanes<float>(both);
  if (!(sum > 1e-20f && sum < 1e30f)) return false;
  squares.lanes += __builtin_convertvector(both, Packet<double, 16>);
  return true;
}

/// Add the squares of n numbers, or of their differences from b; every n but the last is a multiple of 128.
template <bool differs, class T>
BURLAB_NOINLINE void add_squares(Squares& squares, const T* a, const T* b, std::int64_t n) {
  Squares sum = squares;
  std::int64_t i = 0;
  for (; i + 128 <= n; i += 128) {
    if constexpr (std::is_same_v<T, float>)
      if (BURLAB_LIKELY(add_block<differs>(sum, a + i, b + i))) continue;
    for (std::int64_t k = i; k < i + 128; k += 16) {
      Packet<T, 16> x, y;
      load(x, a + k);
      if constexpr (differs) {
        load(y, b + k);
        x -= y;
      }
      sum.add(x);
    }
  }
  for (; i < n; ++i) sum.add_one(differs ? a[i] - b[i] : a[i]);
  squares = sum;
}

/// The norm of a - b in pieces, of which each is available only once: squares that leave the range of doubles are
/// added as norms.
class PiecewiseNorm {
 public:
  void clear() {
    squares_.clear();
    far_ = 0;
  }
  /// Every n but the last is a multiple of 128.
  template <class T> void add(const T* a, const T* b, std::int64_t n) {
    Squares next = squares_;
    add_squares<true>(next, a, b, n);
    if (BURLAB_LIKELY(holds(next.total()))) squares_ = next;
    else if (std::memcmp(a, b, static_cast<std::size_t>(n) * sizeof(T)) != 0)
      far_ = std::hypot(far_, scaled_norm(a, b, n));
  }
  PiecewiseNorm& operator+=(const PiecewiseNorm& other) {
    Squares next = squares_;
    next += other.squares_;
    if (BURLAB_LIKELY(holds(next.total()) || other.squares_.total() == 0)) squares_ = next;
    else far_ = std::hypot(far_, std::sqrt(other.squares_.total()));
    far_ = other.far_ == 0 ? far_ : std::hypot(far_, other.far_);
    return *this;
  }
  BURLAB_NOINLINE double total() const {
    const double near = std::sqrt(squares_.total());
    return far_ == 0 ? near : std::hypot(near, far_);
  }

 private:
  Squares squares_;
  double far_ = 0;
};

}  // namespace burlab::run
BURLAB_END
