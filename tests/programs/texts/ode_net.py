"""A differential equation whose right-hand side is a network (Chen et al. 2018), by Runge-Kutta steps."""

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad, jacobian, value_and_grad
from autograd.misc.optimizers import rmsprop


def net(params, inputs):
    for k, (w, b) in enumerate(params):
        inputs = np.dot(inputs, w) + b
        if k < len(params) - 1:
            inputs = np.tanh(inputs)
    return inputs


def integrate(f, y, times):
    states = [y]
    for t, u in zip(times[:-1], times[1:]):
        h = u - t
        k1 = f(y, t)
        k2 = f(y + h / 2 * k1, t + h / 2)
        k3 = f(y + h / 2 * k2, t + h / 2)
        k4 = f(y + h * k3, u)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(y)
    return np.stack(states)


def main():
    times = np.linspace(0.0, 2.5, 12)
    spiral = np.array([[-0.1, 2.0], [-2.0, -0.1]])
    start = np.array([2.0, 0.0])
    truth = integrate(lambda y, t: np.dot(y**3, spiral), start, times)
    rs = npr.RandomState(3)
    params = [(0.1 * rs.randn(2, 9), 0.1 * rs.randn(9)), (0.1 * rs.randn(9, 2), 0.1 * rs.randn(2))]

    def loss(params, t):
        path = integrate(lambda y, _: net(params, y**3), start, times)
        return np.mean(np.abs(path - truth))

    value, slope = value_and_grad(loss)(params, 0)
    trained = rmsprop(grad(loss), params, step_size=0.01, num_iters=3)
    moved = jacobian(lambda y: integrate(lambda z, t: np.dot(z**3, spiral), y, times)[-1])(start)
    return [truth, value, slope, trained, moved]
