"""A classifier of three layers as a list of pairs of weights and biases, trained by Adam."""

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad
from autograd.misc.flatten import flatten
from autograd.misc.optimizers import adam
from autograd.scipy.special import logsumexp


def initial(scale, sizes, rs):
    return [(scale * rs.randn(m, n), scale * rs.randn(n)) for m, n in zip(sizes[:-1], sizes[1:])]


def predict(params, inputs):
    for w, b in params:
        outputs = np.dot(inputs, w) + b
        inputs = np.tanh(outputs)
    return outputs - logsumexp(outputs, axis=1, keepdims=True)


def log_posterior(params, inputs, targets, precision):
    flat, _ = flatten(params)
    return -precision * np.dot(flat, flat) + np.sum(predict(params, inputs) * targets)


def main():
    rs = npr.RandomState(0)
    inputs, labels = rs.randn(24, 6), rs.randint(3, size=24)
    targets = np.array(labels[:, None] == np.arange(3)[None, :], dtype=float)

    def objective(params, t):
        batch = slice(8 * (t % 3), 8 * (t % 3) + 8)
        return -log_posterior(params, inputs[batch], targets[batch], 0.1)

    params = initial(0.3, [6, 10, 8, 3], rs)
    trained = adam(grad(objective), params, step_size=0.01, num_iters=7)
    return [objective(params, 0), grad(objective)(params, 1), trained]
