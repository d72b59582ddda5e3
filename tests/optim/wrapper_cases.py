"""Wrappers that change the steps inside whatever their fields are: no setting of them does nothing."""

from burlab.optim import (
    GD,
    Adam,
    forward_gradient,
    gluster,
    hybrid_zeroth_order,
    mechanic,
    sparse_zeroth_order,
    zeroth_order,
)

ADAPTIVE = [
    mechanic(Adam(0.5)),
    mechanic(GD(1.0), decay=0.1, eps=1e-3, first=1e-3, betas=3),
    zeroth_order(Adam(0.01)),
    forward_gradient(GD(0.01)),
    sparse_zeroth_order(GD(0.01), density=0.5),
    hybrid_zeroth_order(GD(0.01)),
    gluster(Adam(0.01), clusters=3, every=6),
]
