"""A Gaussian process on the outputs of another (Damianou and Lawrence 2013), trained by its likelihood."""

import autograd.numpy as np
import autograd.numpy.random as npr
import autograd.scipy.stats.multivariate_normal as mvn
from autograd import value_and_grad


def covariance(scale, length, x, z):
    away = np.expand_dims(x / np.exp(length), 1) - np.expand_dims(z / np.exp(length), 0)
    return np.exp(scale) * np.exp(-0.5 * np.sum(away**2, axis=2))


def layer(params, x):
    """Mean and covariance at x, from a few inducing points that are parameters."""
    own = covariance(params["scale"], params["length"], params["at"], params["at"]) + 1e-3 * np.eye(len(params["at"]))
    across = covariance(params["scale"], params["length"], params["at"], x)
    solved = np.linalg.solve(own, across).T
    return np.dot(solved, params["values"]), np.dot(solved, across)


def main():
    rs = npr.RandomState(2)
    x = np.linspace(-3, 3, 9)[:, None]
    y = np.where(x[:, 0] > 0, 1.0, -1.0) + 0.05 * rs.randn(9)
    noise = rs.randn(9)
    params = [
        {"scale": 0.1, "length": np.array([0.3]), "at": np.linspace(-2, 2, 4)[:, None], "values": rs.randn(4)}
        for _ in range(2)
    ]

    def objective(params):
        mean, cov = layer(params[0], x)
        hidden = mean + np.dot(np.linalg.cholesky(cov + 0.05 * np.eye(9)), noise)
        mean, cov = layer(params[1], hidden[:, None])
        return -mvn.logpdf(y, mean, cov + 0.1 * np.eye(9))

    return [*value_and_grad(objective)(params)]
