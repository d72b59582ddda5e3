"""Wrappers that change the steps inside whatever their fields are: no setting of them does nothing."""

from burlab.optim import GD, Adam, forward_gradient, mechanic, zeroth_order

ADAPTIVE = [
    mechanic(Adam(0.5)),
    mechanic(GD(1.0), decay=0.1, eps=1e-3, first=1e-3, betas=3),
    zeroth_order(Adam(0.01)),
    forward_gradient(GD(0.01)),
]
