"""The valley of Rosenbrock 1960: gradient, Hessian, and a few steps of Newton's method on them."""

import autograd.numpy as np
from autograd import grad, hessian, hessian_vector_product, value_and_grad


def valley(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def main():
    x = np.array([-1.2, 1.0, 0.5, 1.7])
    value, slope = value_and_grad(valley)(x)
    path = []
    for _ in range(3):
        x = x - np.linalg.solve(hessian(valley)(x), grad(valley)(x))
        path.append(x)
    curved = hessian_vector_product(valley)(x, np.array([1.0, -2.0, 0.5, 0.0]))
    return [value, slope, path, curved]
