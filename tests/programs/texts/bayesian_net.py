"""A network with a distribution over its weights: many nets at once, in one einsum."""

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad
from autograd.misc.optimizers import adam
from autograd.scipy.stats import norm

SIZES = [(1, 7), (7, 5), (5, 1)]
COUNT = sum((m + 1) * n for m, n in SIZES)


def layers(weights):
    nets = len(weights)
    for m, n in SIZES:
        yield weights[:, : m * n].reshape((nets, m, n)), weights[:, m * n : m * n + n].reshape((nets, 1, n))
        weights = weights[:, (m + 1) * n :]


def predict(weights, inputs):
    inputs = np.expand_dims(inputs, 0)
    for w, b in layers(weights):
        outputs = np.einsum("mnd,mdo->mno", inputs, w) + b if len(inputs) > 1 else inputs @ w + b
        inputs = np.where(outputs > 0, np.sin(outputs), np.exp(-(outputs**2)) - 1)
    return outputs


def main():
    rs = npr.RandomState(0)
    inputs = np.linspace(-2, 2, 10)[:, None]
    targets = np.cos(inputs) + 0.1 * rs.randn(10, 1)
    noise = rs.randn(2, 6, COUNT)

    def log_probability(weights):
        prior = -0.5 * np.sum(weights**2, axis=1) / 1.3
        return prior + np.sum(norm.logpdf(targets, predict(weights, inputs), 0.3), axis=(1, 2))

    def objective(params, t):
        mean, log_deviation = params[:COUNT], params[COUNT:]
        entropy = 0.5 * COUNT * (1.0 + np.log(2 * np.pi)) + np.sum(log_deviation)
        return -entropy - np.mean(log_probability(noise[t % 2] * np.exp(log_deviation) + mean))

    start = np.concatenate([0.3 * rs.randn(COUNT), -3 * np.ones(COUNT)])
    return [objective(start, 0), grad(objective)(start, 1), adam(grad(objective), start, step_size=0.1, num_iters=3)]
