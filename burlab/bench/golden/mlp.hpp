#pragma once
// Golden: one step of gradient descent of the character MLP as one would write it by hand, for any batch and width.
//
// Everything lies so that lanes run over hidden units: `hidden` is [inputs][H] and `output` [tokens][H], H a multiple
// of the lanes, tokens filled up to a multiple of 16. Hidden units that are only padding have zero weights, and so do
// their gradients.
#include <cmath>

#include "lanes.hpp"

BURLAB_BEGIN
namespace burlab::bench {

/// What a step reads and writes. tokens: (batch, context), targets: (batch,). scratch: x and dx (batch, wide), h and dz
/// (batch, stride), scores (batch, tokens), panel `wide` packs, at least 512; wide and stride are inputs and H plus a
/// pack, lest rows collide in caches.
template <class T>
struct Mlp {
  std::int64_t batch, context, embedding_width, width, tokens;
  T *embedding, *hidden, *hidden_bias, *output, *output_bias;
  T *x, *dx, *h, *dz, *scores, *panel;
  std::int64_t inputs() const { return context * embedding_width; }
  std::int64_t stride() const { return width + Lanes<T>::W; }
  std::int64_t wide() const { return inputs() + Lanes<T>::W; }
};

template <class T>
struct MlpStep : Mlp<T>, Lanes<T> {
  using typename Lanes<T>::Pack;
  using Lanes<T>::W, Lanes<T>::load, Lanes<T>::store, Lanes<T>::store_sums, Lanes<T>::exp;
  static constexpr std::int64_t depth = 256;
  std::int64_t padded() const { return (tokens + 15) / 16 * 16; }
  using Mlp<T>::batch, Mlp<T>::context, Mlp<T>::embedding_width, Mlp<T>::width, Mlp<T>::tokens;
  using Mlp<T>::x, Mlp<T>::dx, Mlp<T>::h, Mlp<T>::dz, Mlp<T>::scores;

  /// h += x hidden, for R rows and C packs of columns, `k` rows of `weights` with this step between them.
  template <int R, int C>
  BURLAB_INLINE void multiply(std::int64_t row, std::int64_t column, std::int64_t first, std::int64_t k,
                              const T* weights, std::int64_t step) const {
    BURLAB_FUSED
    const std::int64_t n = this->wide(), stride = this->stride();
    const T* a = x + row * n + first;
    T* to = h + row * stride + column;
    Pack c[R][C];
    BURLAB_UNROLL
    for (int i = 0; i < R; ++i) {
      BURLAB_UNROLL
      for (int j = 0; j < C; ++j) c[i][j] = load(to + i * stride + j * W);
    }
    for (std::int64_t d = 0; d < k; ++d) {
      Pack b[C];
      BURLAB_UNROLL
      for (int j = 0; j < C; ++j) b[j] = load(weights + d * step + j * W);
      BURLAB_UNROLL
      for (int i = 0; i < R; ++i) {
        const T s = a[i * n + d];
        BURLAB_UNROLL
        for (int j = 0; j < C; ++j) c[i][j] += s * b[j];
      }
    }
    BURLAB_UNROLL
    for (int i = 0; i < R; ++i) {
      BURLAB_UNROLL
      for (int j = 0; j < C; ++j) store(to + i * stride + j * W, c[i][j]);
    }
  }

  /// One sample: four rows of weights at a time, so that four sums wait for nobody.
  BURLAB_INLINE void multiply_one() const {
    BURLAB_FUSED
    const std::int64_t n = this->inputs();
    for (std::int64_t column = 0; column < width; column += W) {
      Pack c[8] = {};
      const T* b = this->hidden + column;
      for (std::int64_t d = 0; d < n; d += 8) {
        BURLAB_UNROLL
        for (int i = 0; i < 8; ++i) c[i] += x[d + i] * load(b + (d + i) * width);
      }
      store(h + column, load(h + column) + (((c[0] + c[1]) + (c[2] + c[3])) + ((c[4] + c[5]) + (c[6] + c[7]))));
    }
  }

  /// One sample of a wide layer: eight rows of weights stream by, and h stays in the first cache.
  BURLAB_INLINE void stream_one() const {
    BURLAB_FUSED
    const std::int64_t n = this->inputs();
    for (std::int64_t d = 0; d < n; d += 8) {
      const T* b = this->hidden + d * width;
      for (std::int64_t column = 0; column < width; column += W) {
        Pack c[2] = {load(h + column), Pack{}};
        BURLAB_UNROLL
        for (int i = 0; i < 8; ++i) c[i % 2] += x[d + i] * load(b + i * width + column);
        store(h + column, c[0] + c[1]);
      }
    }
  }

  template <int R, int C>
  BURLAB_NOINLINE void multiply_all() const {
    for (std::int64_t column = 0; column < width; column += C * W) {
      for (std::int64_t first = 0; first < this->inputs(); first += depth) {
        const T* weights = this->hidden + first * width + column;
        for (std::int64_t d = 0; d < depth; ++d) std::memcpy(this->panel + d * C * W, weights + d * width, C * 64);
        for (std::int64_t row = 0; row < batch; row += R) multiply<R, C>(row, column, first, depth, this->panel, C * W);
      }
    }
  }

  /// Call f(token, its columns in x, its columns in dx) for each place of each context.
  template <class F>
  BURLAB_INLINE void for_each_token(const std::int32_t* token, F f) const {
    for (std::int64_t row = 0; row < batch; ++row)
      for (std::int64_t i = 0; i < context; ++i) {
        const std::int64_t at = row * this->wide() + i * embedding_width;
        f(this->embedding + token[row * context + i] * embedding_width, x + at, dx + at);
      }
  }

  BURLAB_NOINLINE void gather(const std::int32_t* token) const {
    for_each_token(token, [&](const T* from, T* to, T*) {
      std::memcpy(to, from, sizeof(T) * static_cast<std::size_t>(embedding_width));
    });
    for (std::int64_t row = 0; row < batch; ++row)
      std::memcpy(h + row * this->stride(), this->hidden_bias, sizeof(T) * static_cast<std::size_t>(width));
  }

  BURLAB_NOINLINE void activate() const {
    for (std::int64_t row = 0; row < batch; ++row)
      for (std::int64_t i = 0; i < width; i += W) {
        T* p = h + row * this->stride() + i;
        Pack y = T(2) * load(p);
        exp(y);
        store(p, T(1) - T(2) / (y + T(1)));
      }
  }

  /// R rows of a against S rows of b, R S = 16, summed over the hidden units.
  template <int R, int S>
  BURLAB_INLINE void dots(const T* a, std::int64_t a_step, const T* b, std::int64_t b_step, T (&out)[R][S]) const {
    BURLAB_FUSED
    static_assert(R * S == 16);
    Pack c[16 / W][W] = {};
    for (std::int64_t i = 0; i < width; i += W) {
      BURLAB_UNROLL
      for (int r = 0; r < R; ++r) {
        const Pack v = load(a + r * a_step + i);
        BURLAB_UNROLL
        for (int s = 0; s < S; ++s) c[(r * S + s) / W][(r * S + s) % W] += v * load(b + s * b_step + i);
      }
    }
    BURLAB_UNROLL
    for (int k = 0; k < 16 / W; ++k) store_sums(&out[0][0] + k * W, c[k]);
  }

  /// The mean cross-entropy; `scores` become its derivatives.
  BURLAB_NOINLINE T judge(const std::int32_t* target) const {
    T total = 0;
    for (std::int64_t row = 0; row < batch; ++row) {
      T* z = scores + row * padded();
      T top = z[0], all = 0;
      for (std::int64_t t = 1; t < tokens; ++t) top = z[t] > top ? z[t] : top;
      const T wanted = z[target[row]];
      for (std::int64_t t = 0; t < padded(); t += W) {
        Pack y = load(z + t) - top;
        exp(y);
        store(z + t, y);
      }
      for (std::int64_t t = 0; t < tokens; ++t) all += z[t];
      total += std::log(all) + top - wanted;
      for (std::int64_t t = 0; t < tokens; ++t) z[t] /= all * T(batch);
      z[target[row]] -= T(1) / T(batch);
    }
    return total / T(batch);
  }

  template <int R>
  BURLAB_NOINLINE void score() const {
    constexpr int S = 16 / R;
    for (std::int64_t row = 0; row < batch; row += R)
      for (std::int64_t t = 0; t < padded(); t += S) {
        T out[R][S];
        dots<R, S>(h + row * this->stride(), this->stride(), this->output + t * width, width, out);
        for (int r = 0; r < R; ++r)
          for (int k = 0; k < S; ++k) scores[(row + r) * padded() + t + k] = out[r][k] + this->output_bias[t + k];
      }
  }

  /// dz = (dscores output) (1 - h^2), then the update of the layer of scores and of both biases.
  BURLAB_NOINLINE void back_through_scores(T lr) const {
    BURLAB_FUSED
    const std::int64_t stride = this->stride();
    for (std::int64_t i = 0; i < width; i += W) {
      Pack bias = {};
      for (std::int64_t row = 0; row < batch; ++row) {
        Pack g[3] = {};
        for (std::int64_t t = 0; t < tokens; t += 3) {
          BURLAB_UNROLL
          for (int s = 0; s < 3; ++s) g[s] += scores[row * padded() + t + s] * load(this->output + (t + s) * width + i);
        }
        const Pack y = load(h + row * stride + i), d = ((g[0] + g[1]) + g[2]) * (T(1) - y * y);
        store(dz + row * stride + i, d);
        bias += d;
      }
      store(this->hidden_bias + i, load(this->hidden_bias + i) - lr * bias);
      for (std::int64_t t = 0; t < tokens; t += 9) {
        Pack g[9] = {};
        for (std::int64_t row = 0; row < batch; ++row) {
          const Pack y = load(h + row * stride + i);
          BURLAB_UNROLL
          for (int s = 0; s < 9; ++s) g[s] += scores[row * padded() + t + s] * y;
        }
        BURLAB_UNROLL
        for (int s = 0; s < 9; ++s) {
          T* p = this->output + (t + s) * width + i;
          store(p, load(p) - lr * g[s]);
        }
      }
    }
    for (std::int64_t row = 0; row < batch; ++row)
      for (std::int64_t t = 0; t < tokens; ++t) this->output_bias[t] -= lr * scores[row * padded() + t];
  }

  /// dx = dz hidden^T, and hidden -= lr x^T dz, four rows of weights at a time while they are near.
  template <int C>
  BURLAB_NOINLINE void back_through_hidden(T lr) const {
    BURLAB_FUSED
    const std::int64_t n = this->inputs(), wide = this->wide(), stride = this->stride();
    for (std::int64_t k = 0; k < n; k += 4) {
      T* weights = this->hidden + k * width;
      for (std::int64_t row = 0; row < batch; row += 4) {
        T out[4][4];
        dots<4, 4>(dz + row * stride, stride, weights, width, out);
        for (int r = 0; r < 4; ++r) std::memcpy(dx + (row + r) * wide + k, out[r], sizeof out[r]);
      }
      for (std::int64_t i = 0; i < width; i += C * W) {
        Pack g[4][C] = {};
        for (std::int64_t row = 0; row < batch; ++row) {
          BURLAB_UNROLL
          for (int j = 0; j < C; ++j) {
            const Pack d = load(dz + row * stride + i + j * W);
            BURLAB_UNROLL
            for (int s = 0; s < 4; ++s) g[s][j] += x[row * wide + k + s] * d;
          }
        }
        BURLAB_UNROLL
        for (int s = 0; s < 4; ++s) {
          BURLAB_UNROLL
          for (int j = 0; j < C; ++j) {
            T* p = weights + s * width + i + j * W;
            store(p, load(p) - lr * g[s][j]);
          }
        }
      }
    }
  }

  /// The same for a layer of one pack: sums over so few units are faster with the weights transposed.
  BURLAB_NOINLINE void back_through_narrow(T lr) const {
    BURLAB_FUSED
    const std::int64_t n = this->inputs(), wide = this->wide(), stride = this->stride();
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t j = 0; j < W; ++j) this->panel[j * wide + k] = this->hidden[k * W + j];
    for (std::int64_t k = 0; k < n; k += 2 * W)
      for (std::int64_t row = 0; row < batch; row += 8) {
        Pack c[8][2] = {};
        for (std::int64_t j = 0; j < W; ++j) {
          const Pack b[2] = {load(this->panel + j * wide + k), load(this->panel + j * wide + k + W)};
          BURLAB_UNROLL
          for (int r = 0; r < 8; ++r) {
            const T d = dz[(row + r) * stride + j];
            c[r][0] += d * b[0];
            c[r][1] += d * b[1];
          }
        }
        BURLAB_UNROLL
        for (int r = 0; r < 8; ++r) {
          store(dx + (row + r) * wide + k, c[r][0]);
          store(dx + (row + r) * wide + k + W, c[r][1]);
        }
      }
    for (std::int64_t k = 0; k < n; k += 8) {
      Pack g[8] = {};
      for (std::int64_t row = 0; row < batch; ++row) {
        const Pack d = load(dz + row * stride);
        BURLAB_UNROLL
        for (int s = 0; s < 8; ++s) g[s] += x[row * wide + k + s] * d;
      }
      BURLAB_UNROLL
      for (int s = 0; s < 8; ++s) store(this->hidden + (k + s) * W, load(this->hidden + (k + s) * W) - lr * g[s]);
    }
  }

  /// The same for one sample, K rows of weights and C packs of columns at a time: each weight is touched once.
  template <int K, int C>
  BURLAB_NOINLINE void back_through_hidden_one(T lr) const {
    BURLAB_FUSED
    static_assert(K * C == 16);
    for (std::int64_t k = 0; k < this->inputs(); k += K) {
      T* weights = this->hidden + k * width;
      Pack c[16 / W][W] = {};
      for (std::int64_t i = 0; i < width; i += C * W) {
        BURLAB_UNROLL
        for (int j = 0; j < C; ++j) {
          const Pack d = load(dz + i + j * W), step = lr * d;
          BURLAB_UNROLL
          for (int s = 0; s < K; ++s) {
            T* p = weights + s * width + i + j * W;
            const Pack w = load(p);
            c[(j * K + s) / W][(j * K + s) % W] += d * w;
            store(p, w - x[k + s] * step);
          }
        }
      }
      T out[C][K];
      BURLAB_UNROLL
      for (int q = 0; q < 16 / W; ++q) store_sums(&out[0][0] + q * W, c[q]);
      for (int s = 0; s < K; ++s) dx[k + s] = C == 1 ? out[0][s] : out[0][s] + out[C - 1][s];
    }
  }

  BURLAB_NOINLINE void scatter(const std::int32_t* token, T lr) const {
    for_each_token(token, [&](T* to, const T*, const T* g) {
      BURLAB_FUSED
      for (std::int64_t j = 0; j < embedding_width; j += W) store(to + j, load(to + j) - lr * load(g + j));
    });
  }

  /// One step; the loss before it. tokens a multiple of 9, inputs of `depth`, batch 1 or a multiple of 8.
  T step(const std::int32_t* token, const std::int32_t* target, T lr) const {
    const bool one = batch % 8 != 0, wide = width % (4 * W) == 0;
    gather(token);
    if (one && wide) stream_one();
    else if (one) multiply_one();
    else if (wide) multiply_all<8, 2>();
    else multiply_all<8, 1>();
    activate();
    if (one) score<1>();
    else score<4>();
    const T loss = judge(target);
    back_through_scores(lr);
    if (one && wide) back_through_hidden_one<8, 2>(lr);
    else if (one) back_through_hidden_one<16, 1>(lr);
    else if (width == W) back_through_narrow(lr);
    else if (wide) back_through_hidden<4>(lr);
    else back_through_hidden<1>(lr);
    scatter(token, lr);
    return loss;
  }
};

}  // namespace burlab::bench
BURLAB_END
