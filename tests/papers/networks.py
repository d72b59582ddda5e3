"""A network of linear layers with relu, its loss and gradient in NumPy: the reference of pages on sparse networks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Arrays = list[np.ndarray[Any, Any]]


def parameters(net: Any) -> tuple[Arrays, Arrays]:
    """The weights and the biases of a `bl.nn.MLP`."""
    return [np.array(layer.weight) for layer in net.layers], [np.array(layer.bias) for layer in net.layers]


def logits(weights: Sequence[Any], biases: Sequence[Any], x: Any) -> Any:
    """The output for rows x."""
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        x = np.maximum(x @ w + b, 0)
    return x @ weights[-1] + biases[-1]


def cross_entropy(weights: Sequence[Any], biases: Sequence[Any], x: Any, labels: Any) -> float:
    """The mean loss of rows x."""
    z = logits(weights, biases, x)
    z = z - z.max(axis=1, keepdims=True)
    return float(np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(z)), labels]))


def gradients(weights: Sequence[Any], biases: Sequence[Any], x: Any, labels: Any) -> tuple[Arrays, Arrays]:
    """Of the mean cross entropy of rows x, by weights and by biases."""
    inputs = [x]
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        inputs.append(np.maximum(inputs[-1] @ w + b, 0))
    z = inputs[-1] @ weights[-1] + biases[-1]
    shares = np.exp(z - z.max(axis=1, keepdims=True))
    back = shares / shares.sum(axis=1, keepdims=True)
    back[np.arange(len(x)), labels] -= 1
    back /= len(x)
    of_weights, of_biases = list[Any](), list[Any]()
    for k in reversed(range(len(weights))):
        of_weights.insert(0, inputs[k].T @ back)
        of_biases.insert(0, back.sum(axis=0))
        back = (back @ weights[k].T) * (inputs[k] > 0)
    return of_weights, of_biases
