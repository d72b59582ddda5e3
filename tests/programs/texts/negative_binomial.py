"""A negative binomial by maximum likelihood, with observed information."""

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad, hessian, jacobian
from autograd.scipy.special import expit, gammaln


def log_likelihood(theta, counts):
    r, p = np.exp(theta[0]), expit(theta[1])
    terms = gammaln(counts + r) - gammaln(r) - gammaln(counts + 1.0) + counts * np.log(p) + r * np.log1p(-p)
    return np.sum(terms)


def main():
    counts = 1.0 * npr.RandomState(0).negative_binomial(5, 0.4, size=60)
    theta = np.array([0.7, 0.2])
    for _ in range(4):
        theta = theta - np.linalg.solve(hessian(log_likelihood)(theta, counts), grad(log_likelihood)(theta, counts))
    return [theta, log_likelihood(theta, counts), jacobian(grad(log_likelihood))(theta, counts)]
