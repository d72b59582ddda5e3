#pragma once
// Golden: a mixture of Gaussians and an LSTM, value and gradients, as one would write them by hand for the bench.
#include <algorithm>
#include <cmath>

#include "lanes.hpp"

BURLAB_BEGIN
namespace burlab::bench {

/// What 200 samples add up to for one of 10 Gaussians of 8 coordinates: weights w, and w u and w u z' (below).
struct Moments {
  using Pack = Lanes<double>::Pack;
  Pack weight, first[8], second[36];  // second: the lower triangle, row by row
};

/// The log-likelihood of 200 samples under 10 Gaussians of 8 coordinates, with its prior. Lanes run over samples.
/// p: alphas, logs, lower, means. data: places, x. z = x - mean, u = (diag(exp(logs)) + lower) z.
BURLAB_WIDE inline double gmm(In p, In data, Out g) {
  BURLAB_FUSED
  using L = Lanes<double>;
  using Pack = L::Pack;
  constexpr Int n = 200, k = 10, d = 8, half = d * (d - 1) / 2;
  const double *alphas = p[0], *logs = p[1], *means = p[3];
  double factor[k][d][d], start[k], most = alphas[0], sum = 0, value = 0;
  for (Int c = 0; c < k; ++c) {
    start[c] = alphas[c], most = std::max(most, alphas[c]);
    for (Int i = 0; i < d; ++i) {
      for (Int j = 0; j < i; ++j) {
        factor[c][i][j] = p[2][c * half + i * (i - 1) / 2 + j];
        value += 0.5 * factor[c][i][j] * factor[c][i][j];
      }
      factor[c][i][i] = std::exp(logs[c * d + i]);
      value += 0.5 * factor[c][i][i] * factor[c][i][i] - logs[c * d + i];
      start[c] += logs[c * d + i];
    }
  }
  for (Int c = 0; c < k; ++c) sum += std::exp(alphas[c] - most);
  value -= n * (most + std::log(sum));
  Moments moments[k] = {};
  for (Int s = 0; s < n; s += L::W) {
    Pack x[d], z[k][d], u[k][d], term[k], top = Pack{} - 1e300, total{};
    for (Int j = 0; j < d; ++j)
      for (Int lane = 0; lane < L::W; ++lane) x[j][lane] = data[1][(s + lane) * d + j];
    for (Int c = 0; c < k; ++c) {
      Pack square{};
      for (Int i = 0; i < d; ++i) {
        z[c][i] = x[i] - means[c * d + i];
        u[c][i] = factor[c][i][0] * z[c][0];
        for (Int j = 1; j <= i; ++j) u[c][i] += factor[c][i][j] * z[c][j];
        square += u[c][i] * u[c][i];
      }
      term[c] = start[c] - 0.5 * square;
      top = term[c] > top ? term[c] : top;
    }
    for (Int c = 0; c < k; ++c) {
      term[c] -= top;
      L::exp(term[c]);
      total += term[c];
    }
    for (Int lane = 0; lane < L::W; ++lane) value += top[lane] + std::log(total[lane]);
    for (Int c = 0; c < k; ++c) {
      Moments& m = moments[c];
      const Pack weight = term[c] / total;
      m.weight += weight;
      for (Int i = 0; i < d; ++i) {
        const Pack share = weight * u[c][i];
        m.first[i] += share;
        for (Int j = 0; j <= i; ++j) m.second[i * (i + 1) / 2 + j] += share * z[c][j];
      }
    }
  }
  for (Int c = 0; c < k; ++c) {
    const double weight = L::sum(moments[c].weight);
    g[0][c] = weight - n * std::exp(alphas[c] - most) / sum;
    for (Int i = 0; i < d; ++i) {
      const double scale = factor[c][i][i], first = L::sum(moments[c].first[i]);
      g[1][c * d + i] = weight - scale * L::sum(moments[c].second[i * (i + 3) / 2]) + scale * scale - 1;
      g[3][c * d + i] = scale * first;
      for (Int j = 0; j < i; ++j) {
        g[2][c * half + i * (i - 1) / 2 + j] = factor[c][i][j] - L::sum(moments[c].second[i * (i + 1) / 2 + j]);
        g[3][c * d + j] += factor[c][i][j] * first;
      }
    }
  }
  return value;
}

/// What the way back through a layer of the LSTM needs of one step: `input` and `hidden` come in, `memory` as well.
struct LstmStep {
  using Pack = Lanes<double>::Pack;
  Pack input, hidden, memory, forget, write, show, change, bent;
};

/// v becomes 1 / (1 + exp(-v)).
BURLAB_INLINE void logistic(Lanes<double>::Pack& v) {
  v = -v;
  Lanes<double>::exp(v);
  v = 1 / (1 + v);
}

/// v becomes tanh(v).
BURLAB_INLINE void bend(Lanes<double>::Pack& v) {
  v *= 2;
  logistic(v);
  v = 2 * v - 1;
}

/// The mean log-likelihood of 12 letters of 14 under two layers. Numbers of one place do not meet those of others but
/// in the softmax, so lanes run over places, filled up to 16. p: bias, biases, out, scale, weights. data: state, x.
BURLAB_WIDE inline double lstm(In p, In data, Out g) {
  BURLAB_FUSED
  using L = Lanes<double>;
  using Pack = L::Pack;
  constexpr Int width = 14, layers = 2, steps = 11, packs = 2;
  const auto get = [](Pack(&to)[packs], const double* from, double rest = 0) {
    for (Int j = 0; j < packs * L::W; ++j) to[j / L::W][j % L::W] = j < width ? from[j] : rest;
  };
  const auto put = [](double* to, const Pack(&from)[packs]) {
    for (Int j = 0; j < width; ++j) to[j] = from[j / L::W][j % L::W];
  };
  Pack bias[packs], out[packs], scale[packs], w[layers][4][packs], b[layers][4][packs];
  Pack hidden[layers][packs], memory[layers][packs], letter[steps + 1][packs], last[steps][packs], fault[steps][packs];
  LstmStep kept[steps][layers][packs];
  get(bias, p[0], -1e300), get(out, p[2]), get(scale, p[3]);
  for (Int t = 0; t <= steps; ++t) get(letter[t], data[1] + t * width);
  for (Int k = 0; k < layers; ++k) {
    get(hidden[k], data[0] + k * width), get(memory[k], data[0] + k * width);
    for (Int j = 0; j < 4; ++j) get(w[k][j], p[4] + (4 * k + j) * width), get(b[k][j], p[1] + (4 * k + j) * width);
  }
  double total = 0;
  for (Int t = 0; t < steps; ++t) {
    Pack y[packs], most = Pack{} - 1e300, sum{}, seen{}, hit{};
    for (Int h = 0; h < packs; ++h) {
      Pack x = letter[t][h] * scale[h];
      for (Int k = 0; k < layers; ++k) {
        LstmStep& s = kept[t][k][h];
        s.input = x, s.hidden = hidden[k][h], s.memory = memory[k][h];
        s.forget = x * w[k][0][h] + b[k][0][h], logistic(s.forget);
        s.write = s.hidden * w[k][1][h] + b[k][1][h], logistic(s.write);
        s.show = x * w[k][2][h] + b[k][2][h], logistic(s.show);
        s.change = s.hidden * w[k][3][h] + b[k][3][h], bend(s.change);
        memory[k][h] = s.memory * s.forget + s.write * s.change;
        s.bent = memory[k][h], bend(s.bent);
        x = hidden[k][h] = s.show * s.bent;
      }
      last[t][h] = x;
      y[h] = x * out[h] + bias[h];
      most = y[h] > most ? y[h] : most;
    }
    const double top = L::most(most);
    for (Int h = 0; h < packs; ++h) {
      seen += letter[t + 1][h];
      hit += letter[t + 1][h] * (y[h] - top);
      fault[t][h] = y[h] - top, L::exp(fault[t][h]);
      sum += fault[t][h];
    }
    const double all = L::sum(sum), count = L::sum(seen);
    total += L::sum(hit) - count * std::log(all);
    for (Int h = 0; h < packs; ++h) fault[t][h] = (letter[t + 1][h] - fault[t][h] * (count / all)) / (steps * width);
  }
  Pack d_bias[packs] = {}, d_out[packs] = {}, d_scale[packs] = {}, d_w[layers][4][packs] = {},
       d_b[layers][4][packs] = {};
  Pack d_hidden[layers][packs] = {}, d_memory[layers][packs] = {};
  for (Int t = steps; t-- > 0;) {
    for (Int h = 0; h < packs; ++h) {
      d_bias[h] += fault[t][h], d_out[h] += fault[t][h] * last[t][h];
      Pack back = fault[t][h] * out[h];
      for (Int k = layers; k-- > 0;) {
        const LstmStep& s = kept[t][k][h];
        back += d_hidden[k][h];
        const Pack cell = d_memory[k][h] + back * s.show * (1 - s.bent * s.bent);
        const Pack gate[4] = {cell * s.memory * s.forget * (1 - s.forget), cell * s.change * s.write * (1 - s.write),
                              back * s.bent * s.show * (1 - s.show), cell * s.write * (1 - s.change * s.change)};
        for (Int j = 0; j < 4; ++j) {
          d_b[k][j][h] += gate[j];
          d_w[k][j][h] += gate[j] * (j % 2 == 0 ? s.input : s.hidden);
        }
        d_memory[k][h] = cell * s.forget;
        d_hidden[k][h] = gate[1] * w[k][1][h] + gate[3] * w[k][3][h];
        back = gate[0] * w[k][0][h] + gate[2] * w[k][2][h];
      }
      d_scale[h] += back * letter[t][h];
    }
  }
  put(g[0], d_bias), put(g[2], d_out), put(g[3], d_scale);
  for (Int k = 0; k < layers; ++k)
    for (Int j = 0; j < 4; ++j) put(g[1] + (4 * k + j) * width, d_b[k][j]), put(g[4] + (4 * k + j) * width, d_w[k][j]);
  return total / steps / width;
}

}  // namespace burlab::bench
BURLAB_END
