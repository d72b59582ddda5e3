"""Regression by a Gaussian process: marginal likelihood, predictions, and where to look next."""

import autograd.numpy as np
import autograd.numpy.random as npr
import autograd.scipy.stats.multivariate_normal as mvn
from autograd import value_and_grad
from autograd.misc.optimizers import adam
from autograd.scipy.stats import norm


def covariance(params, x, z):
    scales = np.exp(params[1:])
    away = np.expand_dims(x / scales, 1) - np.expand_dims(z / scales, 0)
    return np.exp(params[0]) * np.exp(-0.5 * np.sum(away**2, axis=2))


def predict(params, x, y, new):
    mean, kernel, noise = params[0], params[2:], np.exp(params[1]) + 0.001
    across = covariance(kernel, x, new)
    own = covariance(kernel, x, x) + noise * np.eye(len(y))
    solved = np.linalg.solve(own, across).T
    return mean + np.dot(solved, y - mean), covariance(kernel, new, new) - np.dot(solved, across)


def main():
    rs = npr.RandomState(5)
    x, new = rs.rand(12, 2) * 4, rs.rand(5, 2) * 4
    y = np.sin(x[:, 0]) + 0.3 * x[:, 1]

    def objective(params, t=0):
        noise = np.exp(params[1]) + 0.001
        own = covariance(params[2:], x, x) + noise * np.eye(len(y))
        return -mvn.logpdf(y, params[0] * np.ones(len(y)), own)

    def improvement(point, params):
        mean, cov = predict(params, x, y, point[None, :])
        deviation = np.sqrt(np.diag(cov))
        z = (mean - np.max(y)) / deviation
        return np.sum((mean - np.max(y)) * norm.cdf(z) + deviation * norm.pdf(z))

    start = np.array([0.1, -1.0, 0.2, 0.3, 0.5])
    gradient = value_and_grad(objective)
    end = adam(lambda p, t: gradient(p)[1], start, step_size=0.05, num_iters=4)
    return [*gradient(start), end, *predict(start, x, y, new), *value_and_grad(improvement)(new[0], start)]
