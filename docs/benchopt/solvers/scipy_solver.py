"""SciPy's L-BFGS-B, for comparison."""

import numpy as np
from benchopt import BaseSolver
from scipy.optimize import minimize
from scipy.special import expit


class Solver(BaseSolver):
    """L-BFGS-B with gradients in NumPy."""

    name = "scipy"
    requirements = ["pip::scipy"]
    sampling_strategy = "iteration"

    def set_objective(self, X, y, lmbd):
        """Take features, labels and the weight of the ridge."""
        self.X, self.y, self.lmbd = X, y, lmbd

    def run(self, n_iter):
        """Do so many iterations from zero."""

        def value_and_grad(w):
            margins = self.y * (self.X @ w)
            value = np.sum(np.logaddexp(0.0, -margins)) + 0.5 * self.lmbd * np.sum(w**2)
            return value, self.X.T @ (-self.y * expit(-margins)) + self.lmbd * w

        w = np.zeros(self.X.shape[1])
        if n_iter:
            options = {"maxiter": n_iter, "gtol": 1e-12, "ftol": 0.0}
            w = minimize(value_and_grad, w, jac=True, method="L-BFGS-B", options=options).x
        self.w = w

    def get_result(self):
        """Return the last point."""
        return {"beta": self.w}
