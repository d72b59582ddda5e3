#pragma once
// Golden: bundle adjustment and a hand of bones, value and gradients, as one would write them by hand for the bench.
#include <algorithm>
#include <cmath>

#include "lanes.hpp"

BURLAB_BEGIN
namespace burlab::bench {

/// v turned about an axis: cos v + sin (axis x v) + (1 - cos) (axis . v) axis (Rodrigues).
struct Turn {
  double angle, sine, cosine, axis[3];

  BURLAB_INLINE explicit Turn(const double* r) {
    angle = std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    sine = std::sin(angle), cosine = std::cos(angle);
    for (int i = 0; i < 3; ++i) axis[i] = r[i] / angle;
  }
  BURLAB_INLINE static void cross(const double* x, const double* y, double* to) {
    for (int i = 0; i < 3; ++i) to[i] = x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3];
  }
  BURLAB_INLINE static double dot(const double* x, const double* y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }
  /// v turned; with sign -1 turned back.
  BURLAB_INLINE void apply(const double* v, double* to, double sign = 1) const {
    const double along = dot(axis, v) * (1 - cosine);
    cross(axis, v, to);
    for (int i = 0; i < 3; ++i) to[i] = cosine * v[i] + sign * sine * to[i] + along * axis[i];
  }
  /// Adds the gradient by r. by_angle, by_axis: those by the two that r is made of.
  BURLAB_INLINE void back(double by_angle, const double* by_axis, double* to) const {
    const double along = dot(axis, by_axis);
    for (int i = 0; i < 3; ++i) to[i] += axis[i] * by_angle + (by_axis[i] - along * axis[i]) / angle;
  }
};

/// Half the squared errors of 300 sights of 60 points by 8 cameras of 11 numbers (turn, place, focal length, centre,
/// distortion). p: cameras, points, weights. data: camera, image, point.
inline double ba(In p, In data, Out g) {
  BURLAB_FUSED
  constexpr Int cameras = 8, points = 60, count = 300;
  const Int *camera = reinterpret_cast<const Int*>(data[0]), *point = reinterpret_cast<const Int*>(data[2]);
  std::fill_n(g[0], cameras * 11, 0.0);
  std::fill_n(g[1], points * 3, 0.0);
  double value = 0;
  for (Int k = 0; k < count; ++k) {
    const double *c = p[0] + camera[k] * 11, *x = p[1] + point[k] * 3, w = p[2][k], *image = data[1] + 2 * k;
    const Turn turn(c);
    const double v[3] = {x[0] - c[3], x[1] - c[4], x[2] - c[5]};
    double seen[3], error[2];
    turn.apply(v, seen);
    const double inverse = 1 / seen[2], flat[2] = {seen[0] * inverse, seen[1] * inverse};
    const double square = flat[0] * flat[0] + flat[1] * flat[1], bend = 1 + square * (c[9] + c[10] * square);
    for (int i = 0; i < 2; ++i) error[i] = flat[i] * bend * c[6] + c[7 + i] - image[i];
    const double off = 1 - w * w, squares = error[0] * error[0] + error[1] * error[1];
    value += 0.5 * (w * w * squares + off * off);
    g[2][k] = w * squares - 2 * w * off;

    double *dc = g[0] + camera[k] * 11, *dx = g[1] + point[k] * 3;
    const double by[2] = {w * w * error[0], w * w * error[1]}, along = by[0] * flat[0] + by[1] * flat[1];
    const double by_bend = along * c[6], by_square = by_bend * (c[9] + 2 * c[10] * square);
    dc[6] += along * bend, dc[7] += by[0], dc[8] += by[1], dc[9] += by_bend * square;
    dc[10] += by_bend * square * square;
    double back[3] = {(by[0] * c[6] * bend + 2 * flat[0] * by_square) * inverse,
                      (by[1] * c[6] * bend + 2 * flat[1] * by_square) * inverse, 0};
    back[2] = -(back[0] * flat[0] + back[1] * flat[1]);
    double across[3], by_axis[3], by_v[3];
    Turn::cross(v, back, across);
    const double near = Turn::dot(turn.axis, v), far = Turn::dot(turn.axis, back), rest = 1 - turn.cosine;
    for (int i = 0; i < 3; ++i) by_axis[i] = turn.sine * across[i] + rest * (near * back[i] + far * v[i]);
    turn.back(turn.sine * (near * far - Turn::dot(back, v)) + turn.cosine * Turn::dot(turn.axis, across), by_axis, dc);
    turn.apply(back, by_v, -1);
    for (int i = 0; i < 3; ++i) dx[i] += by_v[i], dc[3 + i] -= by_v[i];
  }
  return value;
}

/// Half the squared distances of the skin (200 points) of 5 fingers of 3 bones to what was measured; lanes run over
/// the points. Each bone is a matrix. p: angles, shift. data: measured, offsets, skin, weights.
BURLAB_WIDE inline double hand(In p, In data, Out g) {
  BURLAB_FUSED
  using L = Lanes<double>;
  using Pack = L::Pack;
  constexpr Int fingers = 5, bones = 3, all = fingers * bones, n = 200;
  double matrix[all][3][3], value = 0;
  Pack sums[all][3][3] = {}, shift[3] = {};  // sums: the gradients by the matrices
  for (Int b = 0; b < all; ++b) {
    const Turn turn(p[0] + 3 * b);
    for (int j = 0; j < 3; ++j) {
      double unit[3] = {}, column[3];
      unit[j] = 1;
      turn.apply(unit, column);
      for (int i = 0; i < 3; ++i) matrix[b][i][j] = column[i];
    }
  }
  for (Int s = 0; s < n; s += L::W) {
    Pack skin[3], moved[3], at[all][3], back[3];  // at: before a bone has turned it, from the bone's start
    for (int i = 0; i < 3; ++i) {
      for (Int lane = 0; lane < L::W; ++lane) {
        skin[i][lane] = data[2][(s + lane) * 3 + i];
        moved[i][lane] = p[1][i] - data[0][(s + lane) * 3 + i];
      }
    }
    for (Int b = 0; b < all; ++b) {
      const double* offset = data[1] + 3 * b;
      Pack weight;
      std::memcpy(&weight, data[3] + b * n + s, sizeof(weight));
      if (b % bones == 0) std::memcpy(back, skin, sizeof(skin));
      for (int i = 0; i < 3; ++i) at[b][i] = back[i] - offset[i];
      for (int i = 0; i < 3; ++i) {
        back[i] = offset[i] + matrix[b][i][0] * at[b][0] + matrix[b][i][1] * at[b][1] + matrix[b][i][2] * at[b][2];
        moved[i] += weight * back[i];
      }
    }
    for (int i = 0; i < 3; ++i) shift[i] += moved[i];
    value += 0.5 * L::sum(moved[0] * moved[0] + moved[1] * moved[1] + moved[2] * moved[2]);
    for (Int b = all; b-- > 0;) {
      Pack weight;
      std::memcpy(&weight, data[3] + b * n + s, sizeof(weight));
      Pack next[3];
      for (int i = 0; i < 3; ++i) {
        back[i] = weight * moved[i] + (b % bones == bones - 1 ? Pack{} : back[i]);
        for (int j = 0; j < 3; ++j) sums[b][i][j] += back[i] * at[b][j];
      }
      for (int j = 0; j < 3; ++j)
        next[j] = matrix[b][0][j] * back[0] + matrix[b][1][j] * back[1] + matrix[b][2][j] * back[2];
      std::memcpy(back, next, sizeof(next));
    }
  }
  std::fill_n(g[0], all * 3, 0.0);
  for (Int b = 0; b < all; ++b) {
    const Turn turn(p[0] + 3 * b);
    double m[3][3], by_axis[3], across[3], middle[3];  // middle: (m + m') axis
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) m[i][j] = L::sum(sums[b][i][j]);
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      across[i] = m[k][j] - m[j][k];
      middle[i] = 0;
      for (int l = 0; l < 3; ++l) middle[i] += (m[i][l] + m[l][i]) * turn.axis[l];
      by_axis[i] = turn.sine * across[i] + (1 - turn.cosine) * middle[i];
    }
    const double trace = m[0][0] + m[1][1] + m[2][2];
    turn.back(turn.sine * (0.5 * Turn::dot(turn.axis, middle) - trace) + turn.cosine * Turn::dot(turn.axis, across),
              by_axis, g[0] + 3 * b);
  }
  for (int i = 0; i < 3; ++i) g[1][i] = L::sum(shift[i]);
  return value;
}

}  // namespace burlab::bench
BURLAB_END
