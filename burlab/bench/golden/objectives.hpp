#pragma once
// Golden: values and gradients of GradBench's kinds as one would write them by hand, for the sizes of the bench; more
// in models.hpp and turns.hpp. Each takes the parameters and the data in the order of their names, and gives the value
// and the gradients.
#include <algorithm>
#include <cmath>

#include "../variants/loop.hpp"
#include "lanes.hpp"
#include "models.hpp"
#include "turns.hpp"

BURLAB_BEGIN
namespace burlab::bench {

/// log sum exp of 10,000 numbers, which are a multiple of the lanes. p: x. data: shift (1).
BURLAB_WIDE inline double lse(In p, In data, Out g) {
  using L = Lanes<double>;
  constexpr Int n = 10'000;
  const double *x = p[0], shift = data[0][0];
  double* out = g[0];
  L::Pack tops = L::Pack{} - 1e300, sum{};
  for (Int k = 0; k < n; k += L::W) {
    L::Pack at;
    std::memcpy(&at, x + k, sizeof(at));
    tops = at > tops ? at : tops;
  }
  const double most = L::most(tops);
  for (Int k = 0; k < n; k += L::W) {
    L::Pack e;
    std::memcpy(&e, x + k, sizeof(e));
    e -= most;
    L::exp(e);
    std::memcpy(out + k, &e, sizeof(e));
    sum += e;
  }
  const double total = L::sum(sum);
  BURLAB_LANES
  for (Int k = 0; k < n; ++k) out[k] *= 1 / total;
  return most + shift + std::log(total);
}

/// 1,000 points of 8 numbers and 10 centres. p: centres. data: x. Lanes run over the centres, filled up to 16.
BURLAB_WIDE inline double kmeans(In p, In data, Out g) {
  constexpr Int n = 1000, d = 8, k = 10, lanes = 16;
  double columns[d][lanes];
  for (Int j = 0; j < d; ++j)
    for (Int c = 0; c < lanes; ++c) columns[j][c] = c < k ? p[0][c * d + j] : 1e150;
  std::fill_n(g[0], k * d, 0.0);
  double total = 0;
  for (Int i = 0; i < n; ++i) {
    const double* x = data[0] + i * d;
    double away[lanes] = {};
    for (Int j = 0; j < d; ++j) {
      BURLAB_LANES
      for (Int c = 0; c < lanes; ++c) away[c] += (x[j] - columns[j][c]) * (x[j] - columns[j][c]);
    }
    const Int best = std::min_element(away, away + k) - away;
    total += away[best];
    double* share = g[0] + best * d;
    const double* centre = p[0] + best * d;
    BURLAB_LANES
    for (Int j = 0; j < d; ++j) share[j] -= 2 * (x[j] - centre[j]);
  }
  return total;
}

/// 20 Runge-Kutta steps of y_i' = x_i y_(i - 1), i < 10, and the way back. p: x. data: one, y.
inline double ode(In p, In, Out g) {
  constexpr Int n = 10, steps = 20;
  constexpr double h = 1.0 / steps, ahead[] = {h / 2, h / 2, h}, weight[] = {h / 6, h / 3, h / 3, h / 6};
  const double* x = p[0];
  double y[n] = {}, at[steps][4][n], back[n] = {};  // at: where the rates are taken
  for (Int t = 0; t < steps; ++t) {
    double next[n], rate[n];
    std::copy_n(y, n, next);
    for (Int s = 0; s < 4; ++s) {
      for (Int i = 0; i < n; ++i) at[t][s][i] = s == 0 ? y[i] : y[i] + ahead[s - 1] * rate[i];
      for (Int i = 0; i < n; ++i) rate[i] = x[i] * (i == 0 ? 1.0 : at[t][s][i - 1]);
      for (Int i = 0; i < n; ++i) next[i] += weight[s] * rate[i];
    }
    std::copy_n(next, n, y);
  }
  std::fill_n(g[0], n, 0.0);
  back[n - 1] = 1;
  for (Int t = steps; t-- > 0;) {
    double share[n] = {}, total[n];  // share: of where the next rate was taken
    std::copy_n(back, n, total);
    for (Int s = 4; s-- > 0;) {
      double rate[n];
      for (Int i = 0; i < n; ++i) rate[i] = weight[s] * back[i] + (s < 3 ? ahead[s] * share[i] : 0.0);
      for (Int i = 0; i < n; ++i) g[0][i] += rate[i] * (i == 0 ? 1.0 : at[t][s][i - 1]);
      for (Int i = 0; i < n; ++i) share[i] = i + 1 < n ? rate[i + 1] * x[i + 1] : 0.0;
      for (Int i = 0; i < n; ++i) total[i] += share[i];
    }
    std::copy_n(total, n, back);
  }
  return y[n - 1];
}

/// The determinant of a 12 x 12 matrix by elimination with pivots of columns; its gradient is det(A) inv(A)'. p: a.
/// data: shift.
inline double det(In p, In data, Out g) {
  constexpr Int n = 12;
  double a[n][2 * n];  // beside it the identity, which becomes the inverse
  for (Int i = 0; i < n; ++i)
    for (Int j = 0; j < 2 * n; ++j) a[i][j] = j < n ? p[0][i * n + j] + data[0][i * n + j] : double(j - n == i);
  double value = 1;
  for (Int c = 0; c < n; ++c) {
    Int pivot = c;
    for (Int i = c + 1; i < n; ++i)
      if (std::fabs(a[i][c]) > std::fabs(a[pivot][c])) pivot = i;
    if (pivot != c) {
      std::swap_ranges(a[c], a[c] + 2 * n, a[pivot]);
      value = -value;
    }
    value *= a[c][c];
    const double scale = 1 / a[c][c];
    for (Int j = 0; j < 2 * n; ++j) a[c][j] *= scale;
    for (Int i = 0; i < n; ++i) {
      if (i == c) continue;
      const double factor = a[i][c];
      BURLAB_LANES
      for (Int j = 0; j < 2 * n; ++j) a[i][j] -= factor * a[c][j];
    }
  }
  for (Int i = 0; i < n; ++i)
    for (Int j = 0; j < n; ++j) g[0][i * n + j] = value * a[j][n + i];
  return value;
}

/// 10 steps of a particle in the field of two charges of the plane, and the way back. p: charges, velocity. data: x.
inline double particle(In p, In data, Out g) {
  constexpr int steps = 10, charges = 2;
  constexpr double h = 0.1;
  double x[2] = {data[0][0], data[0][1]}, v[2] = {p[1][0], p[1][1]};
  double away[steps][charges][2], inverse[steps][charges];  // away: from a charge
  for (int t = 0; t < steps; ++t) {
    for (int c = 0; c < charges; ++c) {
      double* d = away[t][c];
      d[0] = x[0] - p[0][2 * c], d[1] = x[1] - p[0][2 * c + 1];
      inverse[t][c] = 1 / (d[0] * d[0] + d[1] * d[1]);
      const double force = inverse[t][c] * std::sqrt(inverse[t][c]);
      v[0] += h * force * d[0], v[1] += h * force * d[1];
    }
    x[0] += h * v[0], x[1] += h * v[1];
  }
  double back[2] = {2 * x[0], 2 * x[1]}, speed[2] = {};
  std::fill_n(g[0], 2 * charges, 0.0);
  for (int t = steps; t-- > 0;) {
    speed[0] += h * back[0], speed[1] += h * back[1];
    for (int c = 0; c < charges; ++c) {
      const double *d = away[t][c], i = inverse[t][c], force = h * i * std::sqrt(i);
      const double along = 3 * i * (d[0] * speed[0] + d[1] * speed[1]);
      for (int k = 0; k < 2; ++k) {
        const double share = force * (speed[k] - along * d[k]);
        back[k] += share, g[0][2 * c + k] -= share;
      }
    }
  }
  g[1][0] = speed[0], g[1][1] = speed[1];
  return x[0] * x[0] + x[1] * x[1];
}

/// 10 steps of gradient ascent by y, and the way back to x; coordinates do not mix. p: x. data: y.
inline double saddle(In p, In data, Out g) {
  constexpr int steps = 10;
  constexpr double step = 0.2;
  double value = 0;
  for (int i = 0; i < 2; ++i) {
    const double x = p[0][i];
    double y[steps + 1], s[steps + 1], c[steps + 1];
    y[0] = data[0][i];
    for (int t = 0; t <= steps; ++t) {
      s[t] = std::sin(x * y[t]), c[t] = std::cos(x * y[t]);
      if (t < steps) y[t + 1] = y[t] + step * (x * c[t] - 2 * y[t]);
    }
    value += x * x - y[steps] * y[steps] + s[steps];
    double back = x * c[steps] - 2 * y[steps], total = 2 * x + y[steps] * c[steps];
    for (int t = steps; t-- > 0;) {
      total += back * step * (c[t] - x * y[t] * s[t]);
      back *= 1 - step * (2 + x * x * s[t]);
    }
    g[0][i] = total;
  }
  return value;
}

}  // namespace burlab::bench
BURLAB_END
