"""An LSTM over one-hot characters, with forget gate; the state starts from learned values."""

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import value_and_grad
from autograd.misc.optimizers import adam
from autograd.scipy.special import logsumexp

TEXT = "hello gradients; hello again"
LETTERS = sorted(set(TEXT))


def sigmoid(x):
    return 0.5 * (np.tanh(x / 2.0) + 1.0)


def joined(weights, *parts):
    return np.dot(np.hstack((*parts, np.ones((parts[0].shape[0], 1)))), weights)


def initial(size, state, rs):
    def matrix(m, n):
        return rs.randn(m, n) * 0.4

    gates = {name: matrix(size + state + 1, state) for name in ("change", "forget", "ingate", "outgate")}
    return {"cell": matrix(1, state), "hidden": matrix(1, state), "predict": matrix(state + 1, size), **gates}


def outputs(params, inputs):
    count = inputs.shape[1]
    hidden, cell = (np.repeat(params[name], count, axis=0) for name in ("hidden", "cell"))
    rows = []
    for x in inputs:
        keep, write, show = (sigmoid(joined(params[k], x, hidden)) for k in ("forget", "ingate", "outgate"))
        cell = keep * cell + write * np.tanh(joined(params["change"], x, hidden))
        hidden = show * np.tanh(cell)
        scores = joined(params["predict"], hidden)
        rows.append(scores - logsumexp(scores, axis=1, keepdims=True))
    return rows


def loss(params, inputs, targets):
    total = 0.0
    rows = outputs(params, inputs)
    for t in range(len(rows)):
        total = total - np.sum(rows[t] * targets[t])
    return total / (len(rows) * inputs.shape[1])


def one_hot(text):
    return np.array([[1.0 * (a == b) for b in LETTERS] for a in text])


def main():
    sequence = np.transpose(np.reshape(one_hot(TEXT), (4, 7, len(LETTERS))), (1, 0, 2))
    params = initial(len(LETTERS), 5, npr.RandomState(1))

    def both(params):
        return loss(params, sequence[:-1], sequence[1:])

    gradient = value_and_grad(both)
    trained = adam(lambda params, t: gradient(params)[1], params, step_size=0.1, num_iters=4)
    return [*gradient(params), both(trained)]
