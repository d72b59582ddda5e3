#pragma once
// Roots of unity, exp(-2 pi i j / n): about 2 sqrt(n) are computed exactly, the others as products of two.
#include <cmath>

#include "../scratch.hpp"

BURLAB_BEGIN
namespace burlab::kernels::fourier {

/// Real parts, and imaginary ones.
template <class T> struct Planar {
  T *re, *im;

  BURLAB_INLINE Planar operator+(Int k) const { return {re + k, im + k}; }
  BURLAB_INLINE Planar swapped() const { return {im, re}; }
};

struct Root {
  double re, im;
};

/// One root, j from 0 to n - 1. The angle is taken from the nearest multiple of a quarter, so it is below pi / 4.
inline Root root_of_unity(Int j, Int n) {
  const Int quarter = (8 * j + n) / (2 * n);
  const double angle = 1.5707963267948966 * static_cast<double>(4 * j - quarter * n) / static_cast<double>(n);
  const double c = std::cos(angle), s = -std::sin(angle);
  switch (quarter & 3) {
    case 0:
      return {c, s};
    case 1:
      return {s, -c};
    case 2:
      return {-c, -s};
    default:
      return {-s, c};
  }
}

/// The number of fine roots, which are exact: every root is the product of a fine one and a coarse one.
inline Int fine_roots(Int n) {
  Int count = 1;
  BURLAB_ONE_BY_ONE
  while (count * count < n) count *= 2;
  return count;
}

/// All n roots. fine: memory of 2 fine_roots(n) numbers.
template <class T> inline void fill_roots(Int n, Planar<T> to, double* fine) {
  const Int count = fine_roots(n);
  double *re = fine, *im = fine + count;
  BURLAB_ONE_BY_ONE
  for (Int j = 0; j < count; ++j) {
    const Root root = root_of_unity(j % n, n);
    re[j] = root.re;
    im[j] = root.im;
  }
  BURLAB_ONE_BY_ONE
  for (Int begin = 0; begin < n; begin += count) {
    const Root coarse = root_of_unity(begin, n);
    const Int size = count < n - begin ? count : n - begin;
    T *x = to.re + begin, *y = to.im + begin;
    BURLAB_LANES
    for (Int j = 0; j < size; ++j) {
      x[j] = static_cast<T>(coarse.re * re[j] - coarse.im * im[j]);
      y[j] = static_cast<T>(coarse.re * im[j] + coarse.im * re[j]);
    }
  }
}

}  // namespace burlab::kernels::fourier
BURLAB_END
