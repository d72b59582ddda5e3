#pragma once
// Taylor polynomials in one or two variables, in long double: functions that are computed with them give derivatives by
// their parameters, of every order up to `Jet::kOrder` in each (Griewank and Walther 2008, chapter 13).
#include <cmath>

#include "simd.hpp"

BURLAB_BEGIN
namespace burlab::math {

/// sum over i <= rows, j <= columns of c[i][j] s^i t^j; what has a higher power is dropped.
struct Jet {
  static constexpr int kOrder = 4, kSide = kOrder + 1;
  int rows = 0, columns = 0;
  long double c[kSide][kSide] = {};

  Jet(long double value) { c[0][0] = value; }
  Jet(long double value, int r, int k) : rows(r), columns(k) { c[0][0] = value; }
};

/// value + s, for derivatives by s up to the order; where `second`, value + t.
inline Jet variable(long double value, int rows, int columns, bool second = false) {
  Jet x(value, rows, columns);
  if (second ? columns : rows) x.c[!second][second] = 1;
  return x;
}

inline long double value_of(long double x) { return x; }
inline long double value_of(const Jet& x) { return x.c[0][0]; }

/// The largest coefficient.
inline long double size_of(long double x) { return std::fabs(x); }
inline long double size_of(const Jet& x) {
  long double most = 0;
  for (int i = 0; i <= x.rows; ++i)
    for (int j = 0; j <= x.columns; ++j) most = std::fmax(most, std::fabs(x.c[i][j]));
  return most;
}

/// The derivative of order i by s and j by t.
inline long double derivative(const Jet& x, int i, int j) {
  return x.c[i][j] * std::tgamma(i + 1.0L) * std::tgamma(j + 1.0L);
}

inline Jet sum(const Jet& x, const Jet& y, long double factor) {
  Jet z(0, x.rows > y.rows ? x.rows : y.rows, x.columns > y.columns ? x.columns : y.columns);
  for (int i = 0; i <= z.rows; ++i)
    for (int j = 0; j <= z.columns; ++j) z.c[i][j] = x.c[i][j] + factor * y.c[i][j];
  return z;
}
inline Jet operator+(const Jet& x, const Jet& y) { return sum(x, y, 1); }
inline Jet operator-(const Jet& x, const Jet& y) { return sum(x, y, -1); }
inline Jet operator-(const Jet& x) { return sum(0, x, -1); }

inline Jet operator*(const Jet& x, const Jet& y) {
  Jet z(0, x.rows > y.rows ? x.rows : y.rows, x.columns > y.columns ? x.columns : y.columns);
  for (int i = 0; i <= x.rows; ++i)
    for (int j = 0; j <= x.columns; ++j)
      for (int k = 0; k <= y.rows && i + k <= z.rows; ++k)
        for (int l = 0; l <= y.columns && j + l <= z.columns; ++l) z.c[i + k][j + l] += x.c[i][j] * y.c[k][l];
  return z;
}

/// sum over k of series[k] (x - x0)^k, where x0 is the value of x: f(x) of any f with these Taylor coefficients there.
inline Jet compose(const Jet& x, const long double* series) {
  Jet rest = x, result(series[x.rows + x.columns], x.rows, x.columns);
  rest.c[0][0] = 0;
  for (int k = x.rows + x.columns; k-- > 0;) result = result * rest + series[k];
  return result;
}

inline Jet reciprocal(const Jet& x) {
  long double series[2 * Jet::kSide], v = 1 / value_of(x), term = v;
  for (long double& s : series) {
    s = term;
    term *= -v;
  }
  return compose(x, series);
}
inline Jet operator/(const Jet& x, const Jet& y) { return x * reciprocal(y); }

inline Jet exp(const Jet& x) {
  long double series[2 * Jet::kSide], term = std::exp(value_of(x));
  for (int k = 0; k < 2 * Jet::kSide; term /= ++k) series[k] = term;
  return compose(x, series);
}

/// log at x with the value given there, and the derivatives of log at x + shift.
inline Jet log_of(const Jet& x, long double value, long double shift) {
  long double series[2 * Jet::kSide], v = 1 / (value_of(x) + shift), term = v;
  series[0] = value;
  for (int k = 1; k < 2 * Jet::kSide; ++k, term *= -v) series[k] = term / k;
  return compose(x, series);
}
inline Jet log(const Jet& x) { return log_of(x, std::log(value_of(x)), 0); }
inline Jet log1p(const Jet& x) { return log_of(x, std::log1p(value_of(x)), 1); }

inline Jet& operator+=(Jet& x, const Jet& y) { return x = x + y; }
inline Jet& operator-=(Jet& x, const Jet& y) { return x = x - y; }
inline Jet& operator*=(Jet& x, const Jet& y) { return x = x * y; }

}  // namespace burlab::math
BURLAB_END
