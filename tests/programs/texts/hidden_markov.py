"""The forward algorithm of a hidden Markov chain; its gradient gives the expected counts."""

import autograd.numpy.random as npr
from autograd import grad
from autograd.scipy.special import logsumexp


def normalized(x):
    return x - logsumexp(x, axis=-1, keepdims=True)


def log_likelihood(params, observed):
    first, move, emit = (normalized(p) for p in params)
    alpha = first + emit[:, observed[0]]
    for o in observed[1:]:
        alpha = logsumexp(alpha[:, None] + move, axis=0) + emit[:, o]
    return logsumexp(alpha)


def main():
    rs = npr.RandomState(7)
    params = (rs.randn(4), rs.randn(4, 4), rs.randn(4, 6))
    observed = rs.randint(6, size=20)
    return [log_likelihood(params, observed), grad(log_likelihood)(params, observed)]
