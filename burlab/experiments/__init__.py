"""Many runs of a problem: sweeps, races, branches, performance profiles, and a search for a learning rate."""

from .branch_tree import Branch, Branches, branches
from .races import Race, race
from .rates import LearningRates, find_lr
from .search_space import Between
from .solver_profile import PerformanceProfile, performance_profile
from .standings import Lead, Standing
from .sweeps import Sweep, SweepRow, sweep

__all__ = [
    "Between",
    "Branch",
    "Branches",
    "Lead",
    "LearningRates",
    "PerformanceProfile",
    "Race",
    "Standing",
    "Sweep",
    "SweepRow",
    "branches",
    "find_lr",
    "performance_profile",
    "race",
    "sweep",
]
