"""Gradient descent on estimates of the gradient: of less variance, of values alone, of one direction."""
