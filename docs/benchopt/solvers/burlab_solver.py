"""Optimizers of burlab as a solver of benchopt: for this benchmark, and for `benchmark_logreg_l2`."""

import numpy as np
from benchopt import BaseSolver

import burlab as bl

# Steps for a problem with the constants L, mu and L_i; batch: samples of a step, None for all.
RULES = {
    "GD": lambda f: (bl.optim.GD(1 / f.smoothness), None),
    "LBFGS": lambda _: (bl.optim.LBFGS(), None),
    "NewtonCG": lambda _: (bl.optim.NewtonCG(), None),
    "SAGA": lambda f: (bl.optim.SAGA(1 / (3 * f.sample_smoothness.max())), 1),
    "SVRG": lambda f: (bl.optim.SVRG(1 / (6 * f.sample_smoothness.max()), every=2 * len(f)), 1),
}


class Solver(BaseSolver):
    """An optimizer of burlab. One iteration of benchopt is a step, or a pass through the data for SAGA and SVRG."""

    name = "burlab"
    requirements = ["pip::burlab"]
    parameters = {"optimizer": list(RULES)}
    sampling_strategy = "iteration"
    references = ["Burlachenko and Richtárik 2025, BurTorch, arXiv:2503.13795"]

    def skip(self, X, y, lmbd, fit_intercept=False):
        """Return True, with the reason, for an objective that is not this sum."""
        return fit_intercept, "there is no intercept"

    def set_objective(self, X, y, lmbd, fit_intercept=False):
        """Build the problem, and open a run, which compiles its kernels: that is no part of the measured time."""
        self.problem = bl.problems.logistic_regression(X, y, l2=lmbd / len(y))  # f is the objective / n
        rule, batch = RULES[self.optimizer](self.problem)
        self.steps = 1 if batch is None else len(self.problem) // batch
        self.start = np.zeros(X.shape[1])
        self.opened = bl.minimize(self.problem, self.start, rule, batch=batch)
        self.opened.step(1)

    def run(self, n_iter):
        """Do so many iterations from the start."""
        self.opened.restart(self.start)
        self.opened.step(n_iter * self.steps)

    def get_result(self):
        """Return the last point."""
        return {"beta": self.opened.x}
