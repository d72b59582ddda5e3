"""Optimizers with stochastic estimates of curvature, or with preconditioners of matrices."""
