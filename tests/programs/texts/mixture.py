"""A mixture of Gaussians with full covariances by factors, its gradient and products with its Hessian."""

import autograd.numpy as np
import autograd.numpy.random as npr
import autograd.scipy.stats.multivariate_normal as mvn
from autograd import grad, hessian_vector_product
from autograd.misc import flatten
from autograd.scipy.special import logsumexp


def log_likelihood(params, data):
    terms = []
    weights = params["log weights"] - logsumexp(params["log weights"])
    for weight, mean, factor in zip(weights, params["means"], params["factors"]):
        terms.append(weight + mvn.logpdf(data, mean, np.dot(factor.T, factor)))
    return np.sum(logsumexp(np.vstack(terms), axis=0))


def main():
    rs = npr.RandomState(0)
    data = np.concatenate([rs.randn(10, 2) + np.array([3.0 * k, -k]) for k in range(3)])
    params = {
        "log weights": 0.3 * rs.randn(3),
        "means": 0.7 * rs.randn(3, 2),
        "factors": np.array([[[1.3, 0.2], [-0.1, 0.9]]] * 3) + 0.1 * rs.randn(3, 2, 2),
    }
    start, unflatten = flatten(params)

    def objective(vector):
        return -log_likelihood(unflatten(vector), data)

    return [objective(start), grad(objective)(start), hessian_vector_product(objective)(start, rs.randn(len(start)))]
