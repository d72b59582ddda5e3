"""The sine by its series in a Python loop, differentiated twice."""

import autograd.numpy as np
from autograd import elementwise_grad, grad


def sine(x):
    total = term = x
    for k in range(1, 12):
        term = -term * x**2 / ((2 * k) * (2 * k + 1))
        total = total + term
    return total


def main():
    x = np.linspace(-2, 2, 9)
    slope = elementwise_grad(sine)
    return [sine(x), slope(x), elementwise_grad(slope)(x), grad(sine)(0.7), grad(grad(sine))(0.7)]
