#pragma once
// The exponential of matrices, by scaling, a rational approximation of degree 13 and squaring: Higham 2005, "The
// scaling and squaring method for the matrix exponential revisited", algorithm 2.3 with m = 13 only.
#include <limits>

#include "lu.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// c = a b, all n by n.
template <class T> inline void multiply(const T* a, const T* b, Int n, T* c) {
  if (calls(lapack<T>().gemm, n, kMaxOwnProduct)) {  // by columns: c' = b' a'
    char as_is = 'N';
    int size = static_cast<int>(n);
    T one = 1, none = 0;
    const OneBlasThread alone(size <= kMaxRowsOfOneThread);
    lapack<T>().gemm(&as_is, &as_is, &size, &size, &size, &one, const_cast<T*>(b), &size, const_cast<T*>(a), &size,
                     &none, c, &size);
    return;
  }
  std::fill_n(c, n * n, T(0));
  BURLAB_ONE_BY_ONE
  for (Int i = 0; i < n; ++i) {
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < n; ++k) subtract_multiple(c + i * n, -a[i * n + k], b + k * n, n);
  }
}

/// to = x * a + y * b + z * c + w * 1, element by element.
template <class T> inline void combine(T* to, Int n, T x, const T* a, T y, const T* b, T z, const T* c, T w) {
  BURLAB_LANES
  for (Int i = 0; i < n * n; ++i) to[i] = x * a[i] + y * b[i] + z * c[i];
  BURLAB_ONE_BY_ONE
  for (Int i = 0; i < n; ++i) to[i * n + i] += w;
}

/// The largest sum of absolute values in a column.
template <class T> inline T one_norm(const T* a, Int n) {
  T largest = 0;
  BURLAB_ONE_BY_ONE
  for (Int j = 0; j < n; ++j) {
    T sum = 0;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < n; ++i) sum += std::abs(a[i * n + j]);
    if (!(sum <= largest)) largest = sum;
    if (!(sum <= std::numeric_limits<T>::max())) return sum;
  }
  return largest;
}

/// One matrix of finite norm. w: memory of 8 n * n + n numbers.
template <class T> BURLAB_NOINLINE void exponential(const T* from, Int n, T norm, T* y, T* w) {
  constexpr double b[] = {64764752532480000.,
                          32382376266240000.,
                          7771770303897600.,
                          1187353796428800.,
                          129060195264000.,
                          10559470521600.,
                          670442572800.,
                          33522128640.,
                          1323241920.,
                          40840800.,
                          960960.,
                          16380.,
                          182.,
                          1.};
  const auto c = [&](int k) { return static_cast<T>(b[k] / b[0]); };  // so that all fit the range of float32
  const Int size = n * n;
  T *const a = w, *const a2 = a + size, *const a4 = a2 + size, *const a6 = a4 + size, *const odd = a6 + size,
           *const even = odd + size, *const f = even + size;
  int squarings = 0;
  BURLAB_ONE_BY_ONE
  for (T left = norm; left > T(5.371920351148152); left /= 2) ++squarings;
  const T scale = std::ldexp(T(1), -squarings);
  BURLAB_LANES
  for (Int i = 0; i < size; ++i) a[i] = from[i] * scale;
  multiply(a, a, n, a2);
  multiply(a2, a2, n, a4);
  multiply(a2, a4, n, a6);
  combine(y, n, c(13), a6, c(11), a4, c(9), a2, T(0));
  multiply(a6, y, n, f);
  combine(y, n, c(7), a6, c(5), a4, c(3), a2, c(1));
  BURLAB_LANES
  for (Int i = 0; i < size; ++i) y[i] += f[i];
  multiply(a, y, n, odd);
  combine(y, n, c(12), a6, c(10), a4, c(8), a2, T(0));
  multiply(a6, y, n, f);
  combine(even, n, c(6), a6, c(4), a4, c(2), a2, c(0));
  BURLAB_LANES
  for (Int i = 0; i < size; ++i) {
    const T e = even[i] + f[i], o = odd[i];
    even[i] = e - o;
    y[i] = e + o;
  }
  copy_transposed(even, n, n, f);
  if (calls(lapack<T>().getrf, n, kMaxOwnLu)) eliminate_by_lapack(f, n, f + size);
  else eliminate(f, n, f + size);
  solve_by_factors(f, n, y, n, false);
  BURLAB_ONE_BY_ONE
  for (int k = 0; k < squarings; ++k) {
    std::copy_n(y, size, a);
    multiply(a, a, n, y);
  }
}

/// Exponentials of square matrices; nan if a norm is not finite.
template <class T> struct Expm {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    const Int count = d[0], n = d[1];
    const Scratch<T> spare(8 * n * n + n);
    if (spare.data == nullptr) return OutOfMemory;
    StopCheck stop;
    BURLAB_ONE_BY_ONE
    for (Int i = 0; i < count; ++i) {
      if (stop.after(16 * n * n * n)) return Stopped;
      const T* from = static_cast<const T*>(a) + i * n * n;
      T* to = static_cast<T*>(out) + i * n * n;
      const T norm = one_norm(from, n);
      if (norm <= std::numeric_limits<T>::max()) exponential(from, n, norm, to, spare.data);
      else std::fill_n(to, n * n, std::numeric_limits<T>::quiet_NaN());
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
