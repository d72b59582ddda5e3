#pragma once
// Unscaled Fourier transforms along rows, of complex and of real numbers. An array of complex numbers is two real
// arrays: the real parts first.
#include "transform.hpp"

BURLAB_BEGIN
namespace burlab::kernels::fourier {

/// Descriptor: rows, their length n, whether the sign of the angles is positive.
template <class T> struct Fft {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int rows = d[0], n = d[1], size = rows * n;
    if (size == 0) return Ok;
    const Transform<T> transform(n);
    if (!transform.ok()) return OutOfMemory;
    T* y = static_cast<T*>(out);
    const T* x = static_cast<const T*>(a);
    const Int re = d[2] ? size : 0, im = size - re;  // the other sign: swap both parts
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < size; k += n) {
      if (stop.after(n)) return Stopped;
      transform.run({x + re + k, x + im + k}, {y + re + k, y + im + k});
    }
    return Ok;
  }
};

/// The parts of a transform of real rows of length n: a transform of half the length if n is even, its memory, and the
/// n-th roots of 1.
template <class T> struct OfReal {
  explicit OfReal(Int n)
      : size(n % 2 ? n : n / 2),
        transform(size),
        memory(4 * size),
        turns(n % 2 ? 0 : 2 * n),
        z{memory.data, memory.data + size},
        roots{turns.data, turns.data + n} {
    const Scratch<double> fine(n % 2 ? 0 : 2 * fine_roots(n));
    whole = transform.ok() && memory.data && turns.data && fine.data;
    if (whole && n % 2 == 0) fill_roots<T>(n, roots, fine.data);
  }
  bool ok() const { return whole; }

  const Int size;
  const Transform<T> transform;
  const Scratch<T> memory, turns;
  const Planar<T> z, roots;
  bool whole;
};

/// Of real rows of length n, the first n / 2 + 1 numbers; the others are their conjugates. Descriptor: rows, n.
template <class T> struct Rfft {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int rows = d[0], n = d[1], kept = n / 2 + 1;
    if (rows * n == 0) return Ok;
    const OfReal<T> of(n);
    if (!of.ok()) return OutOfMemory;
    const Int size = of.size;
    const Planar<T> z = of.z, f = z + 2 * size;
    const T* x = static_cast<const T*>(a);
    T* y = static_cast<T*>(out);
    std::fill_n(z.im, size, T(0));
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < rows; ++k, x += n, y += kept) {
      if (stop.after(n)) return Stopped;
      const Planar<T> to{y, y + rows * kept};
      if (n % 2) {
        of.transform.run({x, z.im}, f);
        std::copy_n(f.re, kept, to.re);
        std::copy_n(f.im, kept, to.im);
      } else {
        BURLAB_LANES
        for (Int j = 0; j < size; ++j) z.re[j] = x[2 * j], z.im[j] = x[2 * j + 1];
        of.transform.run({z.re, z.im}, f);
        unfold(size, f, of.roots, to);
      }
    }
    return Ok;
  }

 private:
  /// The transform of x from that of x[2 j] + i x[2 j + 1]: its even and odd parts are the transforms of x's even and
  /// odd numbers.
  static void unfold(Int h, Planar<T> f, Planar<T> w, Planar<T> to) {
    to.re[0] = f.re[0] + f.im[0], to.im[0] = T(0);
    to.re[h] = f.re[0] - f.im[0], to.im[h] = T(0);
    BURLAB_LANES
    for (Int k = 1; k < h; ++k) {
      const T er = T(0.5) * (f.re[k] + f.re[h - k]), ei = T(0.5) * (f.im[k] - f.im[h - k]);
      const T dr = T(0.5) * (f.im[k] + f.im[h - k]), di = T(-0.5) * (f.re[k] - f.re[h - k]);
      to.re[k] = er + (dr * w.re[k] - di * w.im[k]);
      to.im[k] = ei + (dr * w.im[k] + di * w.re[k]);
    }
  }
};

/// The transpose of `Rfft`: y[j] = real part of the sum of x[k] exp(2 pi i j k / n). Descriptor: rows, n.
template <class T> struct Irfft {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int rows = d[0], n = d[1], kept = n / 2 + 1;
    if (rows * n == 0) return Ok;
    const OfReal<T> of(n);
    if (!of.ok()) return OutOfMemory;
    const Int size = of.size;
    const Planar<T> z = of.z, f = z + 2 * size;
    const T* x = static_cast<const T*>(a);
    T* y = static_cast<T*>(out);
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < rows; ++k, x += kept, y += n) {
      if (stop.after(n)) return Stopped;
      const Planar<const T> from{x, x + rows * kept};
      if (n % 2) {
        mirror(n, from, z);
        of.transform.run({z.im, z.re}, f.swapped());
        std::copy_n(f.re, n, y);
      } else {
        fold(size, from, of.roots, z);
        of.transform.run({z.im, z.re}, f.swapped());
        BURLAB_LANES
        for (Int j = 0; j < size; ++j) y[2 * j] = f.re[j], y[2 * j + 1] = f.im[j];
      }
    }
    return Ok;
  }

 private:
  /// Compute all n numbers: half of each, and half of its conjugate.
  static void mirror(Int n, Planar<const T> x, Planar<T> z) {
    z.re[0] = x.re[0], z.im[0] = T(0);
    BURLAB_LANES
    for (Int k = 1; k <= n / 2; ++k) {
      z.re[k] = z.re[n - k] = T(0.5) * x.re[k];
      z.im[k] = T(0.5) * x.im[k];
      z.im[n - k] = T(-0.5) * x.im[k];
    }
  }

  /// The transpose of `Rfft::unfold`: the even numbers of the result are the real parts, the odd ones the imaginary
  /// parts.
  static void fold(Int h, Planar<const T> x, Planar<T> w, Planar<T> z) {
    z.re[0] = x.re[0] + x.re[h], z.im[0] = x.re[0] - x.re[h];
    BURLAB_LANES
    for (Int k = 1; k < h; ++k) {
      const T er = T(0.5) * (x.re[k] + x.re[h - k]), ei = T(0.5) * (x.im[k] - x.im[h - k]);
      const T dr = T(0.5) * (x.re[k] - x.re[h - k]), di = T(0.5) * (x.im[k] + x.im[h - k]);
      const T ur = dr * w.re[k] + di * w.im[k], ui = di * w.re[k] - dr * w.im[k];  // times the conjugate root
      z.re[k] = er - ui;
      z.im[k] = ei + ur;
    }
  }
};

}  // namespace burlab::kernels::fourier
BURLAB_END
