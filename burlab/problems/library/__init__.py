"""Problems of the literature to try optimizers on: test functions with known minima, quadratics, regressions."""
