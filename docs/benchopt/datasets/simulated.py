"""Random features with labels of a noisy plane."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """n_samples rows of n_features normal numbers; labels -1 and 1."""

    name = "Simulated"
    parameters = {"n_samples, n_features": [(500, 20)], "seed": [0]}

    def get_data(self):
        """Return features and labels."""
        rng = np.random.default_rng(self.seed)
        X = rng.normal(size=(self.n_samples, self.n_features))
        y = np.sign(X @ rng.normal(size=self.n_features) + rng.normal(size=self.n_samples))
        return {"X": X, "y": y}
