"""Rules of matrices and vectors in plain NumPy, one leaf and one step after the other, as their papers write them.

Each takes the state of a leaf that it keeps itself: `rule(k, g, x, t)` is the step from leaf k, of gradient g.
"""

from collections import defaultdict

import numpy as np
from scipy import linalg

import burlab as bl

# LAPACK's have other signs, on which moments depend that are kept in one basis when the next one comes. That they are
# singular vectors is tested where they are made.
singular_vectors = bl.jit(lambda a: tuple(np.linalg.svd(a, full_matrices=False))[::2])


def adam(lr=1.0, b1=0.9, b2=0.999, eps=1e-8):
    moments = defaultdict(lambda: [0.0, 0.0])

    def rule(k, g, x, t):
        m, v = moments[k]
        moments[k] = m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        return lr * (m / (1 - b1 ** (t + 1))) / (np.sqrt(v / (1 - b2 ** (t + 1))) + eps)

    return rule


def muon(lr, mu, weight_decay, iterations, b1, b2, eps):
    rest, means = adam(lr, b1, b2, eps), defaultdict(float)

    def rule(k, g, x, t):
        if g.ndim != 2:
            return rest(k, g, x, t)
        means[k] = mu * means[k] + (1 - mu) * g
        y = mu * means[k] / (1 - mu ** (t + 2)) + (1 - mu) * g / (1 - mu ** (t + 1))
        u, s, vt = np.linalg.svd(y, full_matrices=False)
        s = s / (np.linalg.norm(s) + eps)
        for _ in range(iterations):  # the iteration acts on singular values alone
            s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
        return lr * (np.sqrt(max(1, g.shape[1] / g.shape[0])) * (u * s) @ vt + weight_decay * x)

    return rule


def shampoo(lr, eps, every):
    sides, roots, sums = {}, {}, defaultdict(lambda: eps)

    def rule(k, g, x, t):
        if g.ndim != 2:
            sums[k] = sums[k] + g**2
            return lr * g / np.sqrt(sums[k])
        left, right = sides.get(k, [eps * np.eye(n) for n in g.shape])
        sides[k] = left, right = left + g @ g.T, right + g.T @ g
        if t % every == 0:
            roots[k] = [linalg.fractional_matrix_power(a, -0.25).real for a in (left, right)]
        return lr * roots[k][0] @ g @ roots[k][1]

    return rule


def soap(lr, b1, b2, b3, eps, every):
    rest, kept = adam(lr, b1, b2, eps), {}

    def rule(k, g, x, t):
        if g.ndim != 2:
            return rest(k, g, x, t)
        left, right, p, q, m, v = kept.get(k, [0.0] * 6)
        left, right = b3 * left + (1 - b3) * g @ g.T, b3 * right + (1 - b3) * g.T @ g
        if t == 0:
            kept[k] = left, right, np.linalg.eigh(left)[1][:, ::-1], np.linalg.eigh(right)[1][:, ::-1], 0.0, 0.0
            return 0 * x
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * (p.T @ g @ q) ** 2
        step = p @ (p.T @ m @ q / (1 - b1**t) / (np.sqrt(v / (1 - b2**t)) + eps)) @ q.T
        if t % every == 0:
            down, across = np.argsort(-np.diag(p.T @ left @ p)), np.argsort(-np.diag(q.T @ right @ q))
            p, q, v = np.linalg.qr(left @ p[:, down])[0], np.linalg.qr(right @ q[:, across])[0], v[down][:, across]
        kept[k] = left, right, p, q, m, v
        return lr * step

    return rule


def galore(lr, scale, rank, every, side, damping=None, history=0, **adams):
    rest, inside, bases, past = adam(lr, **adams), adam(1.0, **adams), {}, defaultdict(list)

    def rule(k, g, x, t):
        if g.ndim != 2:
            return rest(k, g, x, t)
        right = (g.shape[0] >= g.shape[1]) == (side == "short")
        if t % every == 0:
            u, vt = singular_vectors(g)
            bases[k] = vt[:rank].T if right else u[:, :rank]
        r = g @ bases[k] if right else bases[k].T @ g
        if damping is not None:
            past[k] = [*past[k], r.ravel()][-history:] if history else []
            fisher = damping * np.eye(r.size) + sum((np.outer(c, c) for c in past[k]), np.zeros((r.size, r.size)))
            r = np.linalg.solve(fisher, r.ravel()).reshape(r.shape)
        n = inside(k, r, x, t)
        return lr * scale * (n @ bases[k].T if right else bases[k] @ n)

    return rule


def apollo(lr, scale, every, mini, draw, **adams):
    """draw(k, t): the projection of leaf k."""
    rest, inside, lengths, drawn = adam(lr, **adams), adam(1.0, **adams), {}, {}
    b1, b2 = adams["b1"], adams["b2"]

    def rule(k, g, x, t):
        if g.ndim != 2:
            return rest(k, g, x, t)
        if t % every == 0:
            drawn[k] = draw(k, t)
        tall = g.shape[0] >= g.shape[1]
        r = g @ drawn[k].T if tall else drawn[k] @ g
        correction = np.sqrt(1 - b2 ** (t + 1)) / (1 - b1 ** (t + 1))
        moved = inside(k, r, x, t) / correction
        axis = None if mini else int(tall)
        factors = np.linalg.norm(moved, axis=axis) / (np.linalg.norm(r, axis=axis) + 1e-8)
        step = g * (factors[:, None] if tall and not mini else factors)
        length = np.linalg.norm(step)
        limit = max(length / (lengths[k] + 1e-8), 1.01) / 1.01 if t else 1.0
        lengths[k] = length / limit
        return lr * correction * np.sqrt(scale) * step / limit

    return rule
