#pragma once
// One pass of the Fourier transform by Stockham's algorithm, decimation in frequency: n / s numbers of a row are
// R rows of m, and their transforms of length R are adjacent in the result, so that no pass reorders numbers. Van Loan
// 1992, Computational frameworks for the fast Fourier transform, section 1.7.
#include "roots.hpp"

BURLAB_BEGIN
namespace burlab::kernels::fourier {

/// The transform of R numbers, in place.
template <int R, class T> BURLAB_INLINE void butterfly(T (&re)[R], T (&im)[R]) {
  if constexpr (R == 2) {
    const T x = re[0] - re[1], y = im[0] - im[1];
    re[0] += re[1], im[0] += im[1];
    re[1] = x, im[1] = y;
  } else if constexpr (R == 3) {
    constexpr T kSin = T(0.866025403784438646763723170752936183L);
    const T sx = re[1] + re[2], sy = im[1] + im[2];
    const T dx = kSin * (re[1] - re[2]), dy = kSin * (im[1] - im[2]);
    const T x = re[0] - T(0.5) * sx, y = im[0] - T(0.5) * sy;
    re[0] += sx, im[0] += sy;
    re[1] = x + dy, im[1] = y - dx;
    re[2] = x - dy, im[2] = y + dx;
  } else if constexpr (R == 4) {
    const T ax = re[0] + re[2], ay = im[0] + im[2], bx = re[0] - re[2], by = im[0] - im[2];
    const T cx = re[1] + re[3], cy = im[1] + im[3], dx = re[1] - re[3], dy = im[1] - im[3];
    re[0] = ax + cx, im[0] = ay + cy;
    re[1] = bx + dy, im[1] = by - dx;
    re[2] = ax - cx, im[2] = ay - cy;
    re[3] = bx - dy, im[3] = by + dx;
  } else {
    static_assert(R == 5);
    constexpr T kCos1 = T(0.309016994374947424102293417182819059L), kSin1 = T(0.951056516295153572116439333379382143L);
    constexpr T kCos2 = T(-0.809016994374947424102293417182819059L), kSin2 = T(0.587785252292473129168705954639072769L);
    const T ax = re[1] + re[4], ay = im[1] + im[4], bx = re[1] - re[4], by = im[1] - im[4];
    const T cx = re[2] + re[3], cy = im[2] + im[3], dx = re[2] - re[3], dy = im[2] - im[3];
    const T x1 = re[0] + kCos1 * ax + kCos2 * cx, y1 = im[0] + kCos1 * ay + kCos2 * cy;
    const T x2 = re[0] + kCos2 * ax + kCos1 * cx, y2 = im[0] + kCos2 * ay + kCos1 * cy;
    const T u1 = kSin1 * bx + kSin2 * dx, v1 = kSin1 * by + kSin2 * dy;
    const T u2 = kSin2 * bx - kSin1 * dx, v2 = kSin2 * by - kSin1 * dy;
    re[0] += ax + cx, im[0] += ay + cy;
    re[1] = x1 + v1, im[1] = y1 - u1;
    re[4] = x1 - v1, im[4] = y1 + u1;
    re[2] = x2 + v2, im[2] = y2 - u2;
    re[3] = x2 - v2, im[3] = y2 + u2;
  }
}

/// Multiply all but the first of R numbers by the powers of a root.
template <int R, class T> BURLAB_INLINE void rotate(T (&re)[R], T (&im)[R], T c, T s) {
  T a = c, b = s;
  BURLAB_UNROLL
  for (int k = 1; k < R; ++k) {
    const T x = re[k] * a - im[k] * b;
    im[k] = re[k] * b + im[k] * a;
    re[k] = x;
    const T next = a * c - b * s;
    b = a * s + b * c;
    a = next;
  }
}

/// The first pass, s = 1, of n = R m numbers: lanes are the m places.
template <int R, class T> BURLAB_NOINLINE void first_pass(Int m, Planar<const T> x, Planar<T> y, Planar<T> roots) {
  const T *xr = x.re, *xi = x.im, *c = roots.re, *s = roots.im;
  T *yr = y.re, *yi = y.im;
  BURLAB_LANES
  for (Int p = 0; p < m; ++p) {
    T re[R], im[R];
    BURLAB_UNROLL
    for (int k = 0; k < R; ++k) re[k] = xr[p + m * k], im[k] = xi[p + m * k];
    butterfly(re, im);
    rotate(re, im, c[p], s[p]);
    BURLAB_UNROLL
    for (int k = 0; k < R; ++k) yr[R * p + k] = re[k], yi[R * p + k] = im[k];
  }
}

/// A later pass, of s adjacent transforms, which are the lanes; roots: all of n = s R m.
template <int R, class T>
BURLAB_NOINLINE void pass(Int m, Int s, Planar<const T> x, Planar<T> y, Planar<T> roots) {
  const Int step = s * m;
  BURLAB_ONE_BY_ONE
  for (Int p = 0; p < m; ++p) {
    T wr[R], wi[R];
    BURLAB_UNROLL
    for (int k = 1; k < R; ++k) wr[k] = roots.re[k * p * s], wi[k] = roots.im[k * p * s];
    const T *xr = x.re + s * p, *xi = x.im + s * p;
    T *yr = y.re + s * R * p, *yi = y.im + s * R * p;
    BURLAB_LANES
    for (Int q = 0; q < s; ++q) {
      T re[R], im[R];
      BURLAB_UNROLL
      for (int k = 0; k < R; ++k) re[k] = xr[q + step * k], im[k] = xi[q + step * k];
      butterfly(re, im);
      yr[q] = re[0], yi[q] = im[0];
      BURLAB_UNROLL
      for (int k = 1; k < R; ++k) {
        yr[q + s * k] = re[k] * wr[k] - im[k] * wi[k];
        yi[q + s * k] = re[k] * wi[k] + im[k] * wr[k];
      }
    }
  }
}

/// A pass for any factor R: R^2 products for each transform of that length.
template <class T>
BURLAB_NOINLINE void plain_pass(Int R, Int m, Int s, Planar<const T> x, Planar<T> y, Planar<T> roots) {
  const Int step = s * m, n = step * R;
  BURLAB_ONE_BY_ONE
  for (Int p = 0; p < m; ++p) {
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < R; ++k) {
      T *yr = y.re + s * (R * p + k), *yi = y.im + s * (R * p + k);
      BURLAB_ONE_BY_ONE
      for (Int j = 0; j < R; ++j) {
        const Int at = (j * k % R * step + k * p * s) % n;
        const T c = roots.re[at], d = roots.im[at];
        const T *xr = x.re + s * p + step * j, *xi = x.im + s * p + step * j;
        BURLAB_LANES
        for (Int q = 0; q < s; ++q) {
          yr[q] = (j > 0 ? yr[q] : T(0)) + (xr[q] * c - xi[q] * d);
          yi[q] = (j > 0 ? yi[q] : T(0)) + (xr[q] * d + xi[q] * c);
        }
      }
    }
  }
}

}  // namespace burlab::kernels::fourier
BURLAB_END
