"""Logistic regression, by gradient steps."""

import autograd.numpy as np
from autograd import grad, jacobian

inputs = np.array([[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30], [0.74, -2.49, 1.39]])
targets = np.array([True, True, False, True])


def probability(weights):
    return 0.5 * (np.tanh(np.dot(inputs, weights) / 2) + 1)


def loss(weights):
    p = probability(weights)
    return -np.sum(np.log(p * targets + (1 - p) * (1 - targets)))


def main():
    weights, slope = np.array([0.0, 0.1, 0.0]), grad(loss)
    for _ in range(20):
        weights = weights - 0.1 * slope(weights)
    return [weights, loss(weights), slope(weights), jacobian(probability)(weights)]
