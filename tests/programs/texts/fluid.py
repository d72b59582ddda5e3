"""Smoke in a periodic box: stable fluids (Stam 1999), differentiated by the first velocities."""

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import value_and_grad
from autograd.misc.optimizers import sgd

SIZE = 8


def project(vx, vy):
    h = 1.0 / SIZE
    divergence = -0.5 * h * (np.roll(vx, -1, axis=0) - np.roll(vx, 1, axis=0)
                             + np.roll(vy, -1, axis=1) - np.roll(vy, 1, axis=1))  # fmt: skip
    p = np.zeros((SIZE, SIZE))
    for _ in range(6):
        around = np.roll(p, 1, axis=0) + np.roll(p, -1, axis=0) + np.roll(p, 1, axis=1) + np.roll(p, -1, axis=1)
        p = (divergence + around) / 4.0
    vx = vx - 0.5 * (np.roll(p, -1, axis=0) - np.roll(p, 1, axis=0)) / h
    return vx, vy - 0.5 * (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1)) / h


def advect(f, vx, vy):
    rows, columns = f.shape
    ys, xs = np.meshgrid(np.arange(rows), np.arange(columns))
    x = (xs - vx).ravel()
    y = (ys - vy).ravel()
    left, top = np.floor(x), np.floor(y)
    wx, wy = x - left, y - top
    left, top = left.astype(int), top.astype(int)
    right, bottom = np.mod(left + 1, rows), np.mod(top + 1, columns)
    left, top = np.mod(left, rows), np.mod(top, columns)
    rise = wx * ((1 - wy) * f[right, top] + wy * f[right, bottom])
    stay = (1 - wx) * ((1 - wy) * f[left, top] + wy * f[left, bottom])
    return np.reshape(rise + stay, (rows, columns))


def simulate(vx, vy, smoke, steps):
    for _ in range(steps):
        wx, wy = advect(vx, vx, vy), advect(vy, vx, vy)
        vx, vy = project(wx, wy)
        smoke = advect(smoke, vx, vy)
    return smoke


def main():
    rs = npr.RandomState(0)
    smoke, target = rs.rand(SIZE, SIZE), rs.rand(SIZE, SIZE)
    start = 0.6 * rs.randn(2, SIZE, SIZE)

    def distance(v, smoke):
        return np.mean((target - simulate(v[0], v[1], smoke, 4)) ** 2)

    value, slope = value_and_grad(distance)(start, smoke)
    end = sgd(lambda v, t: value_and_grad(distance)(v, smoke)[1], start, num_iters=2)
    return [value, slope, distance(end, smoke)]
