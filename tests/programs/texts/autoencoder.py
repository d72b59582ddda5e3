"""A variational autoencoder on bits (Kingma and Welling 2014)."""

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad
from autograd.misc.optimizers import adam


def net(params, x):
    for w, b in params[:-1]:
        x = np.tanh(np.dot(x, w) + b)
    w, b = params[-1]
    return np.dot(x, w) + b


def main():
    rs = npr.RandomState(0)
    bits = rs.rand(16, 12) > 0.6
    noise = rs.randn(16, 3)

    def made(*sizes):
        return [(0.3 * rs.randn(m, n), 0.3 * rs.randn(n)) for m, n in zip(sizes[:-1], sizes[1:])]

    params = {"encoder": made(12, 9, 6), "decoder": made(3, 9, 12)}

    def objective(params, t):
        code = net(params["encoder"], 1.0 * bits)
        mean, log_deviation = code[:, :3], code[:, 3:]
        z = mean + np.exp(log_deviation) * noise
        logits = net(params["decoder"], z)
        likelihood = -np.sum(np.logaddexp(0, np.where(bits, -1.0, 1.0) * logits), axis=-1)
        divergence = 0.5 * np.sum(mean**2 + np.exp(2 * log_deviation) - 1 - 2 * log_deviation, axis=-1)
        return -np.mean(likelihood - divergence)

    return [objective(params, 0), grad(objective)(params, 0), adam(grad(objective), params, num_iters=3)]
