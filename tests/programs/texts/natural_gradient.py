"""Black-box inference where each step is scaled by the inverse Fisher matrix of a diagonal Gaussian."""

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad, make_jvp, make_vjp
from autograd.misc.optimizers import sgd


def banana(x):
    return -0.5 * (x[:, 0] ** 2 / 4 + 25.0 * (x[:, 1] + 0.1 * x[:, 0] ** 2 - 1) ** 2)


def main():
    noise = npr.RandomState(0).randn(40, 2)

    def sample(params):
        return params[:2] + np.exp(params[2:]) * noise

    def objective(params, t):
        return -np.sum(params[2:]) - np.mean(banana(sample(params)))

    def fisher(params):
        return np.concatenate([np.exp(-2 * params[2:]), 2 * np.ones(2)])

    def natural(params, t):
        return grad(objective)(params, t) / fisher(params)

    start = np.array([0.5, -0.4, -1.0, -2.0])
    end = sgd(natural, start, num_iters=5, step_size=0.01)
    pull, points = make_vjp(sample)(start)
    _, moved = make_jvp(sample)(start)(np.array([1.0, 0.0, -1.0, 2.0]))
    return [objective(start, 0), natural(start, 0), end, pull(noise**2), points, moved]
