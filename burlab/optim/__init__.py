"""Optimizers as their papers write them: an update rule in NumPy, traced and compiled into the step loop."""

from .adam import Adam
from .gradient_descent import GD
from .momentum import Momentum
from .optimizer import Hyper, Optimizer

__all__ = ["GD", "Adam", "Hyper", "Momentum", "Optimizer"]
