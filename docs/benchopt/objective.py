"""Logistic regression with a ridge, as `benchmark_logreg_l2` of benchopt states it."""

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    """sum_i log(1 + exp(-y_i x_i^T beta)) + lmbd / 2 |beta|^2 for labels -1 and 1."""

    name = "L2 Logistic Regression"
    url = "https://github.com/benchopt/benchmark_logreg_l2"
    min_benchopt_version = "1.6"
    parameters = {"lmbd": [1.0]}

    def set_data(self, X, y):
        """Take what a data set gives: X, shape (n, d), and labels y, shape (n,)."""
        self.X, self.y = X, y

    def get_one_result(self):
        """Return a point, for benchopt's own tests."""
        return {"beta": np.zeros(self.X.shape[1])}

    def evaluate_result(self, beta):
        """Return the value at a point."""
        losses = np.logaddexp(0.0, -self.y * (self.X @ beta))
        return {"value": np.sum(losses) + 0.5 * self.lmbd * np.sum(beta**2)}

    def get_objective(self):
        """Return what a solver gets."""
        return {"X": self.X, "y": self.y, "lmbd": self.lmbd}
