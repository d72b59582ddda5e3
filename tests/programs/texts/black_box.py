"""Black-box stochastic variational inference (Ranganath et al. 2014), by the reparameterized gradient."""

import autograd.numpy as np
import autograd.numpy.random as npr
import autograd.scipy.stats.multivariate_normal as mvn
from autograd import grad
from autograd.misc.optimizers import adam
from autograd.scipy.stats import norm


def log_density(x):
    mean, log_deviation = x[:, 0], x[:, 1]
    return norm.logpdf(log_deviation, 0, 1.35) + norm.logpdf(mean, 0, np.exp(log_deviation))


def inference(log_density, size, samples, noise):
    def objective(params, t):
        mean, log_deviation = params[:size], params[size:]
        points = noise[t % len(noise)] * np.exp(log_deviation) + mean
        gaussian = mvn.entropy(mean, np.diag(2 * log_deviation) * 0 + np.diag(np.exp(2 * log_deviation)))
        return -(gaussian + np.mean(log_density(points)))

    return objective, grad(objective)


def main():
    noise = npr.RandomState(0).randn(3, 50, 2)
    objective, gradient = inference(log_density, 2, 50, noise)
    start = np.array([-1.0, -1.0, -5.0, -5.0])
    end = adam(gradient, start, step_size=0.1, num_iters=6)
    return [objective(start, 0), gradient(start, 0), end, objective(end, 2)]
