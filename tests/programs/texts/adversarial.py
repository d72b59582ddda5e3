"""A generator against a discriminator: the gradient of one sees the other, both at once."""

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad


def net(params, x):
    for w, b in params[:-1]:
        x = np.maximum(0, np.dot(x, w) + b)
    w, b = params[-1]
    return np.dot(x, w) + b


def main():
    rs = npr.RandomState(0)

    def made(*sizes):
        return [(rs.randn(m, n) * 0.4, rs.randn(n) * 0.4) for m, n in zip(sizes[:-1], sizes[1:])]

    generator, judge = made(4, 8, 2), made(2, 8, 1)
    real, noise, mix = rs.randn(20, 2) + np.array([0.5, 1.0]), rs.randn(20, 4), rs.rand(20, 1)

    def game(generator, judge):
        fake = net(generator, noise)
        between = mix * real + (1 - mix) * fake
        slope = grad(lambda x: np.sum(net(judge, x)))(between)
        penalty = np.mean((np.sqrt(np.sum(slope**2, axis=1) + 1e-12) - 1) ** 2)
        return np.mean(net(judge, real)) - np.mean(net(judge, fake)) - 10 * penalty

    for _ in range(2):
        down, up = grad(game, 0)(generator, judge), grad(game, 1)(generator, judge)
        generator = [(w - 0.1 * dw, b - 0.1 * db) for (w, b), (dw, db) in zip(generator, down)]
        judge = [(w + 0.1 * dw, b + 0.1 * db) for (w, b), (dw, db) in zip(judge, up)]
    return [game(generator, judge), down, up]
