#pragma once
// What steps do to an entry of x that they do not touch: a map of one number, applied many times at once.
#include <cmath>
#include <cstdint>

#include "../../numbers/simd.hpp"
#include "../abi/lazy.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The numbers that decide the map. They are stored in the state of a run.
struct Rates {
  double lr = 0, l1 = 0, l2 = 0;

  static Rates of(const Lazy& lazy, const double* hyper) {
    const auto at = [hyper](std::int64_t k) { return k < 0 ? 0.0 : hyper[k]; };
    return {at(lazy.lr), at(lazy.l1), at(lazy.l2)};
  }
  bool operator==(const Rates&) const = default;
};

/// x -> shrink((1 - lr weight) x - lr m, lr l1) / (1 + lr l2). Where shrink changes no sign it is x -> a x - b m', with
/// m' = m + l1 or m - l1, so that n of them are x -> a^n x - b m' (1 + a + ... + a^(n-1)).
class Drift {
 public:
  /// memory: for 2 (most + 1) numbers; nullptr: `after` is not called.
  Drift(double* memory, std::int64_t most)
      : powers_(memory), sums_(memory == nullptr ? nullptr : memory + most + 1), most_(most) {}

  /// How many steps `after` does at most.
  std::int64_t most() const { return most_; }

  void set(const Rates& rates, double weight) {
    if (known_ && rates == rates_) return;
    known_ = true;
    rates_ = rates;
    keep_ = 1 - rates.lr * weight;
    scale_ = 1 / (1 + rates.lr * rates.l2);
    threshold_ = rates.lr * rates.l1;
    a_ = keep_ * scale_;
    b_ = rates.lr * scale_;
    if (powers_ == nullptr) return;
    powers_[0] = 1;
    sums_[0] = 0;
    for (std::int64_t n = 0; n < most_; ++n) {
      powers_[n + 1] = powers_[n] * a_;
      sums_[n + 1] = sums_[n] * a_ + 1;
    }
  }

  /// One step. nan stays nan.
  BURLAB_INLINE double once(double x, double m) const {
    const double y = keep_ * x - rates_.lr * m;
    if (threshold_ == 0) return y * scale_;
    return y > threshold_ ? (y - threshold_) * scale_ : y < -threshold_ ? (y + threshold_) * scale_ : y - y;
  }

  /// n steps.
  BURLAB_INLINE double after(double x, double m, std::int64_t n) const {
    if (n == 0) return x;
    return rates_.l1 == 0 ? affine(x, m, n) : shrunk(x, m, n);
  }

  /// a x - b m in one step, without l1.
  double keeps() const { return a_; }
  double pulls() const { return b_; }

 private:
  BURLAB_INLINE double affine(double x, double m, std::int64_t n) const { return powers_[n] * x - b_ * m * sums_[n]; }

  /// Numbers of one sign rise or fall, so those of x's sign come first. All of these steps are done at once.
  BURLAB_NOINLINE double shrunk(double x, double m, std::int64_t n) const {
    while (n > 0) {
      if (x == 0 && std::abs(m) <= rates_.l1) return x;
      const double drift = x > 0 ? m + rates_.l1 : m - rates_.l1;
      const auto stays = [&](std::int64_t k) { return x > 0 ? affine(x, drift, k) > 0 : affine(x, drift, k) < 0; };
      std::int64_t least = 0, most = n;  // the sign is the same after `least` steps, and another one after `most`
      if (a_ > 0 && x != 0 && stays(n)) return affine(x, drift, n);
      while (a_ > 0 && x != 0 && most - least > 1) {
        const std::int64_t middle = least + (most - least) / 2;
        (stays(middle) ? least : most) = middle;
      }
      x = once(least == 0 ? x : affine(x, drift, least), m);
      n -= least + 1;
    }
    return x;
  }

  double *const powers_, *const sums_;
  const std::int64_t most_;
  Rates rates_;
  bool known_ = false;
  double keep_ = 1, scale_ = 1, threshold_ = 0, a_ = 1, b_ = 0;
};

}  // namespace burlab::run
BURLAB_END
