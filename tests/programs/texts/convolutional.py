"""Convolution, maxima over squares, and a layer of softmax; the weights are one vector."""

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad
from autograd.scipy.signal import convolve
from autograd.scipy.special import logsumexp


class Parser:
    def __init__(self):
        self.places, self.size = {}, 0

    def add(self, name, shape):
        first = self.size
        self.size += int(np.prod(np.array(shape)))
        self.places[name] = (slice(first, self.size), shape)

    def get(self, vector, name):
        place, shape = self.places[name]
        return np.reshape(vector[place], shape)


def maxima(x, side):
    n, c, h, w = x.shape
    return np.max(np.max(np.reshape(x, (n, c, h // side, side, w // side, side)), axis=3), axis=4)


def build():
    parser = Parser()
    for name, shape in {"kernel": (2, 3, 3, 3), "shift": (1, 3, 1, 1), "w": (3 * 9, 4), "b": (4,)}.items():
        parser.add(name, shape)

    def loss(vector, images, targets):
        kernel = parser.get(vector, "kernel")
        maps = convolve(images, kernel, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid")
        x = maxima(np.tanh(maps + parser.get(vector, "shift")), 2)
        scores = np.dot(np.reshape(x, (x.shape[0], -1)), parser.get(vector, "w")) + parser.get(vector, "b")
        log_p = scores - logsumexp(scores, axis=1, keepdims=True)
        return 0.1 * np.dot(vector, vector) - np.sum(log_p * targets)

    return parser.size, loss


def main():
    rs = npr.RandomState(4)
    size, loss = build()
    images, targets = rs.randn(5, 2, 8, 8), np.eye(4)[rs.randint(4, size=5)]
    vector = 0.3 * rs.randn(size)
    full = convolve(images[0, 0], images[1, 1, :3, :2])
    smoothed = grad(lambda k: np.sum(convolve(images[0, 0], k) ** 2))(images[1, 1, :3, :2])
    return [loss(vector, images, targets), grad(loss)(vector, images, targets), full, smoothed]
