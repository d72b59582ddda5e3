#pragma once
// The discrete Fourier transform of complex rows of any length: y[k] = sum of x[j] exp(-2 pi i j k / n).
//
// Lengths with only small prime factors are transformed in passes. Others become a convolution with a chirp, whose
// length has small factors: Bluestein 1970, A linear filtering approach to the computation of discrete Fourier
// transform.
#include <algorithm>

#include "passes.hpp"

BURLAB_BEGIN
namespace burlab::kernels::fourier {

/// The factors of a length, in the order of its passes: 4 before 2, then odd primes.
struct Factors {
  Int factor[64];
  int count = 0;
  Int largest = 1;

  explicit Factors(Int n) {
    BURLAB_ONE_BY_ONE
    for (; n > 0 && n % 4 == 0; n /= 4) add(4);
    BURLAB_ONE_BY_ONE
    for (Int p = 2; p * p <= n; p += 1 + (p > 2)) BURLAB_ONE_BY_ONE
    for (; n % p == 0; n /= p) add(p);
    if (n > 1) add(n);
  }

 private:
  void add(Int p) {
    factor[count++] = p;
    largest = p > largest ? p : largest;
  }
};

/// The transform of rows whose length has small factors.
template <class T> class Passes {
 public:
  static constexpr Int kLargest = 23;  // the largest factor of a pass

  explicit Passes(Int n) : n_(n), factors_(n), memory_(4 * n), fine_(2 * fine_roots(n)) {
    if (ok()) fill_roots<T>(n, roots(), fine_.data);
  }

  bool ok() const { return memory_.data != nullptr && fine_.data != nullptr; }

  /// x and y do not overlap.
  void run(Planar<const T> x, Planar<T> y) const {
    const Planar<T> spare{memory_.data + 2 * n_, memory_.data + 3 * n_};
    Int s = 1;
    if (factors_.count == 0 && n_ == 1) y.re[0] = x.re[0], y.im[0] = x.im[0];
    BURLAB_ONE_BY_ONE
    for (int k = 0; k < factors_.count; ++k) {
      const Int factor = factors_.factor[k];
      const Planar<T> to = (factors_.count - k) % 2 ? y : spare;  // the last pass writes into y
      one(factor, n_ / s / factor, s, x, to);
      x = {to.re, to.im};
      s *= factor;
    }
  }

 private:
  Planar<T> roots() const { return {memory_.data, memory_.data + n_}; }

  void one(Int factor, Int m, Int s, Planar<const T> x, Planar<T> y) const {
    switch (factor) {
      case 2:
        return s == 1 ? first_pass<2>(m, x, y, roots()) : pass<2>(m, s, x, y, roots());
      case 3:
        return s == 1 ? first_pass<3>(m, x, y, roots()) : pass<3>(m, s, x, y, roots());
      case 4:
        return s == 1 ? first_pass<4>(m, x, y, roots()) : pass<4>(m, s, x, y, roots());
      case 5:
        return s == 1 ? first_pass<5>(m, x, y, roots()) : pass<5>(m, s, x, y, roots());
      default:
        plain_pass(factor, m, s, x, y, roots());
    }
  }

  Int n_;
  Factors factors_;
  Scratch<T> memory_;  // roots, and the numbers between two passes
  Scratch<double> fine_;
};

/// The smallest 2^k, 3 * 2^k or 5 * 2^k that is at least n.
inline Int smooth_above(Int n) {
  Int best = 1;
  BURLAB_ONE_BY_ONE
  while (best < n) best *= 2;
  BURLAB_ONE_BY_ONE
  for (Int odd : {Int(3), Int(5)}) {
    Int size = odd;
    BURLAB_ONE_BY_ONE
    while (size < n) size *= 2;
    best = std::min(best, size);
  }
  return best;
}

/// The transform of rows of any length. In jk = (j^2 + k^2 - (k - j)^2) / 2 the last term is a convolution.
template <class T> class Transform {
 public:
  explicit Transform(Int n)
      : n_(n),
        chirps_(Factors(n).largest > Passes<T>::kLargest),
        length_(chirps_ ? smooth_above(2 * n - 1) : n),
        passes_(length_),
        memory_(chirps_ ? 6 * length_ + 2 * n : 0) {
    if (chirps_ && ok()) make_chirp();
  }

  bool ok() const { return passes_.ok() && memory_.data != nullptr; }

  /// x and y do not overlap; for n times the inverse transform, swap real and imaginary parts of both.
  void run(Planar<const T> x, Planar<T> y) const {
    if (!chirps_) return passes_.run(x, y);
    const Int n = n_, length = length_;
    const Planar<T> c = chirp(), a = part(1), b = part(2), f = part(0);
    BURLAB_LANES
    for (Int j = 0; j < n; ++j) {
      a.re[j] = x.re[j] * c.re[j] - x.im[j] * c.im[j];
      a.im[j] = x.re[j] * c.im[j] + x.im[j] * c.re[j];
    }
    std::fill(a.re + n, a.re + length, T(0));
    std::fill(a.im + n, a.im + length, T(0));
    passes_.run({a.re, a.im}, b);
    BURLAB_LANES
    for (Int j = 0; j < length; ++j) {
      const T re = b.re[j] * f.re[j] - b.im[j] * f.im[j];
      b.im[j] = b.re[j] * f.im[j] + b.im[j] * f.re[j];
      b.re[j] = re;
    }
    passes_.run({b.im, b.re}, a.swapped());
    const T scale = T(1) / static_cast<T>(length);
    BURLAB_LANES
    for (Int j = 0; j < n; ++j) {
      y.re[j] = scale * (a.re[j] * c.re[j] - a.im[j] * c.im[j]);
      y.im[j] = scale * (a.re[j] * c.im[j] + a.im[j] * c.re[j]);
    }
  }

 private:
  Planar<T> part(Int k) const { return {memory_.data + 2 * k * length_, memory_.data + (2 * k + 1) * length_}; }
  Planar<T> chirp() const { return {memory_.data + 6 * length_, memory_.data + 6 * length_ + n_}; }

  /// exp(-pi i j^2 / n), and the transform of its conjugate on both sides of 0.
  void make_chirp() const {
    const Planar<T> c = chirp(), a = part(1), f = part(0);
    std::fill(a.re, a.re + length_, T(0));
    std::fill(a.im, a.im + length_, T(0));
    Int square = 0;  // j^2 modulo 2 n
    BURLAB_ONE_BY_ONE
    for (Int j = 0; j < n_; ++j) {
      const Root root = root_of_unity(square, 2 * n_);
      c.re[j] = static_cast<T>(root.re);
      c.im[j] = static_cast<T>(root.im);
      const Int other = j == 0 ? 0 : length_ - j;
      a.re[j] = a.re[other] = c.re[j];
      a.im[j] = a.im[other] = -c.im[j];
      square = (square + 2 * j + 1) % (2 * n_);
    }
    passes_.run({a.re, a.im}, f);
  }

  Int n_;
  bool chirps_;
  Int length_;
  Passes<T> passes_;
  Scratch<T> memory_;  // the transformed chirp, two rows of work, the chirp
};

}  // namespace burlab::kernels::fourier
BURLAB_END
